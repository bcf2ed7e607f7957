"""What of a conversation a language model is asked about: its last messages, and summaries of those before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from memcli.conversation.chunks import SIZE, Chunk, fold
from memcli.model.conversation import Message
from memcli.model.tokens import count_tokens, cut_tokens, end_of_tokens
from memcli.record import Record, replace

_MOST = 12_000
"""Tokens of the messages, together."""
_MOST_EACH = {"tool": 80}
_MOST_OTHERS = 800
"""Tokens of one message: what runs on is pasted."""
_MOST_CHUNKS = 20
_MOST_SUMMARY = 150
"""How many summaries there are, and the tokens of each."""


class Excerpt(Record):
    """The last messages, cut to some length, and summaries of those before them. `ends` says where each was cut."""

    chunks: Sequence[Chunk]
    messages: Sequence[Message]
    ends: Mapping[int, int]


def excerpt(messages: Sequence[Message]) -> Excerpt:
    """The excerpt of a conversation whose messages are numbered."""
    cut = [replace(message, text=cut_tokens(message.text, _most(message))) for message in messages]
    older = _older([count_tokens(message.text) for message in cut])
    chunks, _ = fold(messages[:older], recent=0, most=_MOST_CHUNKS)
    return Excerpt(
        [replace(chunk, summary=cut_tokens(chunk.summary, _MOST_SUMMARY)) for chunk in chunks if chunk.summary],
        cut[older:],
        {message.number: end_of_tokens(message.text, _most(message)) for message in messages[older:]},
    )


def _most(message: Message) -> int:
    return _MOST_EACH.get(message.role, _MOST_OTHERS)


def _older(sizes: Sequence[int]) -> int:
    """How many messages are too old to be sent: whole chunks."""
    fits = sum(total <= _MOST for total in accumulate(reversed(sizes)))
    return min(len(sizes) // SIZE, -(-(len(sizes) - fits) // SIZE)) * SIZE
