"""`graph`: a cascade. What answers by meaning comes first; what is tied to that by tags, clusters and links follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.model.analysis import query_terms
from memcli.model.recall import Entry, Hit, Query, Ranking, RowSet, TermStats
from memcli.ranking.clusters import tight
from memcli.ranking.floor import coverage
from memcli.ranking.graph_walk import TieGraph, WalkPath, cascade, graph_of
from memcli.ranking.lexical import bm25f
from memcli.ranking.memo import Memo
from memcli.ranking.style import style_of
from memcli.ranking.weights import factors, ordered, preferences

if TYPE_CHECKING:
    from memcli.ports.views import Rankable

THRESHOLD = 0.4
"""The cosine from which on a memory answers by meaning."""
STARTS = 10
"""So many memories start the cascade, at most."""
WORDS = 0.6
"""The strength of a start that has all words of the topic; it fills the places that meaning leaves."""
OWN_MEANING, OWN_WORDS = 0.1, 0.6
"""What a memory adds by its own meaning and words once it was reached: many are reached by paths of one strength."""
CANDIDATES = 100
LARGEST_TAG = 0.05
"""A tag on more than this share of the space ties nothing together, unless it is on ALWAYS_TIED or fewer."""
ALWAYS_TIED = 10
CLUSTER_SIZE = 12
CLUSTER_COSINE = 0.05
"""The mean with the others of a cluster; that of texts with nothing in common is 0."""
SUMMARY_TERMS = 48
OWN_WEIGHTS: Mapping[str, float] = {"semantic": 1.0, "keyword": 1.0}
"""What starts by meaning and by words count unless the query says otherwise (`--weights`)."""


class GraphRanker:
    """The strength of the best path to each memory, at most two steps from a start.

    Starts are the nearest in meaning, and with the places that are left the best by words. `--weights` sets
    `semantic` and `keyword`, the strength of either kind of start.
    """

    def __init__(self) -> None:
        self._kept: Memo[tuple[Mapping[int, Entry], TieGraph]] = Memo()

    def rank(self, query: Query, view: Rankable) -> Ranking:
        visible = view.visible(query)
        stats = view.lexical(query_terms(query.topic), CANDIDATES)
        dense = view.dense([query.topic], query.deadline)
        cosines = dense[0].by_row() if dense else {}
        entries, graph = self._kept.get(view, visible, lambda: _build(view, visible))
        weights = factors(query, OWN_WEIGHTS)
        words = _words(stats, entries)
        starts = _starts(words, cosines, entries, weights)
        hits = []
        for row, path in cascade(graph, starts).items():
            why = {
                ">".join(path.ties): path.strength,
                "own_meaning": OWN_MEANING * max(0.0, cosines.get(row, 0.0)) * weights["semantic"],
                "own_words": OWN_WORDS * words.get(row, 0.0) * weights["keyword"],
                **preferences(entries[row], query),
            }
            hits.append(Hit(entries[row], sum(why.values()), {name: part for name, part in why.items() if part}))
        return Ranking(ordered(hits, query), is_degraded=dense is None)


def _build(view: Rankable, visible: RowSet) -> tuple[Mapping[int, Entry], TieGraph]:
    entries = {row: entry for row, entry in view.entries().items() if row in visible}
    tags: dict[str, list[int]] = {}
    for row, entry in entries.items():
        for tag in entry.tags:
            tags.setdefault(tag, []).append(row)
    most = max(ALWAYS_TIED, LARGEST_TAG * len(entries))
    links = [link for link in view.links() if link[0] in entries and link[1] in entries]
    return entries, graph_of(
        {tag: rows for tag, rows in tags.items() if len(rows) <= most}, _clusters(view, entries), links
    )


def _clusters(view: Rankable, entries: Mapping[int, Entry]) -> list[Sequence[int]]:
    if not entries:
        return []
    known = view.terms()
    rows = sorted(entries, key=lambda row: entries[row].id)
    texts = []
    for row in rows:
        path, tags, source, summary = known[row]
        counts: dict[str, int] = {}
        for term in (*path, *tags, *source, *summary[:SUMMARY_TERMS]):
            counts[term] = counts.get(term, 0) + 1
        texts.append(counts)
    return [[rows[n] for n in members] for members in tight(texts, CLUSTER_SIZE, CLUSTER_COSINE)]


def _words(stats: TermStats, entries: Mapping[int, Entry]) -> dict[int, float]:
    """How well each row answers in words: 1 for the best of those with all words of the topic."""
    counts = {row: found for row, found in stats.counts.items() if row in entries}
    seen = TermStats(stats.size, stats.frequencies, counts, stats.lengths)
    scores = bm25f(seen, {row: style_of(entries[row]) for row in counts})
    shares = coverage(seen)
    best = max(scores, key=lambda row: scores[row], default=None)
    return {row: shares[best] * score / scores[best] for row, score in scores.items()} if best is not None else {}


def _starts(
    words: Mapping[int, float], cosines: Mapping[int, float], entries: Mapping[int, Entry], weights: Mapping[str, float]
) -> dict[int, WalkPath]:
    def best(scores: Mapping[int, float], places: int) -> list[int]:
        return sorted(scores, key=lambda row: (-round(scores[row], 6), entries[row].id))[:places]

    near = {row: cosine for row, cosine in cosines.items() if cosine >= THRESHOLD and row in entries}
    starts = {row: WalkPath(near[row] * weights["semantic"], ("meaning",)) for row in best(near, STARTS)}
    others = {row: share for row, share in words.items() if row not in starts}
    for row in best(others, STARTS - len(starts)):
        starts[row] = WalkPath(WORDS * words[row] * weights["keyword"], ("words",))
    return starts
