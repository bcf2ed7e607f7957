"""What the tables of the index have of one memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memcli.extras.postgres.snapshot import clean
from memcli.index.tables import WEIGHTS
from memcli.index.update import records_of
from memcli.model.memory import Memory
from memcli.model.recall import FIELDS
from memcli.record import Record

_MOST = 32_767  # of a smallint
_PASSAGE = ("n", "form", "first", "last", "heading", "is_versioned")

Records = Mapping[str, Sequence[Mapping[str, Any]]]
"""Records to insert, by table."""


class Tally(Record):
    """What memories add to the sums over a space, and their distinct terms, each with the number of memories it is in."""

    memories: int
    tokens: int
    fields: tuple[int, ...]
    passages: int
    terms: int
    lexemes: Mapping[str, int]


def records(space: str, memory: Memory, row: int, *, tells: bool) -> tuple[Records, Tally]:
    """The records of a memory, and what it adds to the sums."""
    own = records_of(memory, tells=tells)
    weights, size = _weights(own.fields)
    found: dict[str, list[dict[str, Any]]] = {
        "entry": [dict(own.entry)],
        "field": [dict(zip(FIELDS, own.fields, strict=True))],
        "term": [{"size": size, "lexemes": list(weights), "weights": list(weights.values())}],
        "passage": [{**dict(zip(_PASSAGE, one, strict=False)), "key": f"\\x{one[-1].hex()}"} for one in own.passages],
        "link": [{"target": to, "relation": relation, "weight": weight} for to, relation, weight in own.links],
        "anchor": [{"file": file, "first": first, "last": last} for file, first, last in own.anchors],
    }
    lengths = tuple(text.count(" ") + bool(text) for text in own.fields)
    length = sum(last - first for _, _, first, last, *_ in own.passages)
    tally = Tally(1, size, lengths, len(own.passages), length, dict.fromkeys(weights, 1))
    at = {"space": space, "row": row}
    return {table: [_clean({**at, **one}) for one in ones] for table, ones in found.items()}, tally


def total(tallies: Iterable[tuple[Tally, int]]) -> Tally:
    """The sum of tallies, each times 1 or -1."""
    numbers = [0] * (4 + len(FIELDS))
    lexemes: Counter[str] = Counter()
    for one, sign in tallies:
        own = (one.memories, one.tokens, *one.fields, one.passages, one.terms)
        numbers = [a + sign * b for a, b in zip(numbers, own, strict=True)]
        if sign < 0:
            lexemes.subtract(one.lexemes)
        else:  # to count the terms of one memory is many times as fast as to add numbers to numbers
            lexemes.update(iter(one.lexemes) if one.memories == 1 else one.lexemes)
    memories, tokens, *fields, cut, length = numbers
    return Tally(memories, tokens, tuple(fields), cut, length, lexemes)


def _weights(texts: Sequence[str]) -> tuple[dict[str, int], int]:
    """Twice what the occurrences of each word count together, and how many words there are.

    A word ends where one of SQLite's full-text search does, which takes no apostrophe: both choose the same candidates.
    """
    found: dict[str, int] = {}
    size = 0
    for text, weight in zip(texts, WEIGHTS, strict=True):
        words = text.replace("'", " ").split()
        size += len(words)
        for word, count in Counter(words).items():
            found[word] = found.get(word, 0) + count * int(2 * weight)
    return {word: min(_MOST, weight) for word, weight in found.items()}, size


def _clean(values: dict[str, Any]) -> dict[str, Any]:
    """The values with text as PostgreSQL takes it: without NUL and halves of characters."""
    return {name: clean(value) if type(value) is str else value for name, value in values.items()}
