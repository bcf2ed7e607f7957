"""`memcli check`"""

from __future__ import annotations

from typing import Any

from memcli.cli.output import Output
from memcli.cli.verb import CHECK, CommandContext, Group, verb
from memcli.errors import CorruptError, MemcliError, NotFoundError, UsageError
from memcli.extras.check import code, recall, secrets, store
from memcli.model.memory import Json
from memcli.render.clean import fitted

_PARTS = (code.command, recall.command, secrets.command, store.command)


@verb()
def run_all(session: CommandContext) -> int:
    """Run all checks: memories against the code, recall tests, secrets in the store, and damage to it.

    What does not apply to a store is skipped: code without a repository, and recall without tests. Exits with 6 if a check
    fails.

    Example: memcli check

    >>> memory.check()['store']['state']
    'passed'
    """
    output, outcomes = session.output, []
    for part in _PARTS:
        outcome = _Outcome(part.name.removeprefix("check "))
        outcomes.append(outcome)
        session.output = outcome
        try:
            options: Any = part.options()
            outcome.state = "failed" if part.function(session, options) else "passed"
        except MemcliError as error:
            # Skipped for the absence of its object alone: a file of tests that cannot be read must not pass.
            is_absent = isinstance(error, _ABSENT.get(part.name, ()))
            outcome.state, outcome.problem = "skipped" if is_absent else "failed", error.message
        session.output = output
    lines = [line for one in outcomes for line in one.report()]
    output.answer({one.name: one.to_json() for one in outcomes}, fitted("\n".join(lines), "  "))
    return CorruptError.exit_code if any(one.state == "failed" for one in outcomes) else 0


command = Group(
    "check",
    "Check the store: code, recall, secrets, damage.",
    *_PARTS,
    default=run_all,
    section=CHECK,
    line="Check memories against the code, recall tests, secrets and damage",
)


class _Outcome(Output):
    """The outcome of one check, and the output that it prints to, so that its results become part of those of `check`."""

    def __init__(self, name: str) -> None:
        super().__init__(json=True)
        self.name, self.state, self.problem = name, "passed", ""
        self._data: Json = None
        self._text: list[str] = []
        self._notes: list[str] = []

    def answer(self, data: Json, text: str, *, on_one_line: bool = False) -> None:  # noqa: ARG002
        self._data, self._text = data, text.splitlines()

    def note(self, text: str) -> None:
        self._notes.append(text)

    def report(self) -> list[str]:
        """A line with the state and, for a failed check, what it printed."""
        head = self.problem or next(iter([*self._text[-1:], *self._notes, "nothing to report"]))
        details = [*self._text, *self._notes] if self.state == "failed" else []
        return [f"{self.state:<7}  {self.name:<7}  {head}", *(f"  {line}" for line in details if line != head)]

    def to_json(self) -> dict[str, Json]:
        found: dict[str, Json] = {"state": self.state, "result": self._data}
        return {**found, "problem": self.problem} if self.problem else found


_ABSENT = {code.command.name: UsageError, recall.command.name: NotFoundError}
"""The error that a check raises if it does not apply to the store (no repository, no tests), so that it is skipped."""
