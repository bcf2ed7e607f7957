"""Edits: a diff as values: what happened to each file, and the lines that came and went."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from memcli.record import Record

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
