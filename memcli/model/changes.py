"""Changes as values: of memories between two states of a store, and in a work tree."""

from __future__ import annotations

from memcli.model.memory import Json, Memory
from memcli.record import Record

STATUSES = ("added", "changed", "pinned", "unpinned", "restored", "superseded", "forgotten", "removed")
"""What may have become of a memory, in the order in which it is told."""


class FieldChange(Record):
    """One field before and after; None where it was or is not there."""

    name: str
    before: Json
    after: Json


class MemoryChange(Record):
    """What became of one memory: one of STATUSES, the memory as it is now (or was, when removed), and its fields."""

    status: str
    memory: Memory
    fields: tuple[FieldChange, ...] = ()


class SpaceChange(Record):
    """What became of one space. `status` is `added`, `removed`, `renamed` or `changed`; `was` is its name before."""

    name: str
    status: str
    was: str
    fields: tuple[FieldChange, ...]
    memories: tuple[MemoryChange, ...]


class HistoryCommit(Record):
    """One commit of a file's history, in which `parents` are the nearest commits that are part of it too."""

    hash: str
    parents: tuple[str, ...]
    author: str
    date: str
    subject: str


class Blame(Record):
    """The commit that last changed each field of a memory, and the one that added it; None for what is not committed."""

    memory: Memory
    added: HistoryCommit | None
    fields: tuple[tuple[str, HistoryCommit | None], ...]


class Batch(Record):
    """Changes in a work tree: files to read again, files that are gone, a range of commits to ingest. Paths are relative to
    the work tree and sorted; names that are not UTF-8 contain surrogates.

    `moved` are pairs of the old and the new path of a file; the old one is not in `removed`.
    `left` is the commit that was checked out before; empty when it still is. `is_idle`: nothing changed, and there is
    time for other work.
    """

    files: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    commits: str | None = None
    moved: tuple[tuple[str, str], ...] = ()
    left: str = ""
    is_idle: bool = False

    def paths(self) -> list[str]:
        """All paths in the batch."""
        return [*self.files, *self.removed, *(path for pair in self.moved for path in pair)]
