"""What reads files takes time in proportion to them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from memcli.code import symbols
from memcli.errors import MemcliError
from memcli.extras.transfer import decisions, foreign
from memcli.git import tree
from memcli.ingest import files, markdown
from tests.conftest import slow_but
from tests.growth import SHAPES, grows_too_fast

_RECORD = "# 1. Title\n\n{0}\n\n## Status\n\n{0}\n\n## Context\n\nx\n\n## Decision\n\n{0}"


def _taken(text: str, read: Callable[[bytes, str], object], name: str) -> None:
    with suppress(MemcliError):
        list(read(text.encode(), name))  # type: ignore[call-overload]


WORK: dict[str, Callable[[str], object]] = {
    "decision": lambda text: _taken(_RECORD.format(text), decisions.read_decision, "docs/adr/1.md"),
    "is_decision": lambda text: decisions.is_decision(text.encode(), "docs/a.md"),
    "note": lambda text: _taken(text, decisions.read_note, "notes/a.md"),
    "instructions": lambda text: _taken(text, decisions.read_instructions, "CLAUDE.md"),
    "graph": lambda text: _taken(text, foreign.read_graph, "m.jsonl"),
    "mem0": lambda text: _taken(text, foreign.read_mem0, "m.json"),
    "front matter": markdown.split_front_matter,
    "outline": lambda text: list(markdown.parts(text)),
    "outline of reStructuredText": lambda text: list(markdown.parts(text, markdown.restructured_headings)),
    "outline of AsciiDoc": lambda text: list(markdown.parts(text, markdown.asciidoc_headings)),
    "pieces": lambda text: files.pieces("a.md", None, text),
    "pieces of code": lambda text: files.pieces("a.py", None, text),
    "parts": lambda text: symbols.cut("a.js", text),
    "is_generated": tree.is_generated,
}

HOSTILE_YAML = {
    "flow lists": "a: " + "[" * 1_000_000,
    "mappings in a line": "a: " + "{a: " * 16_000,
    "lists in a line": "- " * 32_000,
    "keys in a line": "? " * 32_000,
    "mappings": "".join(f"{' ' * n}a:\n" for n in range(350)),
    "anchors": "".join(f"k{n}: &a{n} v\n" for n in range(4_000)),
}


@pytest.mark.parametrize("has_libyaml", [True, False])
def test_hostile_front_matter_is_text(has_libyaml: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_libyaml:
        monkeypatch.delattr("yaml.CSafeLoader", raising=False)
    for text in HOSTILE_YAML.values():
        whole = f"---\n{text}\n---\nBody.\n"
        assert markdown.split_front_matter(whole) == (None, whole)


@pytest.mark.parametrize("work", slow_but(("graph", "pieces", "outline"), WORK))
def test_work_is_in_proportion_to_the_file(work: str) -> None:
    assert [shape for shape in SHAPES if grows_too_fast(WORK[work], SHAPES[shape])] == []
