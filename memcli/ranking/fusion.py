"""`fusion`: words and meaning together, with priors on what is known of a memory beside its text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from memcli.clock import days_between
from memcli.model.analysis import query_terms, without_terms
from memcli.model.recall import Entry, Hit, Query, TermStats
from memcli.ports import SpaceView
from memcli.ranking.lexical import bm25f

LEXICAL_CANDIDATES = 400
DENSE_CANDIDATES = 200
COMMON_SHARE = 0.25
"""A word in more than this share of a space says nothing of which memory is meant, but sways a small encoder."""

LEXICAL_WEIGHT = 0.45
DENSE_WEIGHT = 0.55
RECENCY_WEIGHT = 0.02
IMPORTANCE_WEIGHT = 0.02
RELEVANCE_WEIGHT = 0.02
PREFERENCE_WEIGHT = 0.1
RECENCY_DAYS = 30.0
NEIGHBOUR_SHARE = 0.15
NEIGHBOUR_REACH = 2
GROUP_SHARE: Mapping[str, float] = {"diff": 1.0}
DEFAULT_GROUP_SHARE = 0.3
GROUP_TOP = 3
FLOOR_COSINE = 0.25

_RELEVANCE: Mapping[str, float] = {"high": 1.0, "medium": 0.5, "low": 0.0}


class FusionRanker:
    """Min-max weighted BM25F and MiniLM; a memory matches when it shares a word or comes near in meaning."""

    def rank(self, query: Query, view: SpaceView) -> list[Hit]:
        terms = query_terms(query.topic)
        stats = view.lexical(terms, LEXICAL_CANDIDATES)
        cosines = view.dense(_distinctive(query.topic, stats)) if query.topic.strip() else None
        visible = view.visible(query)
        rows = sorted({r for r in (*stats.counts, *_nearest(cosines)) if r in visible})
        entries = view.entries(rows)
        kinds = {row: entry.kind for row, entry in view.entries(sorted(stats.counts)).items()}
        words = _scaled(bm25f(stats, kinds), low=0.0)  # a memory without any of the words has 0
        meaning = _scaled(cosines or {}, low=min((cosines or {0: 0.0}).values(), default=0.0))
        parts = {
            row: _components(entry, query, words.get(row, 0.0), meaning.get(row, 0.0), cosines is not None)
            for row, entry in entries.items()
        }
        _add_context(parts, entries, view)
        hits = [Hit(entries[row], sum(why.values()), why) for row, why in parts.items()]
        return sorted(hits, key=lambda hit: hit.order)


def _distinctive(topic: str, stats: TermStats) -> str:
    common = frozenset(t for t, n in stats.frequencies.items() if n > COMMON_SHARE * stats.size)
    return without_terms(topic, common)


def _nearest(cosines: Mapping[int, float] | None) -> Iterable[int]:
    if not cosines:
        return ()
    near = [row for row, score in cosines.items() if score >= FLOOR_COSINE]
    return sorted(near, key=lambda row: (-round(cosines[row], 6), row))[:DENSE_CANDIDATES]


def _scaled(scores: Mapping[int, float], low: float) -> dict[int, float]:
    """The scores stretched so that `low` becomes 0 and the most becomes 1."""
    high = max(scores.values(), default=0.0)
    return {row: (score - low) / max(high - low, 1e-9) for row, score in scores.items()}


def _components(entry: Entry, query: Query, words: float, meaning: float, has_dense: bool) -> dict[str, float]:
    lexical, dense = (LEXICAL_WEIGHT, DENSE_WEIGHT) if has_dense else (1.0, 0.0)
    why = {
        "words": lexical * words,
        "meaning": dense * meaning,
        "recency": RECENCY_WEIGHT * math.exp(-days_between(entry.created_at, query.now) / RECENCY_DAYS),
        "importance": IMPORTANCE_WEIGHT * entry.importance * entry.confidence,
        "relevance": RELEVANCE_WEIGHT * _RELEVANCE.get(entry.relevance, 0.5),
    }
    if entry.kind in query.prefer_kinds:
        why["prefer_kind"] = PREFERENCE_WEIGHT
    if any(tag in entry.tags for tag in query.prefer_tags):
        why["prefer_tag"] = PREFERENCE_WEIGHT
    return why


def _add_context(parts: Mapping[int, dict[str, float]], entries: Mapping[int, Entry], view: SpaceView) -> None:
    """Adds to each memory a share of its neighbours' scores, and draws it towards the best of its group.

    A memory without a group is a group of its own, so that it is drawn nowhere.
    """
    names = sorted({entry.group for entry in entries.values() if entry.group})
    own = {row: why["words"] + why["meaning"] for row, why in parts.items()}
    for rows in view.groups(names).values():
        scores = [own.get(row, 0.0) for row in rows]
        smooth = [
            score + sum(
                NEIGHBOUR_SHARE / reach * scores[m]
                for reach in range(1, NEIGHBOUR_REACH + 1)
                for m in (n - reach, n + reach)
                if 0 <= m < len(scores)
            )
            for n, score in enumerate(scores)
        ]  # fmt: skip
        top = sorted(smooth, reverse=True)[:GROUP_TOP]
        best = sum(top) / len(top)
        for n, row in enumerate(rows):
            if row in parts:
                share = GROUP_SHARE.get(entries[row].kind, DEFAULT_GROUP_SHARE)
                parts[row]["neighbours"] = smooth[n] - scores[n]
                parts[row]["group"] = (best - smooth[n]) * share / (1 + share)
