"""Derived: which fields of a memory were made from its text, and follow it when it changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memcli.model.memory import Memory

Describe = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""The semantic layer: the fields that it adds to those of a memory."""


def follows(describe: Describe, memory: Memory, raw: str) -> dict[str, Any]:
    """The summaries, the chunks and, where they were made from the text and not given, the tags of a memory whose text
    becomes `raw`."""
    made = describe({**_basis(memory), "raw": raw})
    names = ("summary_micro", "summary_short", "summary_long", "chunks")
    tags = {"tags": made.get("tags")} if has_made_tags(describe, memory) else {}
    return {**{name: made.get(name) for name in names}, **tags}


def has_made_tags(describe: Describe, memory: Memory) -> bool:
    """Whether the tags of the memory are those that its text alone gives, with the path that was asked for or without."""
    if not memory.tags:
        return False
    given = {**_basis(memory), "raw": memory.raw, "content": memory.content}
    return any(
        tuple(describe({**given, **hint}).get("tags") or ()) == memory.tags for hint in ({}, {"path": memory.path})
    )


def _basis(memory: Memory) -> dict[str, Any]:
    return {"kind": memory.kind, "metadata": memory.metadata}
