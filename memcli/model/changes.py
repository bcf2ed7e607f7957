"""Changes: what became of memories between two states of a store, as values."""

from __future__ import annotations

from dataclasses import dataclass

from memcli.model.memory import Json, Memory

STATUSES = ("added", "changed", "pinned", "unpinned", "restored", "superseded", "forgotten", "removed")
"""What may have become of a memory, in the order in which it is told."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field before and after; None where it was or is not there."""

    name: str
    before: Json
    after: Json


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What became of one memory: one of STATUSES, the memory as it is now (or was, when removed), and its fields."""

    status: str
    memory: Memory
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class SpaceChange:
    """What became of one space. `status` is `added`, `removed`, `renamed` or `changed`; `was` is its name before."""

    name: str
    status: str
    was: str
    fields: tuple[FieldChange, ...]
    memories: tuple[MemoryChange, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a file's history, in which `parents` are the nearest commits that are part of it too."""

    hash: str
    parents: tuple[str, ...]
    author: str
    date: str
    subject: str


@dataclass(frozen=True, slots=True)
class Blame:
    """The commit that last changed each field of a memory, and the one that added it; None for what is not committed."""

    memory: Memory
    added: Commit | None
    fields: tuple[tuple[str, Commit | None], ...]
