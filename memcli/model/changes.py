"""Changes as values: of memories between two states of a store, and in a work tree."""

from __future__ import annotations

from memcli.model.memory import Json, Memory
from memcli.record import Record

STATUSES = ("added", "changed", "pinned", "unpinned", "restored", "superseded", "forgotten", "removed")
"""The states of a memory after a change, in the order in which they are printed."""


class FieldChange(Record):
    """The value of a field before and after a change; None where it is absent."""

    name: str
    before: Json
    after: Json


class MemoryChange(Record):
    """The change of a memory: one of STATUSES, the memory after it (or before it, when removed), and the changed fields."""

    status: str
    memory: Memory
    fields: tuple[FieldChange, ...] = ()


class SpaceChange(Record):
    """The change of a space. `status` is `added`, `removed`, `renamed` or `changed`; `was` is its name before."""

    name: str
    status: str
    was: str
    fields: tuple[FieldChange, ...]
    memories: tuple[MemoryChange, ...]


class HistoryCommit(Record):
    """A commit of the history of a file; `parents` are its nearest ancestors in that history."""

    hash: str
    parents: tuple[str, ...]
    author: str
    date: str
    subject: str


class Blame(Record):
    """The commit that last changed each field of a memory, and the one that added it; None for uncommitted changes."""

    memory: Memory
    added: HistoryCommit | None
    fields: tuple[tuple[str, HistoryCommit | None], ...]


class Batch(Record):
    """Changes in a work tree: files to read again, deleted files, a range of commits to ingest. Paths are relative to
    the work tree and sorted; names that are not UTF-8 contain surrogates.

    `moved` are pairs of the old and the new path of a file; the old one is not in `removed`.
    `left` is the commit that was checked out before, empty when the checkout did not change. `is_idle`: nothing has changed
    for a while, and there is time for upkeep.
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
