"""`fusion`: words and meaning together, what surrounds a memory, what the question names, and priors.

The score of a memory is the sum of the parts that `--explain` shows. Words (BM25F) and meaning (the cosine of
MiniLM) are stretched to 0..1 over the space and weighed; see `style.py`, `context.py` and `mentions.py` for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.model.analysis import query_terms, without_terms
from memcli.model.recall import Entry, Evidence, Hit, Query, Ranking, TermStats
from memcli.ports import SpaceView
from memcli.ranking.context import add_context
from memcli.ranking.floor import coverage, has_stranger, judge
from memcli.ranking.lexical import bm25f
from memcli.ranking.mentions import dates, speaker
from memcli.ranking.style import style_of
from memcli.ranking.weights import check, ordered, preferences, recency

LEXICAL_CANDIDATES = 250
DENSE_CANDIDATES = 200
CONTEXT_CANDIDATES = 200
"""How many of the best rows have their groups looked at."""
KIN_GROUPS = 15
"""How many of these groups, from the best on, bring in members that were no candidates themselves."""
WHOLE_SHARE = 0.3
"""What the whole question counts in meaning; the rest is the question without common words."""
COMMON_SHARE = 0.25
"""A word in more than this share of a space says nothing of which memory is meant, but sways a small encoder."""

TAIL_SHARE = 0.45
"""What scores less than this share of the best does not match. It costs none of the answers among the first ten."""

DATE_WEIGHT = 0.35
SPEAKER_WEIGHT = 0.1
RECENCY_WEIGHT = 0.01
IMPORTANCE_WEIGHT = 0.01
RELEVANCE_WEIGHT = 0.02
STATED_SHARE = 0.3
"""What somebody took the trouble to state counts this much more than code, diffs and logs that say the same."""
STATED_KINDS = frozenset(
    ("decision", "fact", "preference", "procedure", "correction", "negative", "constraint", "goal")
)
_RELEVANCE: Mapping[str, float] = {"high": 1.0, "medium": 0.5, "low": 0.0}


class FusionRanker:
    """Words and meaning, min-max weighted. Without an embedder, words alone."""

    def rank(self, query: Query, view: SpaceView) -> Ranking:
        check(query)
        stats = view.lexical(query_terms(query.topic), LEXICAL_CANDIDATES)
        whole, cosines = _meaning(query, stats, view)
        visible = view.visible(query)
        rows = sorted(row for row in {*stats.counts, *_nearest(cosines or {})} if row in visible)
        is_degraded = cosines is None
        if not rows:
            return Ranking(is_degraded=is_degraded)
        evidence = _evidence(query.topic, stats, whole, rows)
        if not evidence.is_enough:
            return Ranking((), evidence, is_degraded)
        entries = view.entries(rows)
        leading = _leading_groups(_own(query, entries, stats, cosines), entries)
        groups = view.groups(leading)
        # A file of a commit that answers is found though nothing in the file itself does.
        near = (groups[name] for name in leading[:KIN_GROUPS])
        kin = {row for group in near for row in group.rows if row in visible and row not in entries}
        entries |= view.entries(sorted(kin))
        parts = _own(query, entries, stats, cosines)
        add_context(parts, entries, groups, stats)
        _add_mentions(parts, entries, query.topic)
        for row, why in parts.items():
            why.update(_priors(entries[row], query, sum(why.values())))
        return Ranking(_hits(parts, entries, query), evidence, is_degraded)


def _hits(parts: Mapping[int, Mapping[str, float]], entries: Mapping[int, Entry], query: Query) -> tuple[Hit, ...]:
    """The rows in order, without the tail that is far below the best."""
    hits = [Hit(entries[row], sum(why.values()), {k: v for k, v in why.items() if v}) for row, why in parts.items()]
    least = TAIL_SHARE * max(hit.score for hit in hits)
    return ordered((hit for hit in hits if hit.score >= least), query)


def _meaning(
    query: Query, stats: TermStats, view: SpaceView
) -> tuple[dict[int, float] | None, dict[int, float] | None]:
    """The cosines with the whole topic, and those to rank by: mostly without the words that are common in the space."""
    distinctive = _distinctive(query.topic, stats)
    texts = [query.topic] if distinctive == query.topic else [query.topic, distinctive]
    found = view.dense(texts, query.deadline)
    if found is None:
        return None, None
    whole, bare = found[0], found[-1]
    return whole, {row: (1 - WHOLE_SHARE) * bare[row] + WHOLE_SHARE * whole[row] for row in whole}


def _evidence(topic: str, stats: TermStats, whole: Mapping[int, float] | None, rows: Sequence[int]) -> Evidence:
    covered = coverage(stats)
    words = max((covered.get(row, 0.0) for row in rows), default=0.0)
    cosine = None if whole is None else max(whole.get(row, 0.0) for row in rows)
    return judge(words, cosine, stats.size, has_stranger(topic, stats.frequencies))


def _leading_groups(parts: Mapping[int, Mapping[str, float]], entries: Mapping[int, Entry]) -> list[str]:
    """The groups of the best rows, the group of the best row first."""
    best = sorted(parts, key=lambda row: (-round(sum(parts[row].values()), 6), entries[row].id))
    return [name for name in dict.fromkeys(entries[row].group for row in best[:CONTEXT_CANDIDATES]) if name]


def _distinctive(topic: str, stats: TermStats) -> str:
    common = frozenset(t for t, n in stats.frequencies.items() if n > COMMON_SHARE * stats.size)
    return without_terms(topic, common)


def _nearest(cosines: Mapping[int, float]) -> list[int]:
    """The rows with the best cosines; those that tie with the last one too, so that row numbers decide nothing."""
    best = sorted(cosines.values(), reverse=True)[:DENSE_CANDIDATES]
    least = round(best[-1], 6) if best else 0.0
    return [row for row, cosine in cosines.items() if round(cosine, 6) >= least]


def _own(
    query: Query, entries: Mapping[int, Entry], stats: TermStats, cosines: Mapping[int, float] | None
) -> dict[int, dict[str, float]]:
    """What each memory says by itself, in words and in meaning; the two weights add up to 1."""
    kinds = {row: entry.kind for row, entry in entries.items()}
    words = bm25f(_among(stats, kinds), kinds)
    high = max(words.values(), default=0.0) or 1.0
    near = max((cosines or {}).values(), default=0.0)
    far = min(0.0, min((cosines or {}).values(), default=0.0))
    parts = {}
    for row, entry in entries.items():
        lexical = style_of(entry.kind).lexical if cosines else 1.0
        parts[row] = {"words": query.weights.get("keyword", lexical) * words.get(row, 0.0) / high}
        if cosines:
            parts[row]["meaning"] = (
                query.weights.get("semantic", 1 - lexical) * (cosines.get(row, far) - far) / max(near - far, 1e-9)
            )
    return parts


def _among(stats: TermStats, kinds: Mapping[int, str]) -> TermStats:
    """The counts of these rows alone: what a filter hides must not set the scale."""
    counts = {row: found for row, found in stats.counts.items() if row in kinds}
    return TermStats(stats.size, stats.averages, stats.frequencies, counts, stats.lengths)


def _add_mentions(parts: Mapping[int, dict[str, float]], entries: Mapping[int, Entry], topic: str) -> None:
    named = dates(topic)
    who = speaker(topic, (entry.speaker for entry in entries.values()))
    for row, why in parts.items():
        entry = entries[row]
        if named:
            why["date"] = DATE_WEIGHT * max(date.match(entry.created_at) for date in named)
        if who and entry.speaker == who:
            why["speaker"] = SPEAKER_WEIGHT


def _priors(entry: Entry, query: Query, own: float) -> dict[str, float]:
    priors = {
        "stated": STATED_SHARE * own if entry.kind in STATED_KINDS else 0.0,
        "recency": query.weights.get("recency", RECENCY_WEIGHT) * recency(entry, query),
        "importance": query.weights.get("importance", IMPORTANCE_WEIGHT) * entry.importance * entry.confidence,
        "relevance": RELEVANCE_WEIGHT * _RELEVANCE.get(entry.relevance, _RELEVANCE["medium"]),
    }
    return {**priors, **preferences(entry, query)}
