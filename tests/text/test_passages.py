"""Passages: what a memory is cut into; and the lines and blocks of prose. Sentences are tested with summaries."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memcli.text.passages import (
    CODE,
    CONTENT,
    CONTEXT,
    FENCE,
    HUNK,
    LINE,
    MARKUP,
    MESSAGE,
    PACKED,
    PROSE,
    embedded_texts,
    heading,
    is_versioned,
    passages,
    read_blocks,
    read_lines,
    trail,
)
from tests.conftest import memory

DOCUMENT = """# Guide

## Install

Run this:

```
pip install memcli
```

### Since 8.1.0

- one
- two

| option | meaning |
|---|---|
| `--short` | prints less |
"""

CHANGE = """Retry when a page times out

The server drops one request of a hundred.

net/fetch.py
@@ def fetch(url):
-    return get(url)
+    return retry(get, url)
tests/test_fetch.py (added)
@@
+def test_fetch() -> None:
+    assert fetch("x")
"""


def cut(raw: str, **fields: object) -> list[tuple[str, tuple[str, ...], str]]:
    return [(one.text, one.headings, one.form) for one in passages(memory("a", raw=raw, **fields))]


def test_a_document_is_cut_below_its_headings_and_code_stays_with_what_announces_it() -> None:
    assert cut(DOCUMENT) == [
        ("Run this:\n\n```\npip install memcli\n```", ("Guide", "Install"), "prose"),
        (
            "- one\n- two\n\n| option | meaning |\n|---|---|\n| `--short` | prints less |",
            ("Guide", "Install", "Since 8.1.0"),
            "prose",
        ),
    ]


def test_a_change_is_its_message_and_its_hunks_below_their_files() -> None:
    assert cut(CHANGE, kind="diff") == [
        ("Retry when a page times out\n\nThe server drops one request of a hundred.", (), MESSAGE),
        ("@@ def fetch(url):\n-    return get(url)\n+    return retry(get, url)", ("net/fetch.py",), HUNK),
        ('@@\n+def test_fetch() -> None:\n+    assert fetch("x")', ("tests/test_fetch.py (added)",), HUNK),
    ]


def test_headings() -> None:
    cases = [
        ("Title\n=====\n\nPart\n----\n\ntext", ("Title", "Part")),
        ("Title\n=====\n\nPart\n~~~~\n\ntext", ("Title", "Part")), ("# Title #\n\ntext", ("Title",)),
        ("```\n# no title\n```", ()), ("no title\n~~~", ()), ("    # no title", ()), ("- a\n---\ntext", ()),
    ]  # fmt: skip
    assert [(text, titles) for text, titles in cases if cut(text)[-1][1] != titles] == []


def test_long_text_is_cut_at_lines_sentences_and_characters() -> None:
    lines = "\n".join(f"line {n} " + "x" * 80 for n in range(40))
    assert all(one.text.startswith("line") for one in passages(memory("a", raw=lines)))
    sentences = " ".join(f"Sentence {n} has some words in it." for n in range(200))
    assert all(one.text.endswith(".") for one in passages(memory("a", raw=sentences)))
    wide = passages(memory("a", raw="e\u0301" * 2_000))
    assert all(not one.text.startswith("\u0301") for one in wide)
    assert "".join(one.text for one in wide) == "e\u0301" * 2_000


def test_neighbours_are_packed_but_not_too_many() -> None:
    found = passages(memory("a", raw="\n".join(f"- item {n} " + "word " * 20 for n in range(30))))
    assert len(found) > 5
    assert all(len(one.text) <= PACKED for one in found)
    assert all(one.text.startswith("- item") for one in found)


def test_what_was_stored_as_json_and_snapshots_are_passages_too() -> None:
    assert cut("", content={"port": 5432}) == [("port\n5432", (), CONTENT)]
    assert cut("Text.", context=[{"text": "What was said."}, {"text": ""}, 7])[-1] == ("What was said.", (), CONTEXT)


def test_what_a_document_says_to_its_tools_is_marked() -> None:
    source = {"metadata": {"source": "docs/api.rst"}}
    assert cut(".. automodule:: a\n   :members:\n", **source)[0][2] == MARKUP
    assert cut("Use uv.", **source)[0][2] == MARKUP
    assert cut("Use uv.")[0][2] != MARKUP
    contents = "* [How fast is it?](#fast)\n* [Does it have colours?](#colours)\n"
    assert cut(contents, **source)[0][2] == MARKUP
    assert cut(contents.replace("#", "other.md#"), **source)[0][2] != MARKUP
    assert cut("```\nx\n```", **source)[0][2] == CODE


def test_a_heading_says_where_a_passage_stands() -> None:
    told = memory("a", raw=DOCUMENT, metadata={"source": "docs/a.md", "headings": ["Guide", "Install"]})
    first, second = passages(told)
    assert trail(told, second) == ("Guide", "Install", "Since 8.1.0")
    assert heading(told, first) == "docs/a.md > Guide > Install"
    assert (is_versioned(told, first), is_versioned(told, second)) == (False, True)
    change = memory("c", raw=CHANGE, kind="diff", metadata={"subject": "Retry", "source": "net/fetch.py"})
    message, hunk, _ = passages(change)
    assert (heading(change, message), heading(change, hunk)) == ("", "Retry (net/fetch.py)")
    assert embedded_texts(change, [message, hunk])[1].startswith("Retry (net/fetch.py)\n@@")
    short = memory("s", raw="Sessions live in Redis.")
    assert embedded_texts(short, passages(short)) == ["Sessions live in Redis."]


MARKDOWN = st.lists(
    st.sampled_from(
        ["# h", "## h 2", "t\n===", "t\n---", "- a", "  - b", "1. c", "```", "~~~", "    code", "| a | b |", "", "", "text",
         "word " * 300, "漢字" * 600, "@@ def f():", "+ added", "- gone", "a.py", "x:", "\t", "\r", ".. note::", "-----"]
    ),
    max_size=40,
).map("\n".join)  # fmt: skip


@given(raw=MARKDOWN, kind=st.sampled_from(["fact", "diff"]))
def test_passages_are_ordered_bounded_and_leave_out_nothing_but_headings(raw: str, kind: str) -> None:
    found = passages(memory("a", raw=raw, kind=kind))
    assert found or not raw.strip()
    inside = [one for one in found if one.end]
    assert all(len(one.text) <= LINE and one.text.strip() for one in inside)
    assert all(raw[one.start : one.end].strip() == one.text.strip() for one in inside)
    assert all(before.end <= after.start for before, after in pairwise(inside))
    shown = "".join("".join(one.text.split()) for one in inside)
    titles = "".join("".join(title.split()) for one in inside for title in one.headings)
    # What is in no passage stands in a heading, perhaps in one of MARKDOWN with nothing below it.
    left = "".join(
        raw[a:b] for a, b in zip([0, *(o.end for o in inside)], [*(o.start for o in inside), len(raw)], strict=True)
    )
    if kind == "fact" and inside:
        assert all(set(word) <= set(titles) | set("#=-~^\"'`*+:.h2t") for word in left.split()) or not shown


def test_hostile_text_is_cut_in_passages_of_bounded_size() -> None:
    cases = ["word " * 100_000, "# h\n" * 30_000, "| a | b |\n" * 30_000, "```\n" * 30_000, "- x\n" * 30_000, "漢" * 300_000,
     "".join(" " * (n % 300) + "- x\n" for n in range(5_000)), json.dumps(list(range(50_000))), "t\n===\n" * 20_000]  # fmt: skip
    for text in cases:
        for kind in ("fact", "diff"):
            found = passages(memory("a", raw=text, kind=kind))
            assert found
            assert all(len(one.text) <= LINE for one in found)


FENCED = {
    "it ends as it began": ("````\n```\n````\nx", [FENCE, CODE, FENCE, PROSE]),
    "another mark does not end it": ("```\n~~~\n```", [FENCE, CODE, FENCE]),
    "in a quotation": ("> ```\n> x\n> ```\n> y", [FENCE, CODE, FENCE, PROSE]),
    "a quotation ends what is fenced in it": ("> ```\n> x\ny", [FENCE, CODE, PROSE]),
    "it may be left open": ("~~~\nx", [FENCE, CODE]),
}


def test_fences_end_as_they_began() -> None:
    wrong = [name for name, (text, roles) in FENCED.items() if [line.role for line in read_lines(text)] != roles]
    assert wrong == []


def test_a_short_command_belongs_to_the_paragraph_that_leads_up_to_it_where_asked_for() -> None:
    for text in ("Run this:\n```\n$ make\n```", "Run this:\n\n    make\n", "Run this::\n\n    make\n"):
        assert [block for _, block in read_blocks(text, with_commands=True)] == ["Run this: `make`"], text
    assert [block for _, block in read_blocks("Run this\n```\nmake\n```\nand wait.")] == ["Run this", "and wait."]


def test_lines_are_left_out_unless_they_are_items() -> None:
    found = read_blocks("- $ one\n$ two\nthree", is_left_out=lambda line: "$" in line)
    assert [block for _, block in found] == ["$ one", "three"]


@given(text=st.text(alphabet="`~>#-.1|:* \n\tab"))
def test_lines_are_the_text(text: str) -> None:
    assert "".join(text[line.start : line.end] for line in read_lines(text)) == text
