"""What has become of the code that a memory is anchored to.

Edits: a diff as values: what happened to each file, and the lines that came and went.
"""

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
    """An anchor and its state: as it was (`fresh`), as it was but elsewhere, in its file or another (`moved`), changed (`stale`),
    or without its file or symbol (`gone`). `lines` are those of now, as far as they are known.
    """

    file: str
    lines: tuple[int, int] | None
    symbol: str
    state: str

    @property
    def is_fresh(self) -> bool:
        """Whether the code is what and where it was."""
        return self.state == FRESH

    @property
    def is_doubtful(self) -> bool:
        """Whether what is said of the code may no longer hold."""
        return self.state in (STALE, GONE)

    @property
    def place(self) -> str:
        """Such as `src/auth.py:10-42` or `src/auth.py::Token.refresh`."""
        if self.symbol:
            return f"{self.file}::{self.symbol}"
        return f"{self.file}:{self.lines[0]}-{self.lines[1]}" if self.lines else self.file

    def __str__(self) -> str:
        return f"{self.state}: {self.place}"

    def to_json(self) -> Mapping[str, Json]:
        """As it stands in an answer."""
        data: dict[str, Json] = {"file": self.file, "state": self.state}
        if self.lines:
            data["lines"] = list(self.lines)
        if self.symbol:
            data["symbol"] = self.symbol
        return data


Line = tuple[int, str]
"""The number of a line in its file, from 1, and its text without the line end."""


class FileEdit(Record):
    """What a diff does to one file. `file` is its name now, or the last one when it is deleted; `was` the one before.
    Both are empty for a command that names no file.

    `symbols` are the functions and classes touched. `is_whole`: it is to come, and may change any line.
    """

    file: str
    was: str
    added: Sequence[Line] = ()
    removed: Sequence[Line] = ()
    symbols: tuple[str, ...] = ()
    is_deleted: bool = False
    is_whole: bool = False

    def touches(self, file: str, first: int = 0, last: int = 0) -> bool:
        """Whether it changes the file, under either of its names; with `first` and `last`, one of these lines."""
        if file not in (self.file, self.was):
            return False
        if not first or self.is_whole:
            return True
        return any(first <= number <= last for number, _ in chain(self.removed, self.added))
