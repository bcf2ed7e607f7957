"""Failures: what could not be taken in, which must not keep the rest from it."""

from __future__ import annotations

from memcli.errors import MemcliError
from memcli.model.memory import Json
from memcli.record import Record


class Failure(Record):
    """A file or a commit that could not be ingested, and why. One of the two names is empty."""

    reason: str
    file: str = ""
    commit: str = ""

    @property
    def place(self) -> str:
        """The file, or the commit."""
        return f"commit {self.commit[:10]}" if self.commit else self.file

    def to_json(self) -> dict[str, Json]:
        named = {"commit": self.commit, "file": self.file}
        return {**{name: value for name, value in named.items() if value}, "reason": self.reason}


def reason_of(error: Exception) -> str:
    """What went wrong: what an error of memcli says; of any other its type and place, since what it says may quote what
    must not be stored."""
    if isinstance(error, MemcliError):
        return error.message
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2] if trace else ""
    where = f" in {file}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{where}"
