"""What runs through a conversation: problems to their solutions, requests to their ends, decisions and what becomes of them.

One problem or request of a conversation, from the sentence that begins it to what ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from memcli.conversation.moments import (
    ACCEPTED,
    ACTION,
    CAUSE,
    CHOICE,
    CHOSEN,
    CURED,
    DECIDED,
    DEFERRED,
    DISMAY,
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
    Moment,
    moments,
)
from memcli.conversation.statements import ASKED, OFFERED, PHATIC, STATED, TalkStatement
from memcli.model.conversation import Message
from memcli.record import NamedTuple
from memcli.regex import regex
from memcli.text.words import terms

DECISION, SOLVED, BREAKTHROUGH, ISSUE, COMPLETED, PIVOT = (
    "decision_made", "problem_solved", "breakthrough", "issue_found", "task_completed", "pivot",
)  # fmt: skip

FAR = 12
"""Beyond so many messages, what ends a thread must share terms with what began it."""
_PLAIN = frozenset(
    terms(
        "change fix make do done doing go get look help need want let try work works working thing stuff something anything everything"
        " bug problem issue error task ticket job way bit time one ready finished completed complete implemented resolved solved fixed"
        " live main production prod staging yes please thanks great good nice perfect finally"
        " today yesterday tomorrow already still broken fails failing wrong update again better once twice same"
    )
)
"""What a sentence may say of any task or problem."""
_BRIEF = 10
"""The most words of an answer that takes something as done."""
_WISH = regex(r"\b(?:i|we)(?:'d)? (?:need|want|like|would|should|must|have to)\b|^next\b|\bplease\b")
_OBJECTION = regex(r"(?:no|not|nope|hm+|but|wait|still|wrong|why|stop|undo|never|i meant|that's not)\b")


def subject(said: TalkStatement) -> frozenset[str]:
    """The terms of a sentence without those that fit any task or problem; empty for `Done.`"""
    return frozenset(terms(said.text)) - _PLAIN


class DraftEpisode(NamedTuple):
    """An episode as it was found: the sentence that began it, that which ended it, and its messages."""

    kind: str
    first: int
    last: int
    opening: TalkStatement
    closing: TalkStatement | None = None


class Thread:
    """A problem or a request that is not over."""

    def __init__(self, opening: TalkStatement) -> None:
        self.opening = opening
        self.terms = set(terms(opening.text))
        self.subject = set(subject(opening))
        """What it is about, by all that was said of it."""
        self.last = opening.number
        self.action: TalkStatement | None = None
        self.is_latent = False
        """Whether it was taken for a problem only because something was done about it."""
        self.has_passed = False
        """Whether something was run successfully since."""

    def is_wish(self) -> bool:
        """Whether it was a wish rather than a problem that something was done about."""
        return self.is_latent and bool(_WISH.search(self.opening.bare))

    def is_near(self, said: TalkStatement) -> bool:
        return said.number - self.last <= FAR or self.shares(said)

    def shares(self, said: TalkStatement) -> bool:
        """Whether the sentence has a third of its terms, or of those that began this, in common with the other."""
        others = set(terms(said.text))
        return 3 * len(self.terms & others) >= max(2, min(len(self.terms), len(others)))


_REACTION = 2
"""How many messages later a reaction still belongs to what was said."""
_WORTH = 4
"""The least words of a statement that may turn out to be a problem."""
_REPLIES = frozenset([PERSISTS, PRAISE, GLAD, DISMAY, ACCEPTED, CURED, DONE, CAUSE, ACTION])
"""What a message does that replies to what was said, rather than raising something new."""
_COMMON = 2
"""The least that a sentence names in common with a problem or request that is not talked of, or of a task by itself."""
_RULE = regex(r"^(?:never|always|from now on|to \w+(?: \w+){0,4}:)")
"""How a sentence begins that says how things are to be done: it is no problem."""
_POINTING = regex(r"\b(?:it|its|this|that|these|those|they|them)\b")
_REFERRING = regex(r"\b(?:it|its|them|they|both)\b")
_NOTING = regex(
    r"\b(?:wrote|written|saved|recorded) (?:it|that|this|them|all (?:of )?(?:it|that|this)) (?:down|up|to|in|into|on)\b"
    r"|\b(?:wrote|written) (?:down|up)\b|\b(?:noted|documented)\b"
    r"|\b(?:added|put) (?:it|that|this|them) (?:to|in|into|on) (?:(?:the|our|your) )?"
    r"\S*(?:docs?|notes?|readme|handbook|wiki|changelog|runbook|guide|manual|\.md|\.rst|\.txt)\b"
)
"""Words by which somebody notes something down, rather than acting on it."""


def drafts(messages: Sequence[Message]) -> list[DraftEpisode]:
    """The episodes of a conversation in the order in which they end, as they are found: some may overlap."""
    reader = _ThreadReader()
    for message in messages:
        reader.take(message.number, moments(message))
    return reader.finish()


_RAISED = 6
"""How many messages before a decision the question stands that it answers."""
_OPTION = 4
"""The most words of an answer that only names an option."""


class _Latest:
    """The latest question, choice, offer and statement, which an answer may refer to. `offer` and `statement` are the
    assistant's."""

    def __init__(self) -> None:
        self.offer: TalkStatement | None = None
        self.statement: TalkStatement | None = None
        self._question: TalkStatement | None = None
        self._choice: TalkStatement | None = None

    def take(self, one: Moment) -> None:
        """Remembers a sentence by its mood."""
        said = one.statement
        if said.mood == ASKED:
            self._question = said
            if CHOICE in one.marks:
                self._choice = said
        elif said.mood == OFFERED:
            self.offer = said
        elif said.role == "assistant" and said.mood == STATED:
            self.statement = said

    def question(self, said: TalkStatement) -> TalkStatement | None:
        """The question that a decision answers."""
        question = self._choice if self._is_about_choice(said) else self._question
        return question if question and said.number - question.number <= _RAISED else None

    def is_answered(self, said: TalkStatement, *, is_chosen: bool) -> bool:
        """Whether a sentence makes the choice that a question offered: its words are those of a choice (`is_chosen`), or it is
        short and does no more than name one of the things to choose from."""
        if not self._is_about_choice(said):
            return False
        options = [one for one in (self._choice, self.statement) if one]
        named = set(terms(said.text))
        is_option = (
            said.mood == STATED
            and 0 < len(said.bare.split()) <= _OPTION
            and any(len(named & set(terms(one.text))) * 2 > len(named) for one in options)
        )
        return is_chosen or is_option

    def _is_about_choice(self, said: TalkStatement) -> bool:
        choice = self._choice
        return said.role != "assistant" and choice is not None and 0 < said.number - choice.number <= _RAISED


