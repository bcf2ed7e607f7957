"""`patricia`: a compressed trie over the segments of paths; the deeper a topic goes down it, the higher what is there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from memcli.model.analysis import simple_terms
from memcli.model.recall import Entry, Hit, Query, Ranking
from memcli.ranking.memo import Memo
from memcli.ranking.points import points
from memcli.ranking.trie import Trie
from memcli.ranking.weights import ordered

if TYPE_CHECKING:
    from memcli.ports.views import Rankable

PREFIX_POINTS = 3.0
"""For each segment that topic and path share from the first segment of the path on."""
INNER_POINTS = 1.5
"""For each segment that they share from a later one on."""
MAX_WORDS = 64
"""So many words of a topic are tried as starts."""
MAX_DEPTH = 16
MAX_COMPOUND = 3
"""So many words of a topic may make up one segment, such as `force-push`."""

_PATH = re.compile(r"[^\s/]*(?:/[^\s/]+)+/?")

Paths = Trie[tuple[int, bool]]
"""Rows under each end of their paths, and whether that is the whole path."""


class PatriciaRanker:
    """The points of `basic` and those of the deepest match in the trie.

    What looks like a path in the topic is looked up as such; else every word of it may be where a path begins.
    `--weights` work as in `basic`.
    """

    def __init__(self) -> None:
        self._kept: Memo[tuple[Mapping[int, Entry], Paths]] = Memo()

    def rank(self, query: Query, view: Rankable) -> Ranking:
        visible = view.visible(query)

        def build() -> tuple[Mapping[int, Entry], Paths]:
            known = {row: entry for row, entry in view.entries().items() if row in visible}
            return known, paths_of(known)

        entries, paths = self._kept.get(view, visible, build)
        words = simple_terms(query.topic)
        stats = view.lexical(list(dict.fromkeys(words)), max(1, view.size))
        depths = depths_of(query.topic, words, paths)
        hits = []
        for row in (row for row in {**stats.counts, **depths} if row in visible):
            why = points(entries[row], stats.counts.get(row, {}), query)
            if row in depths:
                why["prefix"] = depths[row]
            hits.append(Hit(entries[row], sum(why.values()), why))
        return Ranking(ordered(hits, query))


def paths_of(entries: Mapping[int, Entry]) -> Paths:
    """The trie of all paths and of all that they end with, so that a topic need not begin at the root."""
    paths: Paths = Trie()
    for row, entry in entries.items():
        letters = letters_of(entry.path)
        for start in range(len(letters)):
            paths.insert(letters[start:], (row, start == 0))
    return paths


def letters_of(path: str) -> tuple[str, ...]:
    """The segments of a path, each as its terms: `auth/Tokens` and `auth/token` are the same."""
    return tuple(letter for segment in path.split("/") if (letter := _letter(segment)))


def depths_of(topic: str, words: list[str], paths: Paths) -> dict[int, float]:
    """The points of each row for its deepest match with the topic."""
    best: dict[int, float] = {}
    for start in _starts(topic, words):
        for depth, (row, is_whole) in paths.matches(start):
            found = depth * (PREFIX_POINTS if is_whole else INNER_POINTS)
            best[row] = max(best.get(row, 0.0), found)
    return best


def _starts(topic: str, words: list[str]) -> Iterator[tuple[str, ...]]:
    """The runs of letters to look up: the paths in the topic, or its words from each one on."""
    written = [letters_of(match[0])[:MAX_DEPTH] for match in _PATH.finditer(topic[: MAX_WORDS * 64])]
    if written:
        yield from written
        return
    for n in range(min(len(words), MAX_WORDS)):
        for length in range(1, MAX_COMPOUND + 1):
            yield (" ".join(words[n : n + length]), *words[n + length : n + MAX_DEPTH])


@lru_cache(maxsize=50_000)
def _letter(segment: str) -> str:
    """A segment of nothing but stop words stands for itself."""
    return " ".join(simple_terms(segment)) or segment.lower()
