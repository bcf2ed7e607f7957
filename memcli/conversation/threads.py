"""Threads of a conversation: problems up to their solutions, requests up to their completion, decisions up to their withdrawal."""

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
"""A sentence more messages away than this belongs to a thread only if it shares terms with the sentence that began it."""
_PLAIN = frozenset(
    terms(
        "change fix make do done doing go get look help need want let try work works working thing stuff something anything everything"
        " bug problem issue error task ticket job way bit time one ready finished completed complete implemented resolved solved fixed"
        " live main production prod staging yes please thanks great good nice perfect finally"
        " today yesterday tomorrow already still broken fails failing wrong update again better once twice same"
    )
)
"""Terms that occur in talk about any task or problem, and so identify none."""
_BRIEF = 10
"""The most words of an answer that accepts a task as done."""
_WISH = regex(r"\b(?:i|we)(?:'d)? (?:need|want|like|would|should|must|have to)\b|^next\b|\bplease\b")
_OBJECTION = regex(r"(?:no|not|nope|hm+|but|wait|still|wrong|why|stop|undo|never|i meant|that's not)\b")


def subject(sentence: TalkStatement) -> frozenset[str]:
    """The terms of a sentence without those that fit any task or problem; empty for `Done.`"""
    return frozenset(terms(sentence.text)) - _PLAIN


class DraftEpisode(NamedTuple):
    """An episode before overlaps are merged: its first and last sentence, and the numbers of its first and last message."""

    kind: str
    first: int
    last: int
    opening: TalkStatement
    closing: TalkStatement | None = None


class Thread:
    """An open problem or request."""

    def __init__(self, opening: TalkStatement) -> None:
        self.opening = opening
        self.terms = set(terms(opening.text))
        self.subject = set(subject(opening))
        """The terms of all sentences about it, without common ones."""
        self.last = opening.number
        self.action: TalkStatement | None = None
        self.is_latent = False
        """Whether it counts as a problem only because an action followed."""
        self.has_passed = False
        """Whether a tool has succeeded since it was opened."""

    def is_wish(self) -> bool:
        """Whether the sentence that an action followed was a wish rather than a problem."""
        return self.is_latent and bool(_WISH.search(self.opening.bare))

    def is_near(self, sentence: TalkStatement) -> bool:
        return sentence.number - self.last <= FAR or self.shares(sentence)

    def shares(self, sentence: TalkStatement) -> bool:
        """Whether the sentence and the opening have in common two terms and a third of those of the shorter of them."""
        others = set(terms(sentence.text))
        return 3 * len(self.terms & others) >= max(2, min(len(self.terms), len(others)))


_REACTION = 2
"""A reaction belongs to a message at most so many messages before it."""
_WORTH = 4
"""The least words of a statement that may turn out to be a problem."""
_REPLIES = frozenset([PERSISTS, PRAISE, GLAD, DISMAY, ACCEPTED, CURED, DONE, CAUSE, ACTION])
"""Marks of a message that replies rather than raising a new subject."""
_COMMON = 2
"""The least terms that a sentence shares with a thread other than the current one to belong to it, and that a completed task
without a request must have to be an episode."""
_RULE = regex(r"^(?:never|always|from now on|to \w+(?: \w+){0,4}:)")
"""The beginning of an instruction for the future, which is no problem."""
_POINTING = regex(r"\b(?:it|its|this|that|these|those|they|them)\b")
_REFERRING = regex(r"\b(?:it|its|them|they|both)\b")
_NOTING = regex(
    r"\b(?:wrote|written|saved|recorded) (?:it|that|this|them|all (?:of )?(?:it|that|this)) (?:down|up|to|in|into|on)\b"
    r"|\b(?:wrote|written) (?:down|up)\b|\b(?:noted|documented)\b"
    r"|\b(?:added|put) (?:it|that|this|them) (?:to|in|into|on) (?:(?:the|our|your) )?"
    r"\S*(?:docs?|notes?|readme|handbook|wiki|changelog|runbook|guide|manual|\.md|\.rst|\.txt)\b"
)
"""Writing something down, which solves no problem."""


def drafts(messages: Sequence[Message]) -> list[DraftEpisode]:
    """The episodes of a conversation in the order in which they end; they may overlap."""
    reader = _ThreadReader()
    for message in messages:
        reader.take(message.number, moments(message))
    return reader.finish()


