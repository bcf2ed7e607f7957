"""Small changes of a text that can be taken back to the character."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Splice(NamedTuple):
    """What replaces the characters from `start` to `end`."""

    start: int
    end: int
    text: str

    def apply(self, whole: str) -> str:
        return whole[: self.start] + self.text + whole[self.end :]

    def undo(self, whole: str) -> Splice:
        """What takes this change of `whole` back again."""
        return Splice(self.start, self.start + len(self.text), whole[self.start : self.end])


def apply_all(whole: str, splices: Sequence[Splice]) -> str:
    """`whole` with one change after the other."""
    for splice in splices:
        whole = splice.apply(whole)
    return whole


def newline_of(text: str) -> str:
    """The line end of a text."""
    return "\r\n" if "\r\n" in text else "\n"
