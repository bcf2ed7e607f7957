"""The snapshot of a context: the parts of a conversation, or of another text, that are most relevant to a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log, sqrt

from memcli.model.analysis import terms
from memcli.model.conversation import Message
from memcli.model.memory import Json
from memcli.model.pieces import split
from memcli.model.tokens import count_tokens
from memcli.record import Record

TOKENS = 1_000
"""The tokens of a snapshot when no number is given."""

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""How similar each of some texts is to a topic, up to 1."""


class Part(Record):
    """A piece of text. `source` says where it stands: `SESSION#NUMBER` for a message, a name for another text."""

    source: str
    role: str
    text: str


def of_messages(messages: Iterable[Message], session: str) -> list[Part]:
    """The messages in parts; what tools did is left out."""
    return [
        Part(f"{session}#{message.number}", message.role, text)
        for message in messages
        if message.role != "tool"
        for text in split(message.text)
    ]


def of_text(text: str, source: str) -> list[Part]:
    """A text in parts, as from standard input."""
    return [Part(source, "", part) for part in split(text)]


def choose(
    parts: Sequence[Part], topic: str, tokens: int = TOKENS, similarity: Similarity | None = None
) -> list[dict[str, Json]]:
    """The parts most similar to the topic that take at most `tokens` together, in their order: a memory's `context`.

    A part that does not fit is passed over for the next. Those that have nothing in common with the topic are left out.
    """
    values = (similarity or by_words)(topic, [part.text for part in parts])
    chosen: dict[int, float] = {}
    left = tokens
    seen = set()
    for value, n in sorted(((round(value, 4), n) for n, value in enumerate(values)), key=lambda one: (-one[0], one[1])):
        cost = count_tokens(parts[n].text)
        if value > 0 and cost <= left and parts[n].text not in seen:
            chosen[n] = value
            left -= cost
            seen.add(parts[n].text)
    return [
        {"source": parts[n].source, "role": parts[n].role, "text": parts[n].text, "similarity": value}
        for n, value in sorted(chosen.items())
    ]


def tokens_of(context: Iterable[dict[str, Json]]) -> int:
    """The tokens that the texts of a snapshot take."""
    return sum(count_tokens(str(piece["text"])) for piece in context)


def by_words(topic: str, texts: Sequence[str]) -> list[float]:
    """The cosine of the terms of each text with those of the topic, rare ones weighing more; rounded."""
    sets = [frozenset(terms(text)) for text in texts]
    wanted = frozenset(terms(topic))
    counts = Counter(term for of in sets for term in of)
    weight = {term: log(1 + len(sets) / (0.5 + counts[term])) for term in {*counts, *wanted}}
    return [_cosine(wanted, of, weight) for of in sets]


def _cosine(one: frozenset[str], other: frozenset[str], weight: dict[str, float]) -> float:
    shared, mine, others = (sum(weight[term] ** 2 for term in sorted(of)) for of in (one & other, one, other))
    return round(shared / sqrt(mine * others), 6) if shared else 0.0