_RAISED = 6
"""A decision answers a question at most so many messages before it."""
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
        """Records a sentence as the latest of its mood."""
        sentences = one.statement
        if sentences.mood == ASKED:
            self._question = sentences
            if CHOICE in one.marks:
                self._choice = sentences
        elif sentences.mood == OFFERED:
            self.offer = sentences
        elif sentences.role == "assistant" and sentences.mood == STATED:
            self.statement = sentences

    def question(self, sentence: TalkStatement) -> TalkStatement | None:
        """The question that a decision answers."""
        question = self._choice if self._is_about_choice(sentence) else self._question
        return question if question and sentence.number - question.number <= _RAISED else None

    def is_answered(self, sentence: TalkStatement, *, is_chosen: bool) -> bool:
        """Whether a sentence makes the choice that a question offered: its words are those of a choice (`is_chosen`), or it is
        short and only names one of the options."""
        if not self._is_about_choice(sentence):
            return False
        options = [one for one in (self._choice, self.statement) if one]
        named = set(terms(sentence.text))
        is_option = (
            sentence.mood == STATED
            and 0 < len(sentence.bare.split()) <= _OPTION
            and any(len(named & set(terms(one.text))) * 2 > len(named) for one in options)
        )
        return is_chosen or is_option

    def _is_about_choice(self, sentence: TalkStatement) -> bool:
        choice = self._choice
        return sentence.role != "assistant" and choice is not None and 0 < sentence.number - choice.number <= _RAISED


