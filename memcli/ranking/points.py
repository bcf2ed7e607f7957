"""Three backends without a model. `basic` adds points for relevance, pins, preferences, and the topic's words in path, summaries and text.

`hybrid` adds a graph of entities: rare names that memories share with the topic, with pinned memories, and with the
memories that score best. An entity is a name that several memories may share: a part of a path, a tag, a source, a
speaker, a group, an identifier in a summary.

`patricia` adds a compressed trie over the segments of paths: the more segments a topic matches, the more points. It is
a radix tree (D. Morrison: "PATRICIA - Practical Algorithm To Retrieve Information Coded in Alphanumeric", 1968) whose keys
are runs of letters of any kind, here the segments of paths; nodes with one child are merged with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from memcli.model.recall import FIELDS, Entry
from memcli.ranking.lexical import idf
from memcli.ranking.scorer import Parts, ScoreInput, ScoringScheme, nonzero
from memcli.text.words import query_terms, simple_terms, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.index.view import IndexedSpace

RELEVANCE: Mapping[str, float] = {"high": 3.0, "medium": 2.0, "low": 1.0}
PINNED = 2.0
FIELD_POINTS: Mapping[str, float] = {"path": 3.0, "tags": 2.0, "summary": 2.0, "raw": 1.0, "content": 1.0}
PREFERRED_KIND = 1.5
PREFERRED_TAG = 1.0
OWN_WEIGHTS: Mapping[str, float] = {"keyword": 1.0, "importance": 1.0}
"""The default weights of words and relevance (`--weights`)."""


def points(given: ScoreInput, row: int) -> dict[str, float]:
    """The parts of the score of a row: relevance, pin, preferences, and the words of the topic in each field."""
    entry, query, counts = given.entries[row], given.query, given.stats.counts.get(row, {})
    why = {"relevance": given.weights["importance"] * RELEVANCE.get(entry.relevance, RELEVANCE["medium"])}
    for n, field in enumerate(FIELDS):
        found = FIELD_POINTS[field] * sum(1 for numbers in counts.values() if numbers[n])
        if found:
            why[field] = given.weights["keyword"] * found
    if entry.pinned:
        why["pinned"] = PINNED
    if entry.kind in query.prefer_kinds:
        why["prefer_kind"] = PREFERRED_KIND
    shared = sum(1 for tag in query.prefer_tags if tag in entry.tags)
    if shared:
        why["prefer_tag"] = PREFERRED_TAG * shared
    return why


BASIC = ScoringScheme(lambda given: {row: points(given, row) for row in given.entries}, OWN_WEIGHTS)
"""Memories without a word of the topic do not match."""

ENTITY_POINTS = 1.0
"""The points of an entity of the topic that only one of very many memories has."""
PINNED_POINTS = 0.5
"""The most points of an entity of pinned memories; it makes no memory match."""
SPREAD_SHARE = 0.4
"""The share of the points of a memory that another one gets through the rarest shared entity."""
SOURCES = 20
"""The number of the best memories whose points spread."""

_TOPICAL = (*FIELD_POINTS, "entities")
RARE = 30
"""The most memories with an entity through which points spread; more have too little in common."""

_STEM = 3
"""The first letters of a part of an identifier, which stemming does not change."""


class Entities:
    """The entities of each memory, and the memories of each entity."""

    def __init__(self, named: Mapping[int, Iterable[str]]) -> None:
        self._of = {row: tuple(sorted(set(names))) for row, names in named.items()}
        self._rows: dict[str, list[int]] = {}
        for row, names in self._of.items():
            for name in names:
                self._rows.setdefault(name, []).append(row)

    def of(self, row: int) -> tuple[str, ...]:
        """The entities of a memory, sorted."""
        return self._of.get(row, ())

    def rows(self, name: str) -> Sequence[int]:
        """The memories with an entity."""
        return self._rows.get(name, ())

    def rarity(self, name: str) -> float:
        """The rarity of an entity, from 0, if all memories have it, to 1, if one of very many has it."""
        most = idf(len(self._of), 1)
        return idf(len(self._of), len(self.rows(name))) / most if most else 0.0

    def spread(self, energy: Mapping[int, float]) -> dict[int, float]:
        """One step of spreading activation (F. Crestani, 1997): the energy that each memory gets from others by shared entities.

        An entity passes on the energy of the most active memory that has it, times its rarity, to all others with it; that
        memory itself gets the energy of the second.
        """
        ties = sorted({name for row in energy for name in self.of(row) if 1 < len(self.rows(name)) <= RARE})
        gained: dict[int, float] = {}
        for name in ties:
            given = sorted((energy.get(row, 0.0) for row in self.rows(name)), reverse=True)[:2]
            for row in self.rows(name):
                active = given[1] if energy.get(row, 0.0) == given[0] else given[0]
                gained[row] = max(gained.get(row, 0.0), self.rarity(name) * active)
        return {row: gain for row, gain in gained.items() if gain}


def identifiers(words: Sequence[str]) -> Iterator[str]:
    """The terms of a text that are identifiers: with an underscore or a digit, or followed by the terms of their parts."""
    for n, word in enumerate(words):
        if not word.isalpha():
            if not word.isdigit():
                yield word
            continue
        first, second = (*(after[:_STEM] for after in words[n + 1 : n + 3]), "", "")[:2]
        if second and word.startswith(first) and word.find(second, len(first)) > 0:
            yield word


def _hybrid(given: ScoreInput) -> Parts:
    graph: Entities = given.structure
    words = frozenset(query_terms(given.query.topic))
    named = {row for word in words for row in graph.rows(word) if graph.rarity(word) > 0}
    parts = {}
    for row in (row for row in {*given.stats.counts, *named} if row in given.visible):
        parts[row] = points(given, row)
        parts[row]["entities"] = ENTITY_POINTS * sum(graph.rarity(name) for name in graph.of(row) if name in words)
    # The best-shared entity counts, not their number: many pins must not drown the topic.
    pinned = {row for row in given.pinned() if row in given.visible}
    wanted = {name for row in pinned for name in graph.of(row)}
    for row, why in parts.items():
        if row not in pinned:
            shared = max((graph.rarity(name) for name in graph.of(row) if name in wanted), default=0.0)
            why["pinned_entities"] = PINNED_POINTS * shared
    # One step from the best answers over the rare entities that they share.
    scores = {row: sum(why.get(part, 0.0) for part in _TOPICAL) for row, why in parts.items()}
    best = sorted(scores, key=lambda row: (-round(scores[row], 6), given.entries[row].id))[:SOURCES]
    for row, gain in graph.spread({row: scores[row] for row in best}).items():
        if row not in parts:
            parts[row] = points(given, row)
        parts[row]["spread"] = SPREAD_SHARE * gain
    return {row: nonzero(why) for row, why in parts.items()}


def _entities(view: IndexedSpace, entries: Mapping[int, Entry]) -> Entities:
    known = view.terms()
    named = {}
    for row, entry in entries.items():
        path, tags, source, summary = known[row]
        names = {*path, *tags, *source, *terms(entry.speaker), *identifiers(summary)}
        if source:
            names.add(f"source:{' '.join(source)}")
        if entry.group:
            names.add(f"group:{entry.group}")
        named[row] = names
    return Entities(named)


HYBRID = ScoringScheme(_hybrid, OWN_WEIGHTS, build=_entities)


PREFIX_POINTS = 3.0
"""The points of each segment that the topic shares with the beginning of a path."""
INNER_POINTS = 1.5
"""The points of each segment that the topic shares with a path from a later segment on."""
MAX_WORDS = 64
"""The most words of a topic at which a path may begin."""
MAX_DEPTH = 16
MAX_COMPOUND = 3
"""The most words of a topic that form one segment, such as `force-push`."""

_PATH = re.compile(r"[^\s/]*(?:/[^\s/]+)+/?")


Value = tuple[int, bool]
"""A row, and whether the key is its whole path."""


class Trie:
    """Rows under keys, which are sequences of letters. A node has a run of letters (`label`), the values of the key that ends
    with it, in the order of insertion, and its children by their next letter."""

    __slots__ = ("children", "label", "values")

    def __init__(self, label: tuple[str, ...] = ()) -> None:
        self.label = label
        self.values: list[Value] = []
        self.children: dict[str, Trie] = {}

    def insert(self, key: Sequence[str], value: Value) -> None:
        """Adds a value under the key."""
        node, rest = self, tuple(key)
        while rest:
            child = node.children.get(rest[0])
            if child is None:
                child = node.children[rest[0]] = Trie(rest)
            shared = _shared(child.label, rest)
            if shared < len(child.label):
                # The label is split: its first letters become a node above this one.
                above = Trie(child.label[:shared])
                child.label = child.label[shared:]
                above.children[child.label[0]] = child
                child = node.children[rest[0]] = above
            node, rest = child, rest[shared:]
        node.values.append(value)

    def matches(self, key: Sequence[str]) -> Iterator[tuple[int, Value]]:
        """The values whose keys share their first letters with `key`, each with the number of these, most first."""
        steps: list[tuple[int, Trie]] = []
        rest = tuple(key)
        on = self.children.get(rest[0]) if rest else None
        while on is not None:
            shared = _shared(on.label, rest)
            steps.append((shared, on))
            rest = rest[shared:]
            on = on.children.get(rest[0]) if rest and shared == len(on.label) else None
        depths = accumulate(shared for shared, _ in steps)
        inner = [node for _, node in steps[1:]]
        passed = list(zip(depths, (node for _, node in steps), [*inner, None][: len(steps)], strict=True))
        for depth, node, after in reversed(passed):
            for value in node.all(without=after):
                yield depth, value

    def all(self, without: Trie | None = None) -> Iterator[Value]:
        """The values of this node and those below, except those of the subtree `without`."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield from node.values
            waiting.extend(child for child in node.children.values() if child is not without)


