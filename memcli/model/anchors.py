"""Anchors to code, checked against the code as it is now; and edits: a diff as values, with the lines of each file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from memcli.model.memory import Json
from memcli.record import Record

FRESH = "fresh"
MOVED = "moved"
STALE = "stale"
GONE = "gone"


class Checked(Record):
    """An anchor and the state of its code: unchanged (`fresh`), unchanged at another place of this or another file (`moved`),
    changed (`stale`), or without its file or symbol (`gone`). `lines` are where the code is now, None if that is unknown.
    """

    file: str
    lines: tuple[int, int] | None
    symbol: str
    state: str

    @property
    def is_fresh(self) -> bool:
        """Whether the code is unchanged, and at the same place."""
        return self.state == FRESH

    @property
    def is_doubtful(self) -> bool:
        """Whether a statement about the code may be wrong now: it was changed or removed."""
        return self.state in (STALE, GONE)

    @property
    def place(self) -> str:
        """The place of the code, such as `src/auth.py:10-42` or `src/auth.py::Token.refresh`."""
        if self.symbol:
            return f"{self.file}::{self.symbol}"
        return f"{self.file}:{self.lines[0]}-{self.lines[1]}" if self.lines else self.file

    def __str__(self) -> str:
        return f"{self.state}: {self.place}"

    def to_json(self) -> Mapping[str, Json]:
        """The anchor in the JSON of a command."""
        data: dict[str, Json] = {"file": self.file, "state": self.state}
        if self.lines:
            data["lines"] = list(self.lines)
        if self.symbol:
            data["symbol"] = self.symbol
        return data


Line = tuple[int, str]
"""The number of a line in its file, from 1, and its text without the line end."""


class FileEdit(Record):
    """The change of one file by a diff. `file` is its name after it, or the last one of a deleted file; `was` is its name
    before. Both are empty for a command line that names no file.

    `symbols` are the names of the functions and classes that it touches. `is_whole`: the edit is announced, not made (a tool
    call of an agent), and may change any line.
    """

    file: str
    was: str
    added: Sequence[Line] = ()
    removed: Sequence[Line] = ()
    symbols: tuple[str, ...] = ()
    is_deleted: bool = False
    is_whole: bool = False

    def touches(self, file: str, first: int = 0, last: int = 0) -> bool:
        """Whether the edit changes the file of this name, old or new; with `first` and `last`, one of these lines of it."""
        if file not in (self.file, self.was):
            return False
        if not first or self.is_whole:
            return True
        return any(first <= number <= last for number, _ in chain(self.removed, self.added))
