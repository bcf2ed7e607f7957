"""The snapshot of a context: the parts of a conversation, or of another text, that are most relevant to a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log, sqrt

from memcli.model.conversation import Message
from memcli.model.memory import Json
from memcli.model.tokens import count_tokens
from memcli.record import Record
from memcli.text.passages import CHUNK_CHARACTERS, split
from memcli.text.words import terms

TOKENS = 1_000
"""The default size of a snapshot in tokens."""
_CHARACTERS_A_TOKEN = 2
"""A low estimate of characters for each token, so that several parts fit into the snapshot."""
_SHORTEST = 40
_CANDIDATES = 16
"""Parts of so many times the tokens of a snapshot are compared by meaning."""

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""How similar each of some texts is to a topic, up to 1."""


class SnapshotPart(Record):
    """A piece of text. `source` is `SESSION#NUMBER` for a message, and a name for another text."""

    source: str
    role: str
    text: str


def of_messages(messages: Iterable[Message], session: str, tokens: int = TOKENS) -> list[SnapshotPart]:
    """The messages in parts of which several fit into so many tokens; messages of tools are left out."""
    return [
        SnapshotPart(f"{session}#{message.number}", message.role, text)
        for message in messages
        if message.role != "tool"
        for text in split(message.text, _size(tokens))
    ]


def of_text(text: str, source: str, tokens: int = TOKENS) -> list[SnapshotPart]:
    """A text, as from standard input, in parts of which several fit into so many tokens."""
    return [SnapshotPart(source, "", part) for part in split(text, _size(tokens))]


def _size(tokens: int) -> int:
    return max(_SHORTEST, min(CHUNK_CHARACTERS, tokens * _CHARACTERS_A_TOKEN))


def candidates(parts: Sequence[SnapshotPart], topic: str, tokens: int = TOKENS) -> list[SnapshotPart]:
    """The parts that are worth comparing by meaning, in their order: all, or in a long conversation those that share most
    words with the topic and, among equals, the latest."""
    left = _CANDIDATES * max(tokens, TOKENS)
    likely = []
    for n in _ranked(by_words(topic, [part.text for part in parts])):
        left -= count_tokens(parts[n].text)
        if left < 0:
            break
        likely.append(n)
    return [parts[n] for n in sorted(likely)]


def choose(
    parts: Sequence[SnapshotPart], topic: str, tokens: int = TOKENS, similarity: Similarity | None = None
) -> list[dict[str, Json]]:
    """The parts most similar to the topic that take at most `tokens` together, most similar first: a memory's `context`.

    Of parts that are as similar as each other, the latest comes first. A part that does not fit is skipped.
    """
    values = [max(0.0, round(value, 4)) for value in (similarity or by_words)(topic, [part.text for part in parts])]
    chosen = []
    left = tokens
    seen = set()
    # Also parts without a shared word: with shared words alone a snapshot had a small part of what fits.
    for n in _ranked(values):
        part = parts[n]
        cost = count_tokens(part.text)
        if cost <= left and part.text not in seen:
            chosen.append({"source": part.source, "role": part.role, "text": part.text, "similarity": values[n]})
            left -= cost
            seen.add(part.text)
    return chosen


def _ranked(values: Sequence[float]) -> list[int]:
    """The positions of the values, the highest value first; among equal values the last first."""
    return sorted(range(len(values)), key=lambda n: (-values[n], -n))


def tokens_of(context: Iterable[dict[str, Json]]) -> int:
    """The tokens that the texts of a snapshot take."""
    return sum(count_tokens(str(piece["text"])) for piece in context)


def by_words(topic: str, texts: Sequence[str]) -> list[float]:
    """The cosine of the terms of each text with those of the topic, rare ones weighing more; rounded."""
    sets = [frozenset(terms(text)) for text in texts]
    wanted = frozenset(terms(topic))
    counts = Counter(term for of in sets for term in of)
    weight = {term: log(1 + len(sets) / (0.5 + counts[term])) for term in {*counts, *wanted}}
    found = []
    for one in sets:
        shared, mine, others = (sum(weight[term] ** 2 for term in sorted(of)) for of in (wanted & one, wanted, one))
        found.append(round(shared / sqrt(mine * others), 6) if shared else 0.0)
    return found
