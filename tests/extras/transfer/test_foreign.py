"""The readers of other tools' files: pure functions that tell everything, and take anything."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.memory import checked_fields
from memcli.errors import MemcliError
from memcli.extras.transfer.decisions import is_decision
from memcli.extras.transfer.foreign import READERS, ForeignSource, detect
from memcli.ingest.markdown import parts, split_front_matter
from memcli.model.names import check_path
from memcli.summarize.summarizers import describe_plainly
from tests.ingest.conftest import CASES


def read(files: dict[str, str], form: str = "auto") -> dict[str, dict[str, Any]]:
    """What a source makes of these files, by path."""
    skipped: Counter[str] = Counter()
    source = ForeignSource([(name, text.encode()) for name, text in files.items()], form, skipped, strict=False)
    return {str(fields["path"]): dict(fields) for fields in source.candidates()}


@pytest.mark.parametrize("has_libyaml", [True, False])
def test_front_matter_is_read_or_left(has_libyaml: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_libyaml:
        monkeypatch.delattr("yaml.CSafeLoader", raising=False)
    for text, fields in FRONT_MATTER:
        whole = f"---\n{text}\n---\n\nBody.\n" if text else "---\n---\nBody.\n"
        assert split_front_matter(whole) == (fields, whole if fields is None else "Body.\n"), text[:80]


FRONT_MATTER: list[tuple[str, dict[Any, object] | None]] = [
    *CASES["front_matter"],
    ("a: " + "x" * 3_000, {"a": "x" * 3_000}),
    *((f"a: {strange}", None) for strange in ("[" * 60_000, "x" * 66_000)),
]


def test_aliases_in_front_matter_are_not_expanded() -> None:
    lists = "".join(f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n" for below, name in pairwise("abcdefghijkl"))
    text = f"---\na: &a [x, x, x]\n{lists}---\nBody.\n"
    tracemalloc.start()
    try:
        assert split_front_matter(text) == (None, text)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_what_only_looks_like_front_matter_is_text() -> None:
    for text in ("--- \ntext without an end", "----\na: b\n---\n", " ---\na: b\n---\n", "a: b", ""):
        assert split_front_matter(text) == ({}, text)


def test_headings_make_sections() -> None:
    text = "before\n# A #\none\n```\n# no\n```\n### C\n\n## B ##x\n#no\n    # no\n#\n~~~~\n# x\n~~~\n# y\n~~~~\n# Z"
    assert [(part.headings, len(part.lines)) for part in parts(text)] == [
        ((), 1), (("A",), 4), (("A", "C"), 1), (("A", "B ##x"), 2), (("",), 5), (("Z",), 0),
    ]  # fmt: skip


def test_files_are_known_by_name_and_content() -> None:
    files = [*map(tuple, CASES["forms"]), ("x.json", "[" * 100_000, "")]
    found = [(where, data, detect(where, data.encode())) for where, data, _ in files]
    assert found == files


def test_instructions_become_one_memory_a_bullet() -> None:
    text = (
        "---\nglobs: src/**\n---\n# Rules\n\nAlways:\n\n* Test\n  - and lint\n\n  more\n+ [ ] Commit\n\nThe rest.\n\n"
        "## 日本\n\n- 日本語\n- ✨\n\n## Twice\n\n- Same\n- Same\n- Same!\n"
    )
    found = read({"docs/CLAUDE.md": text})
    assert {path: fields["raw"] for path, fields in found.items()} == {
        "docs/claude/rules": "The rest.",
        "docs/claude/rules/always-test": "Always: Test\n- and lint\n\nmore",
        "docs/claude/rules/always-commit": "Always: Commit",
        "docs/claude/rules/日本/日本語": "日本語",
        "docs/claude/rules/日本/c0cc70": "✨",
        "docs/claude/rules/twice/same": "Same",
        "docs/claude/rules/twice/same-67b878": "Same!",
    }
    assert found["docs/claude/rules/always-test"]["metadata"]["heading"] == "Rules"


def decision(status: str, title: str = "X") -> str:
    return f"# {title}\n\n## Status\n\n{status}\n\n## Decision\n\nSo be it.\n"


def test_the_standing_of_a_decision() -> None:
    for status, active, successor in CASES["standings"]:
        found = read({"adr/1-a.md": decision(status), "adr/2-b.md": decision("Accepted")})
        old, links = found["adr/1-a"], found["adr/2-b"].get("links", [])
        assert (old.get("active"), old.get("superseded_by")) == (active, successor), status
        assert links == ([{"to": "adr/1-a", "relation": "supersedes"}] if successor else [])


def test_decisions_that_supersede_each_other_stay() -> None:
    found = read({
        "1-a.md": decision("Superseded by ADR-2"), "2-b.md": decision("Superseded by ADR-3"),
        "3-c.md": decision("Superseded by ADR-1"), "4-d.md": decision("Superseded by ADR-1"),
    })  # fmt: skip
    assert [fields.get("superseded_by") for fields in found.values()] == [None, "3-c", "1-a", "1-a"]


def test_numbers_count_within_a_folder() -> None:
    found = read({
        "a/1-x.md": decision("Superseded by ADR-2"), "a/2-y.md": decision("Accepted"),
        "b/1-x.md": decision("Superseded by ADR-2"), "b/2-y.md": decision("Accepted"), "b/2-z.md": decision("Accepted"),
    })  # fmt: skip
    assert found["a/1-x"]["superseded_by"] == "a/2-y"
    assert found["b/1-x"]["active"] is False  # there are two of that number


def test_what_madr_says() -> None:
    text = (
        "# ADR 12: Use X\n\n- **Status**: accepted\n- Date: 2024-05-06\n- Deciders: Ann\n\n"
        "## Context and Problem Statement\n\n## Decision Outcome\n\nX.\n"
    )
    (found,) = read({"docs/use-x.md": text}).values()
    assert found["created_at"] == "2024-05-06T00:00:00Z"
    assert found["metadata"] == {
        "source": "docs/use-x.md", "title": "ADR 12: Use X", "number": "12", "status": "accepted", "deciders": "Ann",
    }  # fmt: skip


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def test_entities_told_twice_are_one() -> None:
    entity = {"type": "entity", "name": "A", "entityType": "x y", "observations": ["1"]}
    text = lines(
        {"type": "relation", "from": "A", "to": "B", "relationType": "requires"},
        entity, {**entity, "observations": ["1", "2"]}, {**entity, "name": "B"},
        {"type": "relation", "from": "A", "to": "A", "relationType": "is"},
        {"type": "relation", "from": "C", "to": "A", "relationType": "is"},
    )  # fmt: skip
    found = read({"m.jsonl": text})
    assert found["entities/A"]["raw"] == "A (x y)\n- 1\n- 2\n- A requires B\n- A is A"
    assert found["entities/A"]["links"] == [{"to": "entities/B", "relation": "depends_on"}]
    assert found["entities/A"]["tags"] == ["x-y"]


def test_a_damaged_line_is_named() -> None:
    for line in [*CASES["damaged_lines"], '{"a":' * 5000]:
        with pytest.raises(MemcliError, match="m: line 2"):
            list(READERS["mcp"](b"\n" + line.encode() + b"\n", "m"))


def check(candidates: Iterable[Any]) -> None:
    """What comes out of a reader can go into a store."""
    for fields in candidates:
        kept = {name: value for name, value in fields.items() if name not in ("names", "links", "superseded_by")}
        assert checked_fields(kept)
        assert check_path(fields["path"]) == fields["path"]
        assert fields["raw"].strip()
        describe_plainly(kept)


markdown = st.lists(
    st.sampled_from([
        "---", "a: b", "tags: [x, y]", "created: 2024-01-01", "# ", "## Status", "## Decision", "## Context", "* x",
        "- [ ] y", "  z", "```", "~~~", "Superseded by ADR-1", "superseded by [x](2-b.md)", "Status: accepted", "[[x]]",
        "[a](b.md)", "Always:", "", "1. x", "\t", "- ", "#" * 7, "date: 2024", "\u2028", "title: '", "-", "aliases:",
    ]) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    max_size=25,
).map("\n".join)  # fmt: skip


@given(
    markdown | st.text(max_size=300), st.sampled_from(["a.md", "x/CLAUDE.md", "adr/1-a.md", "\ufffd/..md", "-rf.md"])
)
def test_no_text_is_too_odd(text: str, where: str) -> None:
    for form in READERS:
        skipped: Counter[str] = Counter()
        files = [(where, text.encode(errors="replace")), (f"b/{where}", text.encode(errors="replace"))]
        source = ForeignSource(files, form, skipped, strict=False)
        check(source.candidates())
        assert source.found[form] + skipped.total() == 2


@given(st.binary(max_size=300), st.sampled_from(sorted(READERS)))
def test_no_bytes_make_more_than_an_error(data: bytes, form: str) -> None:
    detect("x.json", data)
    detect("x.md", data)
    with suppress(MemcliError):
        check(READERS[form](data, "x.md"))


def test_a_decision_is_recognised_whatever_ends_its_lines() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = end.join(["\ufeff# Status", "", "accepted", "", "Decision", "-----", "", "We use X."])
        assert is_decision(text.encode(), "docs/1.md")
        assert detect("docs/1.md", text.encode()) == "adr"
