"""One problem or request of a conversation, from the sentence that begins it to what ends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memcli.conversation.moments import DISMAY, PERSISTS, PROBLEM, REQUEST, Moment
from memcli.conversation.statements import PHATIC, STATED, TalkStatement
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
    """What a sentence names; nothing where it could be said of any task or problem, as `Done.`"""
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

    def is_named(self) -> bool:
        """Whether its opening says what it is about."""
        return bool(subject(self.opening))

    def is_near(self, said: TalkStatement) -> bool:
        return said.number - self.last <= FAR or self.shares(said)

    def shares(self, said: TalkStatement) -> bool:
        """Whether the sentence has a third of its terms, or of those that began this, in common with the other."""
        others = set(terms(said.text))
        return 3 * len(self.terms & others) >= max(2, min(len(self.terms), len(others)))


def is_consent(said: Sequence[Moment]) -> bool:
    """Whether a user's message is short and objects to nothing: after something was done, it takes it as done."""
    words = sum(len(one.statement.bare.split()) for one in said)
    marks = {mark for one in said for mark in one.marks}
    is_plain = all(one.statement.mood in (STATED, PHATIC) for one in said) and not marks & {
        PROBLEM,
        PERSISTS,
        REQUEST,
        DISMAY,
    }
    return is_plain and words <= _BRIEF and not _OBJECTION.match(said[0].statement.bare)
