"""Summaries of messages, made of their own sentences, word for word, each with who said it.

To add a summarizer of chunks: one line in CHUNK_SUMMARIZERS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from memcli.conversation.moments import (
    ACTION,
    CAUSE,
    CURED,
    DECIDED,
    DONE,
    FINDING,
    PERSISTS,
    PROBLEM,
    WITHDRAWN,
    Moment,
    moments,
)
from memcli.conversation.statements import ASKED, PLANNED, STATED
from memcli.model.conversation import Message
from memcli.regex import regex
from memcli.summarize.summaries import weigh
from memcli.text.words import terms

Summarize = Callable[[Sequence[Message]], str]

_OF_SESSION, _OF_CHUNK = 4, 3
"""The most sentences of a summary."""
_WEIGHTS: Mapping[str, float] = {
    DECIDED: 1.0, DONE: 0.9, CURED: 0.9, CAUSE: 0.7, WITHDRAWN: 0.6, FINDING: 0.5, ACTION: 0.5, PROBLEM: 0.6, PERSISTS: 0.2,
}  # fmt: skip
"""What a sentence weighs more for what it does."""
_SAME = 0.7
"""Sentences that share more of their terms say the same."""
_LEAST = 3
"""A sentence of fewer terms says too little by itself."""
_WEAK, _VOID = 0.5, 0.2
_DANGLING = regex(r"(?:this|that|these|those|it|they|he|she|there|here|so|then|also|but|and|actually|same|done|now)\b")


def of_session(messages: Sequence[Message]) -> str:
    """What happened, in two to four sentences: decisions, problems, what was done and how it ended. Empty if nothing did."""
    return _lines(_best(_facts(messages), _OF_SESSION))


def of_chunk(messages: Sequence[Message]) -> str:
    """A summary of the messages by their statements, or by their questions where there are none."""
    facts = _facts(messages)
    asked = [one for message in messages for one in moments(message) if one.statement.mood == ASKED]
    return _lines(_best(facts or asked, _OF_CHUNK))


CHUNK_SUMMARIZERS: Mapping[str, Summarize] = {"local": of_chunk}
DEFAULT_CHUNK_SUMMARIZER = "local"


def _facts(messages: Sequence[Message]) -> list[Moment]:
    """The sentences that state something, and the plans that decide something."""
    found = chain.from_iterable(moments(message) for message in messages if message.role != "tool")
    return [
        one for one in found if one.statement.mood == STATED or (one.statement.mood == PLANNED and DECIDED in one.marks)
    ]


def _best(found: Sequence[Moment], most: int) -> list[Moment]:
    """The best sentences in their order, no two of which say the same."""
    sets = [frozenset(terms(one.statement.text)) for one in found]
    scores = weigh([one.statement.text for one in found], sets, is_document=False)
    # of each change of plan, the last decision before it is void
    decisions: list[int] = []
    void = set()
    for n, one in enumerate(found):
        if WITHDRAWN in one.marks and decisions:
            void.add(decisions.pop())
        elif DECIDED in one.marks:
            decisions.append(n)
    for n, one in enumerate(found):
        scores[n] += max((_WEIGHTS.get(mark, 0.0) for mark in one.marks), default=0.0)
        if len(sets[n]) < _LEAST or _DANGLING.match(one.statement.bare):
            scores[n] *= _WEAK
        scores[n] = round(scores[n] * (_VOID if n in void else 1.0), 6)
    chosen: list[int] = []
    for n in sorted(range(len(found)), key=lambda n: (-scores[n], n)):
        if len(chosen) < most and not any(
            len(sets[n] & sets[m]) > _SAME * min(len(sets[n]), len(sets[m])) for m in chosen
        ):
            chosen.append(n)
    return [found[n] for n in sorted(chosen)]


def _lines(chosen: Sequence[Moment]) -> str:
    return "\n".join(f"{one.statement.who}: {one.statement.text}" for one in chosen)