class _ThreadReader:
    """Reads messages in order, and tracks problems and requests until they are closed."""

    def __init__(self) -> None:
        self._found: list[DraftEpisode] = []
        self._problems: list[Thread] = []
        self._requests: list[Thread] = []
        self._latest = _Latest()
        self._stated: TalkStatement | None = None
        """The last plain statement of a user: a problem or a wish, if an action follows."""
        self._topic: Thread | None = None
        """The problem or request that the last message of a user is about."""
        self._last_question = 0
        """The number of the last message in which the assistant asked a question or made an offer."""
        self._failed: set[str] = set()
        """The programs that failed when they were last run."""
        self._cause: TalkStatement | None = None
        """The last cause or finding: a breakthrough if a speaker is glad of it."""

    def take(self, number: int, sentences: Sequence[Moment]) -> None:
        """Reads the sentences of message `number`."""
        if not sentences:
            return
        if sentences[0].statement.role == "tool":
            self._take_tool(sentences[0])
            return
        marks = {mark for one in sentences for mark in one.marks}
        if (
            self._topic
            and sentences[0].statement.role != "assistant"
            and not self._goes_on(self._topic, sentences, marks)
        ):
            self._topic = None
        # Reports of earlier work come first: a sentence of the same message may open the same problem again.
        if PERSISTS in marks:
            # A report that it persists, so soon after the end of a thread, means that it never ended.
            before = self._found[-1] if self._found else None
            if before and before.kind in (SOLVED, COMPLETED) and number - before.last <= _REACTION:
                self._found.pop()
                self._problems.append(Thread(before.opening))
            for thread in self._problems[-1:]:
                thread.action, thread.last = None, number
        elif sentences[0].statement.role != "assistant":
            self._answer(number, sentences, marks)
        is_turn = WITHDRAWN in marks and number > 1
        if is_turn:
            self._turn(sentences)
        for one in sentences:
            self._take_sentence(one.statement, one.marks - {DECIDED} if is_turn else one.marks)
            if self._topic:
                self._topic.subject |= subject(one.statement)
        for one in sentences:
            self._latest.take(one)
            if one.statement.role == "assistant" and one.statement.mood in (ASKED, OFFERED):
                self._last_question = number

    def _goes_on(self, topic: Thread, sentences: Sequence[Moment], marks: AbstractSet[str]) -> bool:
        """Whether a message of a user is still about the topic: it is a reply, refers to it or shares terms with it."""
        first = sentences[0].statement
        # A decision may be the solution of the problem, but a rule for the future is a new subject.
        if any(_RULE.search(one.statement.bare) for one in sentences if DECIDED in one.marks):
            return False
        if not marks.isdisjoint(_REPLIES) or all(one.statement.mood == PHATIC for one in sentences):
            return True
        if _POINTING.search(first.bare) or not subject(first):
            return True
        if any(subject(one.statement) & topic.subject for one in sentences):
            return True
        if first.who != topic.opening.who:
            return marks.isdisjoint((REQUEST, PROBLEM))
        is_answer = self._last_question == first.number - 1
        return is_answer and REQUEST not in marks and all(one.statement.mood != ASKED for one in sentences)

    def finish(self) -> list[DraftEpisode]:
        """All episodes, with the problems that are still open."""
        for problem in tuple(self._problems):
            if problem.action:  # no objection followed, so it counts as solved
                self._close(problem, problem.action, problem.last)
            else:
                self._give_up(problem, problem.last)
        return self._found

    def _take_tool(self, one: Moment) -> None:
        """Reads the result of a tool: a program that failed before and passes now has been mended."""
        number, marks = one.statement.number, one.marks
        program = one.statement.text.partition(" ")[0]
        thread = self._problems[-1] if self._problems else None
        if thread and thread.is_near(one.statement):
            thread.last = max(thread.last, number)
            is_mended = PASSED in marks and program in self._failed
            if PASSED in marks and (thread.action or is_mended):
                self._close(thread, thread.action or thread.opening, number)
            elif FAILED in marks:
                thread.action = None
        if FAILED in marks:
            self._failed.add(program)
        elif PASSED in marks:
            self._failed.discard(program)
            for request in self._requests:
                request.has_passed = True

    def _answer(self, number: int, sentences: Sequence[Moment], marks: AbstractSet[str]) -> None:
        """Handles a user's reaction to the assistant's last message."""
        if GLAD in marks and PROBLEM not in marks:
            self._surprise(number)
        if DISMAY in marks and self._latest.statement and not self._is_about_problem(sentences[0].statement):
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
        # A short message without objection accepts the solution, as thanks do.
        words = sum(len(one.statement.bare.split()) for one in sentences)
        is_plain = all(one.statement.mood in (STATED, PHATIC) for one in sentences)
        is_consent = (
            is_plain
            and marks.isdisjoint((PROBLEM, PERSISTS, REQUEST, DISMAY))
            and words <= _BRIEF
            and not _OBJECTION.match(sentences[0].statement.bare)
        )
        if thread and done and number - done.number <= _REACTION and (PRAISE in marks or is_consent):
            self._close(thread, done, number)

    def _take_sentence(self, sentence: TalkStatement, marks: AbstractSet[str]) -> None:
        if CAUSE in marks and self._is_about_problem(sentence, FAR) and sentence.role == "assistant":
            self._found.append(DraftEpisode(BREAKTHROUGH, sentence.number, sentence.number, sentence, sentence))
        elif CAUSE in marks or FINDING in marks:
            self._cause = sentence
        if CURED in marks or DONE in marks:
            self._end(sentence, marks)
        elif ACTION in marks:
            self._act(sentence)
        elif PROBLEM in marks:
            # Decisions and rules name problems as their reasons.
            if DECIDED not in marks and not _RULE.search(sentence.bare):
                self._open_problem(sentence)
        elif sentence.role == "assistant" and sentence.mood == STATED:
            request = self._requests[-1] if self._requests else None
            if request and request.has_passed and not request.terms.isdisjoint(terms(sentence.text)):
                self._close(request, sentence, sentence.number)
        elif (
            sentence.mood == STATED
            and not marks
            and len(sentence.bare.split()) >= _WORTH
            and not _RULE.search(sentence.bare)
        ):
            self._stated = sentence
        if DECIDED in marks or self._latest.is_answered(sentence, is_chosen=CHOSEN in marks):
            opening = self._latest.question(sentence) or sentence
            self._found.append(DraftEpisode(DECISION, opening.number, sentence.number, opening, sentence))
        if DEFERRED in marks and self._is_about_problem(sentence):
            self._give_up(self._problems[-1], sentence.number)
        if REQUEST in marks and not (self._topic in self._problems and self._is_about_problem(sentence)):
            self._ask(sentence)

    def _turn(self, sentences: Sequence[Moment]) -> None:
        """Handles a change of direction: it ends all requests and the latest problems, and is an episode."""
        self._requests.clear()
        if (
            self._found
            and self._found[-1].kind == COMPLETED
            and sentences[0].statement.number - self._found[-1].last <= _REACTION
        ):
            self._found.pop()  # the work just completed is withdrawn
        self._problems = [one for one in self._problems if sentences[0].statement.number - one.last > 2 * _REACTION]
        opening = next(one.statement for one in sentences if WITHDRAWN in one.marks)
        choice = next((one.statement for one in sentences if DECIDED in one.marks), opening)
        self._found.append(DraftEpisode(PIVOT, opening.number, opening.number, opening, choice))

    def _surprise(self, number: int) -> None:
        """Turns the latest cause or finding into a breakthrough, as a speaker is glad of it."""
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

    def _open_problem(self, sentence: TalkStatement) -> None:
        thread = self._problems[-1] if self._problems else None
        is_same = thread and (sentence.number - thread.last <= 1 or thread.shares(sentence) or not subject(sentence))
        if thread and is_same and thread.is_near(sentence):
            thread.last = sentence.number
            return
        self._topic = Thread(sentence)
        self._problems.append(self._topic)

    def _give_up(self, problem: Thread, number: int) -> None:
        self._problems.remove(problem)
        if not problem.is_latent and subject(problem.opening):
            self._found.append(DraftEpisode(ISSUE, problem.opening.number, number, problem.opening))

    def _ask(self, sentence: TalkStatement) -> None:
        """Opens a request, or extends the last one by the assistant's promise to do it."""
        before = self._requests[-1] if self._requests else None
        if before and sentence.role == "assistant" and sentence.number - before.last <= _REACTION:
            before.last = sentence.number
        else:
            self._topic = Thread(sentence)
            self._requests = [*self._requests[-5:], self._topic]

    def _act(self, sentence: TalkStatement) -> None:
        thread = self._answered(sentence)
        if thread in self._problems:
            assert thread is not None
            thread.action, thread.last = sentence, sentence.number
        elif thread:
            self._close(thread, sentence, sentence.number)
        elif stated := self._take_stated(sentence):
            stated.action, stated.last = sentence, sentence.number

    def _end(self, sentence: TalkStatement, marks: AbstractSet[str]) -> None:
        """Ends the problem or task that a sentence reports as over; without one, extends the last episode."""
        before = self._found[-1] if self._found else None
        if thread := self._answered(sentence, is_cured=CURED in marks):
            # `Works now.` has no terms: the action before it makes the better outcome.
            outcome = sentence if subject(sentence) else thread.action
            if outcome is None:
                thread.has_passed, thread.last = True, sentence.number
            else:
                self._close(thread, outcome, sentence.number)
        elif CURED in marks and (stated := self._take_stated(sentence, is_cured=True)):
            self._close(stated, sentence, sentence.number)
        elif before and before.kind in (SOLVED, COMPLETED) and sentence.number - before.last <= _REACTION:
            self._found[-1] = before._replace(last=sentence.number)
        # A bare `Done.` is no task.
        elif DONE in marks and len(subject(sentence)) >= _COMMON:
            self._found.append(DraftEpisode(COMPLETED, sentence.number, sentence.number, sentence, sentence))

    def _answered(self, sentence: TalkStatement, *, is_cured: bool = False) -> Thread | None:
        """The problem or request that a sentence answers: the current one if the sentence names it, refers to it, names
        nothing, or declares a problem solved; else the latest of those with most terms in common."""
        named = subject(sentence)
        # Nearness alone is not enough: whatever was done soon after a problem would count as its solution.
        topic = self._topic
        if topic in self._problems and (is_cured or _NOTING.search(sentence.bare)):
            is_about = is_cured
        else:
            is_about = (
                not named or topic is None or bool(named & topic.subject) or bool(_REFERRING.search(sentence.bare))
            )
        if topic in (*self._problems, *self._requests) and is_about:
            return topic
        known = [one for one in (*self._requests, *self._problems) if one.shares(sentence)]
        shared = [(len(named & one.subject), one.opening.number, one) for one in known]
        best = max(shared, key=lambda each: each[:2], default=None)
        return best[2] if best and best[0] >= _COMMON else None

    def _take_stated(self, sentence: TalkStatement, *, is_cured: bool = False) -> Thread | None:
        """Opens a problem for the last plain statement, if the assistant's `sentence` reports an action that names it or refers to it."""
        stated = self._stated
        is_assistant = sentence.role == "assistant" and sentence.who == sentence.role
        if not stated or not is_assistant or sentence.number - stated.number > 2 * _REACTION:
            return None
        thread = Thread(stated)
        thread.is_latent = True
        is_reference = (is_cured or sentence.number - stated.number == 1) and _REFERRING.search(sentence.bare)
        if not is_reference and subject(sentence).isdisjoint(thread.subject):
            return None
        if _NOTING.search(sentence.bare) and not (is_cured or thread.is_wish()):
            return None
        self._problems.append(thread)
        self._stated = None
        return thread

    def _close(self, thread: Thread, closing: TalkStatement, last: int) -> None:
        """Closes a solved problem or a completed request at message `last`: an episode, if its opening identifies it."""
        is_problem = thread in self._problems
        (self._problems if is_problem else self._requests).remove(thread)
        kind = SOLVED if is_problem and not thread.is_wish() else COMPLETED
        if subject(thread.opening):
            self._found.append(DraftEpisode(kind, thread.opening.number, last, thread.opening, closing))

    def _is_about_problem(self, sentence: TalkStatement, reach: int = _REACTION) -> bool:
        thread = self._problems[-1] if self._problems else None
        return thread is not None and sentence.number - thread.last <= reach
