"""A long conversation as chunks of older messages, each with a summary and topics, and the recent messages as they are."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.conversation.statements import PHATIC, statements
from memcli.conversation.summary import CHUNK_SUMMARIZERS, DEFAULT_CHUNK_SUMMARIZER
from memcli.model.conversation import Message
from memcli.model.space import Policy
from memcli.model.tokens import count_tokens
from memcli.record import Record
from memcli.summarize.keyphrases import MAX_TAGS, extract
from memcli.summarize.sentences import Sentence
from memcli.text.passages import PROSE

_DEFAULT = Policy()
RECENT, SIZE, MOST = _DEFAULT.recent_messages, _DEFAULT.chunk_size, _DEFAULT.max_chunks
"""How many of the last messages stay as they are, how many form a chunk, and how many chunks there are at most."""

_EARLIER, _THEN = "Earlier: ", "Then: "
_MERGED = 1_500
"""The most characters of a summary that was merged; beyond, its oldest sentences but the first go."""
_KEPT = 10
"""How many of the chunks that were merged last fill a merged summary."""
_TOPICS = 8
"""The most topics of a merged chunk."""


class Chunk(Record):
    """Messages that were folded. `turns` are the numbers of the first and the last, `tokens` what they took themselves."""

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
    summarizer: str = DEFAULT_CHUNK_SUMMARIZER,
) -> tuple[list[Chunk], list[Message]]:
    """The chunks of a conversation, and at least its last `recent` messages: what fills no chunk yet stays as it is.

    `before` are the chunks of the messages that come before `messages`, if these are not all: the result is the same.
    """
    summarize = CHUNK_SUMMARIZERS[summarizer]
    chunks = list(before)
    # a merged chunk counts for each of those that it was made of
    number = 1 + (chunks[-1].turns[1] - chunks[0].turns[0] + 1) // size if chunks else 1
    older = max(0, len(messages) - recent) // size * size
    for start in range(0, older, size):
        part = messages[start : start + size]
        said = [one for message in part for one in statements(message) if one.mood != PHATIC]
        topics = extract([Sentence(one.text, PROSE) for one in said], limit=MAX_TAGS)
        tokens = sum(count_tokens(message.text) for message in part)
        turns = part[0].number, part[-1].number
        chunks.append(Chunk(number, turns, summarize(part), tuple(phrase.tag for phrase in topics), tokens))
        number += 1
        if len(chunks) > most:
            chunks[:2] = [merged(chunks[0], chunks[1])]
    return chunks, list(messages[older:])


def skipped(count: int, recent: int = RECENT, size: int = SIZE, most: int = MOST) -> int:
    """How many of the first messages of a conversation of `count` need not be read, beside those of its first chunk.

    Of what is merged, a summary keeps the first sentence and the latest ones: what is between them need not be summed up.
    """
    older = max(0, count - recent) // size
    return max(0, older - most - _KEPT) * size


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
