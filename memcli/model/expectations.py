"""What a team expects of recall: one case each, as it stands in a file of tests."""

from __future__ import annotations

from memcli.record import Record


class Case(Record, kw_only=True):
    """A topic, what the answer must and must not contain, and the options to ask with; None and "" stand for the defaults.

    `answers` are alternatives: one printed passage must match one of them. `type` is the label of a question set.
    """

    file: str
    line: int
    topic: str
    must_include: tuple[str, ...] = ()
    must_not_include: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    empty: bool = False
    top: int | None = None
    budget: int | None = None
    kind: tuple[str, ...] = ()
    under: str = ""
    space: str = ""
    at: str | None = None
    type: str = ""
    allows_python_patterns: bool = False

    @property
    def place(self) -> str:
        """Where the case stands, as `file:line`."""
        return f"{self.file}:{self.line}"
