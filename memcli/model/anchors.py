"""What has become of the code that a memory is anchored to."""

from __future__ import annotations

from collections.abc import Mapping

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