def _shared(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    """The number of letters of their common prefix."""
    length = min(len(left), len(right))
    return next((n for n in range(length) if left[n] != right[n]), length)


def paths_of(_: IndexedSpace, entries: Mapping[int, Entry]) -> Trie:
    """The trie of all suffixes of paths, so that a topic need not begin at the root."""
    paths = Trie()
    for row, entry in entries.items():
        letters = letters_of(entry.path)
        for start in range(len(letters)):
            paths.insert(letters[start:], (row, start == 0))
    return paths


def letters_of(path: str) -> tuple[str, ...]:
    """The segments of a path, each as its terms, so that `auth/Tokens` equals `auth/token`."""
    return tuple(letter for segment in path.split("/") if (letter := _letter(segment)))


@lru_cache(maxsize=50_000)
def _letter(segment: str) -> str:
    """The terms of a segment; one of only stop words is its own term."""
    return " ".join(simple_terms(segment)) or segment.lower()


def _patricia(given: ScoreInput) -> Parts:
    """The points of `basic` and those of the deepest match in the trie.

    A path in the topic is looked up as it is; without one, a path may begin at any word of the topic.
    """
    paths: Trie = given.structure
    depths: dict[int, float] = {}
    topic = given.query.topic
    starts = [letters_of(match[0])[:MAX_DEPTH] for match in _PATH.finditer(topic[: MAX_WORDS * 64])]
    if not starts:
        words = simple_terms(topic)
        starts = [
            (" ".join(words[n : n + length]), *words[n + length : n + MAX_DEPTH])
            for n in range(min(len(words), MAX_WORDS))
            for length in range(1, MAX_COMPOUND + 1)
        ]
    for start in starts:
        for depth, (row, is_whole) in paths.matches(start):
            found = depth * (PREFIX_POINTS if is_whole else INNER_POINTS)
            depths[row] = max(depths.get(row, 0.0), found)
    parts = {row: points(given, row) for row in {**given.stats.counts, **depths} if row in given.visible}
    for row in parts.keys() & depths.keys():
        parts[row]["prefix"] = depths[row]
    return parts


PATRICIA = ScoringScheme(
    _patricia, OWN_WEIGHTS, terms=lambda topic: list(dict.fromkeys(simple_terms(topic))), build=paths_of
)
