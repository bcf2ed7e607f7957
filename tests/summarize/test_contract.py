"""What every summarizer promises."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.model.memory import Json
from memcli.model.names import check_path, slug
from memcli.model.shapes import RELEVANCES
from memcli.summarize import SUMMARIZERS
from tests.conftest import slow_but

FILLED = {"kind", "path", "tags", "summary_micro", "summary_short", "summary_long", "relevance"}
LIMITS = {"summary_micro": 160, "summary_short": 400, "summary_long": 1200}
VALUES: Mapping[str, Json] = {
    "kind": "decision", "path": "a/b", "tags": ("x",), "summary_micro": "m", "summary_short": "s", "summary_long": "l",
    "relevance": "low", "chunks": [{"chunk_id": "#0", "text": "x"}],
}  # fmt: skip
ODD = {
    "nothing": "", "blank": " \n\t ", "punctuation": "...!!! --- ???", "one word": "x" * 1_000_000,
    "dots": "." * 1_000_000, "brackets": "[" * 1_000_000, "quotes": "> " * 500_000, "comments": "<!--" * 250_000,
    "stars": "*a " * 300_000, "lines": "line of text\n" * 100_000, "blank lines": "\n" * 100_000 + "x",
    "bullets": "- item one\n" * 100_000, "headings": "# a\n" * 200_000, "settings": "a=b\n" * 200_000,
    "code": "def f(x):\n    return x\n" * 40_000,
    "patch": "diff --git a/a b/a\n@@ -1 +1 @@ def f():\n" + "+x = 1\n-y = 2\n" * 60_000, "chinese": "数据库设计" * 200_000,
    "emoji": "👩‍💻" * 100_000, "right to left": "שלום עולם " * 100_000,
    "control characters": "a\x01b\x1b[31m\x7f\x85" * 50_000, "lone surrogate": "broken \ud800 text",
    "marks": "e\u0301\u0327" * 1000,
}  # fmt: skip
PATHS = (
    *("a/b", "a/", "/", "//", "..", "../../x", "con", "con/", "-x", "." * 400, " ", "a\nb", "a\x00b", "é" * 300),
    "\ud800",
)


ALL = list(SUMMARIZERS.values())
LOCAL = SUMMARIZERS["local"]


def check(found: Mapping[str, object]) -> None:
    assert isinstance(found["kind"], str)
    assert found["kind"]
    path = found["path"]
    assert isinstance(path, str)
    assert check_path(path) == path
    tags = found["tags"]
    assert isinstance(tags, tuple)
    assert len(tags) <= 5
    assert len(set(tags)) == len(tags)
    assert all(tag and tag == slug(tag) for tag in tags)
    for name, limit in LIMITS.items():
        text = found[name]
        assert isinstance(text, str)
        assert len(text) <= limit
    assert found["relevance"] in RELEVANCES


@given(
    st.text(max_size=400),
    st.sampled_from(["", "note: ", "# T\n\n", "- a\n- ", "diff --git a/b b/b\n", "KEY=", "def f():\n"]),
)
def test_any_text_is_described(text: str, before: str) -> None:
    for describe in ALL:
        found = describe({"raw": before + text})
        assert found.keys() == FILLED
        check(found)
        assert found == describe({"raw": before + text})
        "".join(str(value) for value in found.values()).encode()


@given(st.text(max_size=300), st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_any_hint_gives_a_valid_path(hint: str, source: str, project: str, kind: str) -> None:
    fields = {"path_hint": hint, "metadata": {"source": source}, "project": project, "kind": kind}
    check_paths(fields)


def check_paths(fields: Mapping[str, object]) -> None:
    for describe in ALL:
        path = describe({"raw": "Redis is down.", **fields})["path"]
        assert isinstance(path, str)
        assert check_path(path) == path


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    )
)
def test_any_content_is_described(content: Json) -> None:
    for describe in ALL:
        check(describe({"content": content}))


@pytest.mark.parametrize("size", slow_but((20_000,), [20_000, 1_000_000]))
def test_odd_text_is_described(size: int) -> None:
    for name, text in ODD.items():
        for describe in ALL:
            check(describe({"raw": text[:size]}))
        for kind in ("code", "diff", "config", "log", "guide", "procedure", "nonsense", "!"):
            found = LOCAL({"raw": text[: size // 10], "kind": kind})
            assert "kind" not in found, name
            check({**found, "kind": kind})


def test_an_odd_hint_gives_a_valid_path() -> None:
    for hint in PATHS:
        for fields in ({"path_hint": hint}, {"project": hint}, {"metadata": {"source": hint}}, {"kind": hint}):
            check_paths(fields)


def test_what_is_given_is_not_filled() -> None:
    for describe in ALL:
        for name in FILLED:
            assert describe({"raw": "We chose Redis.", name: VALUES[name]}).keys() == FILLED - {name}
        assert describe({"raw": "We chose Redis. " * 200, **VALUES}) == {}
        # null and an empty text are missing, empty tags are not
        found = describe({"raw": "We chose Redis.", "kind": None, "path": "", "tags": ()})
        assert found.keys() == FILLED - {"tags"}


def test_the_fields_are_not_changed_and_wrong_types_are_as_good_as_missing() -> None:
    fields = {"raw": "We chose Redis.", "metadata": {"source": "a.md"}, "content": {"a": [1]}}
    for describe in ALL:
        describe(fields)
        assert fields == {"raw": "We chose Redis.", "metadata": {"source": "a.md"}, "content": {"a": [1]}}
        check(describe({"raw": 5, "path_hint": [], "metadata": "x", "project": 1}))
        check(describe({"raw": "a", "metadata": {"source": 5}}))


def test_short_text_is_its_own_summary() -> None:
    for describe in ALL:
        found = describe({"raw": "  Tokens  expire\nafter an hour. "})
        assert {found[name] for name in LIMITS} == {"Tokens expire after an hour."}


def test_off_guesses_nothing() -> None:
    found = SUMMARIZERS["off"]({"raw": "We decided: never use Redis! " * 100})
    assert (found["kind"], found["tags"], found["relevance"]) == ("fact", (), "medium")
    assert found["path"] == "facts/decided-use-redis-decided-use-redis"
    assert str(found["summary_micro"]).startswith("We decided: never use Redis! We")
    assert "chunks" not in found


def test_long_text_is_chunked_and_short_text_is_not() -> None:
    assert "chunks" not in LOCAL({"raw": "word " * 190})
    raw = "A sentence about tokens. " * 100
    chunks = LOCAL({"raw": raw})["chunks"]
    assert isinstance(chunks, list)
    assert [chunk["chunk_id"] for chunk in chunks] == [f"#{n}" for n in range(len(chunks))]
    assert " ".join(chunk["text"] for chunk in chunks) == raw.strip()
    assert "chunks" not in LOCAL({"content": {"text": raw}})
