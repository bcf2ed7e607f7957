"""The scorer of all backends except `fusion`: candidates, features and weights, as a `ScoringScheme` defines them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence

from memcli.model.recall import Entry, Hit, Query, Ranking, RowSet, TermStats
from memcli.ranking.lexical import check, ordered
from memcli.record import Record
from memcli.text.words import query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.index.view import IndexedSpace

Parts = dict[int, dict[str, float]]
"""The score of each row that matches, as named parts whose sum it is."""


class ScoreInput(Record):
    """The input of a backend: the query, the `visible` rows and the `entries` of the candidates, the counts of the topic's
    terms, the cosines to the topic, the factor of each component, and the `structure` that the backend built over the visible
    memories."""

    query: Query
    visible: RowSet
    entries: Mapping[int, Entry]
    stats: TermStats
    cosines: Mapping[int, float]
    weights: Mapping[str, float]
    pinned: Callable[[], Sequence[int]]
    structure: Any = None


class ScoringScheme(Record):
    """The scoring of one backend of recall.

    `score` returns the parts of each score; `own` has the default weights of its components. `terms` analyses the topic, and
    `candidates` limits the rows that share terms with it, if not 0. `build` makes the structure over the visible memories, for
    a backend whose candidates are all of them; the candidates of others are the rows that share a term with the topic.
    """

    score: Callable[[ScoreInput], Parts]
    own: Mapping[str, float]
    terms: Callable[[str], Sequence[str]] = query_terms
    candidates: int = 0
    uses_vectors: bool = False
    build: Callable[[IndexedSpace, Mapping[int, Entry]], Any] | None = None


class Scorer:
    """Ranks by one backend. The structure of a space is cached for queries with the same view and the same visible rows."""

    def __init__(self, backend: ScoringScheme) -> None:
        self._backend = backend
        # Weak, so that a process that stays does not hold the views of spaces that it has closed.
        self._built: tuple[weakref.ref[IndexedSpace], RowSet, Mapping[int, Entry], Any] | None = None

    def __call__(self, query: Query, view: IndexedSpace) -> Ranking:
        check(query)
        backend = self._backend
        visible = view.visible(query)
        stats = view.lexical(backend.terms(query.topic), backend.candidates or max(1, view.size))
        dense = view.dense([query.topic], query.deadline, patience=query.patience) if backend.uses_vectors else None
        entries, structure = self._over(view, visible, stats)
        cosines = dense[0].by_row() if dense else {}
        # By these factors the parts have the weights of the query instead of the defaults, which are above 0.
        weights = {name: query.weights.get(name, own) / own for name, own in backend.own.items()}
        parts = backend.score(ScoreInput(query, visible, entries, stats, cosines, weights, view.pinned, structure))
        hits = (Hit(entries[row], sum(why.values()), why) for row, why in parts.items())
        return Ranking(ordered(hits, query), is_degraded=backend.uses_vectors and dense is None)

    def _over(self, view: IndexedSpace, visible: RowSet, stats: TermStats) -> tuple[Mapping[int, Entry], Any]:
        """The entries of the candidates, and the structure over them."""
        if self._backend.build is None:
            return view.entries([row for row in stats.counts if row in visible]), None
        if self._built is not None:
            known, rows, entries, structure = self._built
            if known() is view and rows == visible:
                return entries, structure
        entries = {row: entry for row, entry in view.entries().items() if row in visible}
        structure = self._backend.build(view, entries)
        self._built = weakref.ref(view), visible, entries, structure
        return entries, structure


def nonzero(why: Mapping[str, float]) -> dict[str, float]:
    """The parts of a score without those that are 0."""
    return {name: part for name, part in why.items() if part}