class _ThreadReader:
    """Reads messages in order, and tracks problems and requests until they are closed."""

    def __init__(self) -> None:
        self._found: list[DraftEpisode] = []
        self._problems: list[Thread] = []
        self._requests: list[Thread] = []
        self._latest = _Latest()
        self._stated: TalkStatement | None = None
        """The last sentence that a user stated: a problem or a wish, if something is done about it."""
        self._topic: Thread | None = None
        """The problem or request that the last message of a user is about."""
        self._asked = 0
        """The number of the last message in which the assistant asked or offered something."""
        self._failed: set[str] = set()
        """The programs that failed when they were last run."""
        self._cause: TalkStatement | None = None
        """A cause or a gain that is a breakthrough if somebody is glad of it."""

    def take(self, number: int, said: Sequence[Moment]) -> None:
        """One message."""
        if not said:
            return
        if said[0].statement.role == "tool":
            self._take_tool(said[0])
            return
        marks = {mark for one in said for mark in one.marks}
        if self._topic and said[0].statement.role != "assistant" and not self._goes_on(self._topic, said, marks):
            self._topic = None
        # What a message reports of earlier work is settled before its own sentences are read.
        if PERSISTS in marks:
            # What was thought to be over is not, when it is said so soon after it.
            before = self._found[-1] if self._found else None
            if before and before.kind in (SOLVED, COMPLETED) and number - before.last <= _REACTION:
                self._found.pop()
                self._problems.append(Thread(before.opening))
            for thread in self._problems[-1:]:
                thread.action, thread.last = None, number
        elif said[0].statement.role != "assistant":
            self._answer(number, said, marks)
        is_turn = WITHDRAWN in marks and number > 1
        if is_turn:
            self._turn(said)
        for one in said:
            self._take_sentence(one.statement, one.marks - {DECIDED} if is_turn else one.marks)
            if self._topic:
                self._topic.subject |= subject(one.statement)
        for one in said:
            self._latest.take(one)
            if one.statement.role == "assistant" and one.statement.mood in (ASKED, OFFERED):
                self._asked = number

    def _goes_on(self, topic: Thread, said: Sequence[Moment], marks: AbstractSet[str]) -> bool:
        """Whether a message of a user is still about the topic: it replies, or names what that is about."""
        first = said[0].statement
        if any(_RULE.search(one.statement.bare) for one in said if DECIDED in one.marks):
            return False
        if not marks.isdisjoint(_REPLIES) or all(one.statement.mood == PHATIC for one in said):
            return True
        if _POINTING.search(first.bare) or not subject(first):
            return True
        if any(subject(one.statement) & topic.subject for one in said):
            return True
        if first.who != topic.opening.who:
            return marks.isdisjoint((REQUEST, PROBLEM))
        is_answer = self._asked == first.number - 1
        return is_answer and REQUEST not in marks and all(one.statement.mood != ASKED for one in said)

    def finish(self) -> list[DraftEpisode]:
        """All that was found, with the problems that nobody solved."""
        for problem in tuple(self._problems):
            if problem.action:  # nobody objected
                self._solve(problem, problem.action, problem.last)
            else:
                self._give_up(problem, problem.last)
        return self._found

    def _take_tool(self, one: Moment) -> None:
        """What was run, and whether it failed; what failed before and passes now was mended."""
        number, marks = one.statement.number, one.marks
        program = one.statement.text.partition(" ")[0]
        thread = self._problems[-1] if self._problems else None
        if thread and thread.is_near(one.statement):
            thread.last = max(thread.last, number)
            is_mended = PASSED in marks and program in self._failed
            if PASSED in marks and (thread.action or is_mended):
                self._solve(thread, thread.action or thread.opening, number)
            elif FAILED in marks:
                thread.action = None
        if FAILED in marks:
            self._failed.add(program)
        elif PASSED in marks:
            self._failed.discard(program)
            for request in self._requests:
                request.has_passed = True

    def _answer(self, number: int, said: Sequence[Moment], marks: AbstractSet[str]) -> None:
        """Handles a user's reaction to what the assistant wrote or did."""
        if GLAD in marks and PROBLEM not in marks:
            self._surprise(number)
        if DISMAY in marks and self._latest.statement and not self._is_about_problem(said[0].statement):
            self._open_problem(self._latest.statement)
        if (
            marks & {ACCEPTED, PRAISE}
            and self._latest.offer
            and self._latest.offer.who == self._latest.offer.role
            and number - self._latest.offer.number == 1
        ):
            self._ask(self._latest.offer)
        thread = self._problems[-1] if self._problems else None
        done = thread.action if thread else None
        # a short message that objects to nothing takes what was done as done
        words = sum(len(one.statement.bare.split()) for one in said)
        is_plain = all(one.statement.mood in (STATED, PHATIC) for one in said)
        is_consent = (
            is_plain
            and marks.isdisjoint((PROBLEM, PERSISTS, REQUEST, DISMAY))
            and words <= _BRIEF
            and not _OBJECTION.match(said[0].statement.bare)
        )
        if thread and done and number - done.number <= _REACTION and (PRAISE in marks or is_consent):
            self._solve(thread, done, number)

    def _take_sentence(self, said: TalkStatement, marks: AbstractSet[str]) -> None:
        if CAUSE in marks and self._is_about_problem(said, FAR) and said.role == "assistant":
            self._found.append(DraftEpisode(BREAKTHROUGH, said.number, said.number, said, said))
        elif CAUSE in marks or FINDING in marks:
            self._cause = said
        if CURED in marks or DONE in marks:
            self._end(said, marks)
        elif ACTION in marks:
            self._act(said)
        elif PROBLEM in marks:
            if DECIDED not in marks and not _RULE.search(said.bare):  # these may give one as their reason
                self._open_problem(said)
        elif said.role == "assistant" and said.mood == STATED:
            request = self._requests[-1] if self._requests else None
            if request and request.has_passed and not request.terms.isdisjoint(terms(said.text)):
                self._complete(request, said)
        elif said.mood == STATED and not marks and len(said.bare.split()) >= _WORTH and not _RULE.search(said.bare):
            self._stated = said
        if DECIDED in marks or self._latest.is_answered(said, is_chosen=CHOSEN in marks):
            opening = self._latest.question(said) or said
            self._found.append(DraftEpisode(DECISION, opening.number, said.number, opening, said))
        if DEFERRED in marks and self._is_about_problem(said):
            self._give_up(self._problems[-1], said.number)
        if REQUEST in marks and not (self._topic in self._problems and self._is_about_problem(said)):
            self._ask(said)

    def _turn(self, said: Sequence[Moment]) -> None:
        """Handles a change of direction, with the sentence that names the new one."""
        self._requests.clear()
        if (
            self._found
            and self._found[-1].kind == COMPLETED
            and said[0].statement.number - self._found[-1].last <= _REACTION
        ):
            self._found.pop()  # what was done is given up
        self._problems = [one for one in self._problems if said[0].statement.number - one.last > 2 * _REACTION]
        opening = next(one.statement for one in said if WITHDRAWN in one.marks)
        choice = next((one.statement for one in said if DECIDED in one.marks), opening)
        self._found.append(DraftEpisode(PIVOT, opening.number, opening.number, opening, choice))

    def _surprise(self, number: int) -> None:
        """Somebody is glad: what was found out or gained right before is a breakthrough."""
        cause, self._cause = self._cause, None
        for place, draft in list(enumerate(self._found))[-_REACTION:]:
            if draft.kind == BREAKTHROUGH and number - draft.last <= _REACTION:
                self._found[place] = draft._replace(last=number)
                return
        thread = self._problems[-1] if self._problems else None
        if not cause and thread and not thread.action and number - thread.last <= 2 * _REACTION:
            cause = self._latest.statement
        before = self._found[-1] if self._found else None
        is_work = (thread and number - thread.last <= FAR) or (before and number - before.last <= FAR)
        if cause and is_work and number - cause.number <= _REACTION:
            self._found.append(DraftEpisode(BREAKTHROUGH, cause.number, number, cause, cause))

    def _open_problem(self, said: TalkStatement) -> None:
        thread = self._problems[-1] if self._problems else None
        is_same = thread and (said.number - thread.last <= 1 or thread.shares(said) or not subject(said))
        if thread and is_same and thread.is_near(said):
            thread.last = said.number
            return
        self._topic = Thread(said)
        self._problems.append(self._topic)

    def _give_up(self, problem: Thread, number: int) -> None:
        self._problems.remove(problem)
        if not problem.is_latent and subject(problem.opening):
            self._found.append(DraftEpisode(ISSUE, problem.opening.number, number, problem.opening))

    def _ask(self, said: TalkStatement) -> None:
        """A request; what the assistant then promises belongs to it."""
        before = self._requests[-1] if self._requests else None
        if before and said.role == "assistant" and said.number - before.last <= _REACTION:
            before.last = said.number
        else:
            self._topic = Thread(said)
            self._requests = [*self._requests[-5:], self._topic]

    def _act(self, said: TalkStatement) -> None:
        thread = self._answered(said)
        if thread in self._problems:
            assert thread is not None
            thread.action, thread.last = said, said.number
        elif thread:
            self._complete(thread, said)
        elif stated := self._take_stated(said):
            stated.action, stated.last = said, said.number

    def _end(self, said: TalkStatement, marks: AbstractSet[str]) -> None:
        """A problem is over, or else a task, or else what was done right before it went well."""
        before = self._found[-1] if self._found else None
        if thread := self._answered(said, is_cured=CURED in marks):
            # the last action stands for the end where the sentence names none
            outcome = said if subject(said) else thread.action
            if outcome is None:
                thread.has_passed, thread.last = True, said.number
            elif thread in self._problems:
                self._solve(thread, outcome, said.number)
            else:
                self._complete(thread, outcome)
        elif CURED in marks and (stated := self._take_stated(said, is_cured=True)):
            self._solve(stated, said, said.number)
        elif before and before.kind in (SOLVED, COMPLETED) and said.number - before.last <= _REACTION:
            self._found[-1] = before._replace(last=said.number)
        elif DONE in marks and len(subject(said)) >= _COMMON:
            self._found.append(DraftEpisode(COMPLETED, said.number, said.number, said, said))

    def _answered(self, said: TalkStatement, *, is_cured: bool = False) -> Thread | None:
        """The problem or request that a sentence answers: the current one if the sentence names it, refers to it, names
        nothing, or declares a problem solved; else the latest of those with most terms in common."""
        named = subject(said)
        topic = self._topic
        if topic in self._problems and (is_cured or _NOTING.search(said.bare)):
            is_about = is_cured
        else:
            is_about = not named or topic is None or bool(named & topic.subject) or bool(_REFERRING.search(said.bare))
        if topic in (*self._problems, *self._requests) and is_about:
            return topic
        known = [one for one in (*self._requests, *self._problems) if one.shares(said)]
        shared = [(len(named & one.subject), one.opening.number, one) for one in known]
        best = max(shared, key=lambda each: each[:2], default=None)
        return best[2] if best and best[0] >= _COMMON else None

    def _take_stated(self, said: TalkStatement, *, is_cured: bool = False) -> Thread | None:
        """What another speaker stated before as the problem that something is now done about, which names or refers to it."""
        stated = self._stated
        is_assistant = said.role == "assistant" and said.who == said.role
        if not stated or not is_assistant or said.number - stated.number > 2 * _REACTION:
            return None
        thread = Thread(stated)
        thread.is_latent = True
        is_told = (is_cured or said.number - stated.number == 1) and _REFERRING.search(said.bare)
        if not is_told and subject(said).isdisjoint(thread.subject):
            return None
        if _NOTING.search(said.bare) and not (is_cured or thread.is_wish()):
            return None
        self._problems.append(thread)
        self._stated = None
        return thread

    def _solve(self, thread: Thread, closing: TalkStatement, last: int) -> None:
        self._problems.remove(thread)
        kind = COMPLETED if thread.is_wish() else SOLVED
        if subject(thread.opening):
            self._found.append(DraftEpisode(kind, thread.opening.number, last, thread.opening, closing))

    def _complete(self, request: Thread, closing: TalkStatement) -> None:
        self._requests.remove(request)
        if subject(request.opening):
            self._found.append(
                DraftEpisode(COMPLETED, request.opening.number, closing.number, request.opening, closing)
            )

    def _is_about_problem(self, said: TalkStatement, reach: int = _REACTION) -> bool:
        thread = self._problems[-1] if self._problems else None
        return thread is not None and said.number - thread.last <= reach
