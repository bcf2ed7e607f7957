"""The fields of a memory as JSON: their defaults, and when two are the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

Fields = dict[str, Any]

DEFAULTS: Fields = {
    "raw": "", "summary_micro": "", "summary_short": "", "summary_long": "", "tags": [], "pinned": False, "relevance": "medium", "content": None, "importance": None, "confidence": 1.0,
    "trust": 1.0, "strength": 1, "version": 1, "active": True, "superseded_by": None, "valid_from": None,
    "valid_until": None, "season": None, "scope": "project", "provenance": {}, "links": [], "triggers": [], "enforce": False,
    "procedure": None, "episode": None, "chunks": [], "context": [], "anchors": [],
}  # fmt: skip


def value(memory: Fields, name: str) -> Any:
    """The field, or its default."""
    return memory.get(name, DEFAULTS.get(name))


def says(memory: Fields) -> tuple[str, Any]:
    """What makes two memories the same: text and content."""
    return memory["raw"].strip(), value(memory, "content")


def is_read(memory: Fields) -> bool:
    """Whether the memory was read from a file."""
    return bool(value(memory, "provenance").get("source") == "observed")


def is_same_memory(first: Fields, second: Fields) -> bool:
    """Whether two of one id are versions of one memory."""
    return says(first) == says(second) or any(first[name] == second[name] for name in ("path", "created_at"))


def same(name: str, first: Any, second: Any) -> bool:
    if name == "links":
        return places(first) == places(second)
    return sorted(first) == sorted(second) if name == "tags" else bool(first == second)


def places(links: Sequence[Fields]) -> list[tuple[str, str]]:
    return sorted((link["to"], link["relation"]) for link in links)


def dated(links: Sequence[Fields], known: Sequence[Fields]) -> list[Fields]:
    """`links`, those that are known already as they are."""
    by_place = {(link["to"], link["relation"]): link for link in known}
    return [by_place.get((link["to"], link["relation"]), link) for link in links]


def days(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() / 86400


def spelled_out(memory: Fields, space: str) -> Fields:
    """A memory of a space file with all that the file leaves out because it says nothing."""
    full = {"raw": "", "tags": [], "relevance": "medium", "pinned": False, "metadata": {}, **memory}
    for name, other in (("micro", "raw"), ("short", "summary_micro"), ("long", "summary_short")):
        full.setdefault(f"summary_{name}", full[other])
    metadata = {"space": space, **full["metadata"]}
    return {**full, "metadata": {name: told for name, told in metadata.items() if (name, told) != ("space", None)}}
