"""The versions of a memory: as commits have it, and as it is now, each with what changed since the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memcli.record import Record

_MOST = 12
_COMPARED = (
    "path", "kind", "tags", "pinned", "active", "superseded_by", "importance", "confidence", "relevance", "valid_from",
    "valid_until",
)  # fmt: skip


class MemoryVersion(Record):
    """A memory at a commit, or in the work tree if `commit` is empty, with the text before and the fields that changed."""

    commit: Mapping[str, Any]
    text: str
    before: str | None
    changes: tuple[tuple[str, Any, Any], ...]


def commits(blame: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The commits that a memory as it is now comes from, oldest first; of many only the newest."""
    found = {one["commit"]: one for one in (blame["added"], *blame["fields"].values()) if one}
    return sorted(found.values(), key=lambda one: (one["date"], one["commit"]))[-_MOST:]


def compared(
    read: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], now: Mapping[str, Any]
) -> list[MemoryVersion]:
    """The versions, newest first; that of now only where it differs from the last commit."""
    found: list[MemoryVersion] = []
    before: Mapping[str, Any] | None = None
    for commit, memory in [*read, ({}, now)]:
        version = _version(commit, memory, before)
        if commit or version.changes or version.text != version.before:
            found.append(version)
        before = memory
    return found[::-1]


def _version(commit: Mapping[str, Any], memory: Mapping[str, Any], before: Mapping[str, Any] | None) -> MemoryVersion:
    if before is None:
        return MemoryVersion(commit, memory["raw"], None, ())
    changes = [(name, before.get(name), memory.get(name)) for name in _COMPARED if before.get(name) != memory.get(name)]
    return MemoryVersion(commit, memory["raw"], before["raw"], tuple(changes))
