"""What runs through a conversation: problems to their solutions, requests to their ends, decisions and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from memcli.conversation.message import Message
from memcli.conversation.moment_rules import (
    ACTION,
    CAUSE,
    CHOSEN,
    CURED,
    DECIDED,
    DEFERRED,
    DONE,
    FAILED,
    FINDING,
    GLAD,
    PASSED,
    PERSISTS,
    PRAISE,
    PROBLEM,
    REQUEST,
    WITHDRAWN,
)
from memcli.conversation.moments import Moment, moments
from memcli.conversation.statements import ASKED, Statement
from memcli.model.analysis import terms

DECISION, SOLVED, BREAKTHROUGH, ISSUE, COMPLETED, PIVOT = (
    "decision_made", "problem_solved", "breakthrough", "issue_found", "task_completed", "pivot",
)  # fmt: skip

_FAR = 12
"""Beyond so many messages, what ends a thread must share a term with what began it."""
_REACTION = 2
"""How many messages later a reaction still belongs to what was said."""
_RAISED = 3
"""How many messages before a decision the question stands that it answers."""


class Draft(NamedTuple):
    """An episode as it was found: the sentence that began it, that which ended it, and its messages."""

    kind: str
    first: int
    last: int
    opening: Statement
    closing: Statement | None = None


class _Open:
    """A problem or a request that is not over."""

    def __init__(self, opening: Statement) -> None:
        self.opening = opening
        self.terms = set(terms(opening.text))
        self.last = opening.number
        self.action: Statement | None = None

    def is_near(self, said: Statement) -> bool:
        return said.number - self.last <= _FAR or self.shares(said)

    def shares(self, said: Statement) -> bool:
        """Whether the sentence has a third of its terms, or of those that began this, in common with the other."""
        others = set(terms(said.text))
        return 3 * len(self.terms & others) >= max(2, min(len(self.terms), len(others)))


def drafts(messages: Sequence[Message]) -> list[Draft]:
    """The episodes of a conversation in the order in which they end, as they are found: some may overlap."""
    reader = _Reader()
    for message in messages:
        reader.take(message.number, moments(message))
    return reader.finish()


class _Reader:
    """Reads messages in order; what is open is kept until it is over."""

    def __init__(self) -> None:
        self._found: list[Draft] = []
        self._problems: list[_Open] = []
        self._requests: list[_Open] = []
        self._question: Statement | None = None
        self._alternative: Statement | None = None
        """The latest question and the latest that offers a choice."""
        self._cause: Statement | None = None
        """A cause or a gain that is a breakthrough if somebody is glad of it."""

    def take(self, number: int, said: Sequence[Moment]) -> None:
        """One message."""
        if not said:
            return
        if said[0].statement.role == "tool":
            self._take_tool(said[0])
            return
        marks = {mark for one in said for mark in one.marks}
        self._react(number, said, marks)
        is_turn = WITHDRAWN in marks and number > 1
        if is_turn:
            self._turn(said)
        for one in said:
            self._take_sentence(one.statement, one.marks - {DECIDED} if is_turn else one.marks)
        for one in said:
            if one.statement.mood == ASKED:
                self._question = one.statement
                if " or " in one.statement.bare:
                    self._alternative = one.statement

    def finish(self) -> list[Draft]:
        """All that was found, with the problems that nobody solved."""
        for problem in tuple(self._problems):
            self._give_up(problem, problem.last)
        return self._found

    def _take_tool(self, one: Moment) -> None:
        for thread in self._problems[-1:]:
            thread.last = max(thread.last, one.statement.number) if thread.is_near(one.statement) else thread.last
            if PASSED in one.marks and thread.action:
                self._solve(thread, thread.action, one.statement.number)
            elif FAILED in one.marks:
                thread.action = None

    def _react(self, number: int, said: Sequence[Moment], marks: set[str]) -> None:
        """What a message says of those before it: that something works, or still does not."""
        if PERSISTS in marks:
            self._reopen(number)
        elif said[0].statement.role != "assistant" and PROBLEM not in marks:
            if GLAD in marks:
                self._surprise(number)
            thread = self._problems[-1] if self._problems and PRAISE in marks else None
            if thread and thread.action and number - thread.action.number <= _REACTION:
                self._solve(thread, thread.action, number)

    def _take_sentence(self, said: Statement, marks: AbstractSet[str]) -> None:
        if CAUSE in marks and self._problems and said.role == "assistant":
            self._found.append(Draft(BREAKTHROUGH, said.number, said.number, said, said))
        elif CAUSE in marks or FINDING in marks:
            self._cause = said
        if CURED in marks or DONE in marks:
            self._end(said, is_done=DONE in marks)
        elif ACTION in marks:
            self._act(said)
        elif PROBLEM in marks:
            self._open_problem(said)
        if DECIDED in marks or (CHOSEN in marks and self._is_choice(said)):
            self._decide(said)
        if DEFERRED in marks and self._is_about_problem(said):
            self._give_up(self._problems[-1], said.number)
        if REQUEST in marks and not self._is_about_problem(said):
            self._ask(said)

    def _turn(self, said: Sequence[Moment]) -> None:
        """A change of direction, with the sentence that says where to."""
        self._requests.clear()
        opening = next(one.statement for one in said if WITHDRAWN in one.marks)
        choice = next((one.statement for one in said if DECIDED in one.marks), opening)
        self._found.append(Draft(PIVOT, opening.number, opening.number, opening, choice))

    def _surprise(self, number: int) -> None:
        """Somebody is glad: what was found out or gained right before is a breakthrough."""
        cause, self._cause = self._cause, None
        for place, draft in enumerate(self._found):
            if draft.kind == BREAKTHROUGH and number - draft.last <= _REACTION:
                self._found[place] = draft._replace(last=number)
                return
        if cause and number - cause.number <= _REACTION:
            self._found.append(Draft(BREAKTHROUGH, cause.number, number, cause, cause))

    def _is_choice(self, said: Statement) -> bool:
        question = self._alternative
        return question is not None and said.number - question.number <= 2 * _RAISED

    def _decide(self, said: Statement) -> None:
        question = self._alternative if self._is_choice(said) else self._question
        opening = question if question and said.number - question.number <= 2 * _RAISED else said
        self._found.append(Draft(DECISION, opening.number, said.number, opening, said))

    def _open_problem(self, said: Statement) -> None:
        thread = self._problems[-1] if self._problems else None
        if thread and thread.is_near(said) and (said.number - thread.last <= 1 or thread.shares(said)):
            thread.last = said.number
            return
        self._problems.append(_Open(said))

    def _give_up(self, problem: _Open, number: int) -> None:
        self._problems.remove(problem)
        self._found.append(Draft(ISSUE, problem.opening.number, number, problem.opening))

    def _ask(self, said: Statement) -> None:
        """A request; what the assistant then promises belongs to it."""
        before = self._requests[-1] if self._requests else None
        if before and said.role == "assistant" and said.number - before.last <= _REACTION:
            before.last = said.number
        else:
            self._requests = [*self._requests[-5:], _Open(said)]

    def _act(self, said: Statement) -> None:
        thread = self._nearest(self._problems, said)
        if thread:
            thread.action, thread.last = said, said.number
        elif request := self._nearest(self._requests, said):
            self._complete(request, said)

    def _end(self, said: Statement, *, is_done: bool) -> None:
        """A problem is over, or else a task, or else what was done right before it went well."""
        before = self._found[-1] if self._found else None
        if thread := self._nearest(self._problems, said):
            self._solve(thread, said, said.number)
        elif request := self._nearest(self._requests, said):
            self._complete(request, said)
        elif before and before.kind in (SOLVED, COMPLETED) and said.number - before.last <= _REACTION:
            self._found[-1] = before._replace(last=said.number)
        elif is_done:
            self._found.append(Draft(COMPLETED, said.number, said.number, said, said))

    def _solve(self, thread: _Open, closing: Statement, last: int) -> None:
        self._problems.remove(thread)
        self._found.append(Draft(SOLVED, thread.opening.number, last, thread.opening, closing))

    def _complete(self, request: _Open, closing: Statement) -> None:
        self._requests.remove(request)
        self._found.append(Draft(COMPLETED, request.opening.number, closing.number, request.opening, closing))

    def _reopen(self, number: int) -> None:
        """What was thought to be over is not, when it is said so soon after it."""
        before = self._found[-1] if self._found else None
        if before and before.kind in (SOLVED, COMPLETED) and number - before.last <= _REACTION:
            self._found.pop()
            self._problems.append(_Open(before.opening))
        for thread in self._problems[-1:]:
            thread.action, thread.last = None, number

    def _is_about_problem(self, said: Statement) -> bool:
        thread = self._problems[-1] if self._problems else None
        return thread is not None and said.number - thread.last <= _REACTION

    @staticmethod
    def _nearest(threads: Sequence[_Open], said: Statement) -> _Open | None:
        """The latest thread that shares a term with the sentence, or else the latest that is near."""
        sharing = [thread for thread in threads if thread.shares(said)]
        near = [thread for thread in threads if thread.is_near(said)]
        return max(sharing or near, key=lambda thread: thread.opening.number, default=None)
