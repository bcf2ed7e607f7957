"""Summaries of messages, made of their own sentences, verbatim, each with its speaker; and a long conversation as chunks of
older messages, each with a summary and topics, followed by the recent messages unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from memcli.conversation.statements import ASKED, PHATIC, PLANNED, STATED, statements
from memcli.model.conversation import Message
from memcli.model.space import Policy
from memcli.model.tokens import count_tokens
from memcli.record import Record
from memcli.regex import regex
from memcli.summarize.keyphrases import MAX_TAGS, extract
from memcli.summarize.sentences import Sentence
from memcli.summarize.summaries import weigh
from memcli.text.passages import PROSE
from memcli.text.words import terms

_OF_SESSION, _OF_CHUNK = 4, 3
"""The most sentences of a summary."""
_WEIGHTS: Mapping[str, float] = {
    DECIDED: 1.0, DONE: 0.9, CURED: 0.9, CAUSE: 0.7, WITHDRAWN: 0.6, FINDING: 0.5, ACTION: 0.5, PROBLEM: 0.6, PERSISTS: 0.2,
}  # fmt: skip
"""The weight that a mark adds to the score of its sentence."""
_SAME = 0.7
"""The share of the terms of the shorter of two sentences above which one repeats the other."""
_LEAST = 3
"""A sentence of fewer terms cannot be understood alone, and is weighed down."""
_WEAK, _VOID = 0.5, 0.2
_DANGLING = regex(r"(?:this|that|these|those|it|they|he|she|there|here|so|then|also|but|and|actually|same|done|now)\b")


def of_session(messages: Sequence[Message]) -> str:
    """A session in at most four sentences: decisions, problems, actions and their outcome. Empty if nothing was stated."""
    return _summary(_facts(messages), _OF_SESSION)


def of_chunk(messages: Sequence[Message]) -> str:
    """A summary of the messages by their statements, or by their questions where there are none."""
    facts = _facts(messages)
    questions = [one for message in messages for one in moments(message) if one.statement.mood == ASKED]
    return _summary(facts or questions, _OF_CHUNK)


def _facts(messages: Sequence[Message]) -> list[Moment]:
    """The sentences that state something, and the plans that decide something."""
    found = chain.from_iterable(moments(message) for message in messages if message.role != "tool")
    return [
        one for one in found if one.statement.mood == STATED or (one.statement.mood == PLANNED and DECIDED in one.marks)
    ]


def _summary(found: Sequence[Moment], most: int) -> str:
    """The `most` best sentences in their order, one a line with its speaker, no two of which repeat each other."""
    sets = [frozenset(terms(one.statement.text)) for one in found]
    scores = weigh([one.statement.text for one in found], sets, is_document=False)
    # Each change of plan voids the last decision before it.
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
    statements = (found[n].statement for n in sorted(chosen))
    return "\n".join(f"{one.who}: {one.text}" for one in statements)


_DEFAULT = Policy()
RECENT, SIZE, MOST = _DEFAULT.recent_messages, _DEFAULT.chunk_size, _DEFAULT.max_chunks
"""How many of the last messages are not folded, how many messages form a chunk, and the most chunks."""

_EARLIER, _THEN = "Earlier: ", "Then: "
_MERGED = 1_500
"""The most characters of a merged summary; beyond, its oldest sentences except the first are dropped."""
_LATEST = 10
"""So many of the chunks that were merged last are enough to fill a merged summary."""
_TOPICS = 8
"""The most topics of a merged chunk."""


class Chunk(Record):
    """Folded messages. `turns` are the numbers of the first and the last, `tokens` is the number of tokens of their full text."""

    number: int
    turns: tuple[int, int]
    summary: str
    topics: tuple[str, ...]
    tokens: int


def fold(
    messages: Sequence[Message],
    recent: int = RECENT,
    size: int = SIZE,
    most: int = MOST,
    before: Sequence[Chunk] = (),
) -> tuple[list[Chunk], list[Message]]:
    """The chunks of a conversation, and its last messages: at least `recent`, and those that do not fill a chunk yet.

    `before` are the chunks of the messages that come before `messages`, if these are not all: the result is the same.
    """
    chunks = list(before)
    # Numbers continue as if chunks had not been merged.
    number = 1 + (chunks[-1].turns[1] - chunks[0].turns[0] + 1) // size if chunks else 1
    older = max(0, len(messages) - recent) // size * size
    for start in range(0, older, size):
        part = messages[start : start + size]
        sentences = [one for message in part for one in statements(message) if one.mood != PHATIC]
        topics = extract([Sentence(one.text, PROSE) for one in sentences], limit=MAX_TAGS)
        tokens = sum(count_tokens(message.text) for message in part)
        turns = part[0].number, part[-1].number
        chunks.append(Chunk(number, turns, of_chunk(part), tuple(tag for tag, _ in topics), tokens))
        number += 1
        if len(chunks) > most:
            chunks[:2] = [merged(chunks[0], chunks[1])]
    return chunks, list(messages[older:])


def skipped(count: int, recent: int = RECENT, size: int = SIZE, most: int = MOST) -> int:
    """How many messages after the first chunk need not be read to fold a conversation of `count` messages.

    A merged summary retains its first sentence and the latest ones, so the chunks between them need no summary.
    """
    older = max(0, count - recent) // size
    return max(0, older - most - _LATEST) * size


def merged(first: Chunk, second: Chunk) -> Chunk:
    """Two neighbouring chunks as one."""
    topics = list(dict.fromkeys((*first.topics, *second.topics)))
    earlier = [line for line in first.summary.removeprefix(_EARLIER).replace(f"\n\n{_THEN}", "\n").split("\n") if line]
    while len(earlier) > 1 and len("\n".join(earlier)) + len(second.summary) > _MERGED:
        del earlier[1 if len(earlier) > 2 else 0]
    summary = first.summary or second.summary
    if earlier and second.summary:
        summary = "\n".join([f"{_EARLIER}{earlier[0]}", *earlier[1:], "", f"{_THEN}{second.summary}"])
    return Chunk(
        first.number,
        (first.turns[0], second.turns[1]),
        summary,
        tuple(topics if len(topics) <= _TOPICS else [*topics[: _TOPICS // 2], *topics[-_TOPICS // 2 :]]),
        first.tokens + second.tokens,
    )
