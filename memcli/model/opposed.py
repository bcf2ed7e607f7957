"""What contradicts a memory of a bundle."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.model.memory import Json
from memcli.record import Record

_MOST_CHARACTERS = 160


class Opposed(Record):
    """A memory that contradicts one of a bundle. `holds` is 1 where that one says that it holds, -1 where this one does."""

    id: str
    path: str
    date: str
    text: str
    holds: int = 0

    def __str__(self) -> str:
        newer = {1: ", outdated", -1: ", which holds now"}.get(self.holds, "")
        return f"contradicts [{self.id}] ({self.date}{newer}){f': {_clipped(self.text)}' if self.text else ''}"

    def to_json(self, *, is_brief: bool) -> dict[str, Json]:
        """As a bundle has it."""
        if is_brief:
            return {"id": self.id}
        newer = {1: {"outdated": True}, -1: {"holds": True}}.get(self.holds, {})
        return {"id": self.id, "path": self.path, "date": self.date, "summary_micro": self.text, **newer}


def told(opposed: Sequence[Opposed], *, is_brief: bool) -> list[str]:
    """What contradicts a memory, for its reader: the first with its text unless `is_brief`, others by their ids."""
    shown = [] if is_brief else [str(one) for one in opposed[:1]]
    rest = [f"[{one.id}]" for one in opposed[len(shown) :]]
    return [*shown, *([f"{'also ' if shown else ''}contradicts {', '.join(rest)}"] if rest else [])]


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS].rstrip()}…"
