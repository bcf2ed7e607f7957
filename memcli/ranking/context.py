"""What surrounds a memory: the ones before and after it, its group (a session, a commit), and what it is linked to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.model.recall import Entry, Hit, RecordedGroup, RowSet, TermStats
from memcli.model.references import MUTUAL
from memcli.ranking.lexical import Style, group_bm25, style_of
from memcli.record import replace

if TYPE_CHECKING:
    from memcli.ports.views import SpaceView


REACH = 2
BEST_OF_GROUP = 4
"""How many memories of a group, at most, speak for it."""


def add_context(
    parts: Mapping[int, dict[str, float]],
    styles: Mapping[int, Style],
    groups: Mapping[str, RecordedGroup],
    stats: TermStats,
) -> None:
    """Adds `neighbours` and `group` to the parts of each score, which are then weighed against the memory's own.

    The result is a weighted mean, so that a memory with a group has no head start over one without.
    """
    answers = _scaled(group_bm25(stats, groups))
    own = {row: sum(why.values()) for row, why in parts.items()}
    for name, group in groups.items():
        known = [(n, row) for n, row in enumerate(group.rows) if row in styles]
        beside = {row: _beside(own, group.rows, n, styles[row]) for n, row in known}
        others = [0.0] * min(BEST_OF_GROUP, len(group.rows) - len(known))
        top = sorted([*(own.get(row, 0.0) + beside[row] for _, row in known), *others], reverse=True)[:BEST_OF_GROUP]
        best = sum(top) / len(top)
        for _, row in known:
            if row not in parts:
                continue
            why, style = parts[row], styles[row]
            why["neighbours"] = (own[row] + beside[row]) - own[row]
            total = 1 + style.group + style.group_words
            for part in why:
                why[part] /= total
            why["group"] = (style.group * best + style.group_words * answers.get(name, 0.0)) / total


def level(parts: Mapping[int, dict[str, float]], styles: Mapping[int, Style], best: Mapping[int, float]) -> None:
    """Scales each style so that its first says as much as the best passage of the style does, by `best`, that of each memory.

    Groups and whole texts order the memories of one style; they do not lift them over another one.
    """
    by_style: dict[Style, list[int]] = {}
    for row in parts:
        by_style.setdefault(styles[row], []).append(row)
    for rows in by_style.values():
        peak = max(best.get(row, 0.0) for row in rows)
        high = max(sum(parts[row].values()) for row in rows)
        factor = peak / high if peak > 0 and high > 0 else 1.0
        for row in rows:
            for part in parts[row]:
                parts[row][part] *= factor


def _beside(own: Mapping[int, float], rows: Sequence[int], n: int, style: Style) -> float:
    """A share of the scores of the memories up to REACH before and after the row at `n`, less with distance."""
    if not style.neighbours:
        return 0.0
    found = 0.0
    for d in range(1, REACH + 1):
        for m in (n - d, n + d):
            if 0 <= m < len(rows) and rows[m] in own:
                found += style.neighbours / d * own[rows[m]]
    return found


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    high = max(scores.values(), default=0.0)
    return {name: score / high if high else 0.0 for name, score in scores.items()}


CONTRADICTS = "contradicts"
LINK_STARTS = 10
LINK_START_SHARE = 0.5
"""So many of the best memories, with at least this share of the best score, bring in what they are linked to."""
ALONG: Mapping[str, float] = {
    CONTRADICTS: 0.97, "depends_on": 0.6, "derived_from": 0.6, "relates_to": 0.6, "supersedes": 0.6,
}  # fmt: skip
"""What share of the score of a memory goes to what it leads to, times the weight of the link; a contradiction stands
right below."""
LEAST_LINK = 0.35
"""A link along which less than this share goes brings nothing in."""
MOST_LINKS = 4
"""So many of its links, the strongest, bring something in for each memory, beside all that contradicts it."""
AGAINST = 0.8
"""The share of that which goes the other way, to what leads to it; what holds in both directions is not lessened."""


def add_linked(
    parts: dict[int, dict[str, float]],
    entries: dict[int, Entry],
    styles: dict[int, Style],
    view: SpaceView,
    visible: RowSet,
) -> None:
    """Raises what is linked to the best memories to its share of their scores, and brings in what was no candidate.

    One step: what was raised raises nothing itself. The part of the score is named by the memory that it comes from.
    """
    scores = {row: sum(why.values()) for row, why in parts.items()}
    least = LINK_START_SHARE * max(scores.values(), default=0.0)
    ordered = sorted(scores, key=lambda row: (-round(scores[row], 6), entries[row].id))
    best = [row for row in ordered[:LINK_STARTS] if scores[row] >= least]
    links = view.links(best)
    if not links:
        return
    raised = _raised(best, links, scores, entries, visible)
    new = sorted(row for row in raised if row not in entries)
    if new:
        found = view.entries(new)
        entries |= found
        styles |= {row: style_of(entry) for row, entry in found.items()}
    for row, (score, via) in raised.items():
        why = parts.setdefault(row, {})
        why[via] = score - scores.get(row, 0.0)


def _raised(
    best: Iterable[int],
    links: list[tuple[int, int, str, float]],
    scores: Mapping[int, float],
    entries: Mapping[int, Entry],
    visible: RowSet,
) -> dict[int, tuple[float, str]]:
    """The score that each row linked to one of the best gets if that is more than its own, and by whom."""
    raised: dict[int, tuple[float, str]] = {}
    ties = _ties(frozenset(best), links, visible)
    for start in best:
        ends = sorted(
            (tie for tie in ties.get(start, ()) if tie[0] >= LEAST_LINK),
            key=lambda tie: (-tie[0], -round(scores.get(tie[1], 0.0), 6), tie[2], tie[1]),
        )
        against = [tie for tie in ends if tie[2] == CONTRADICTS]
        for share, end, relation in [*against, *(tie for tie in ends if tie[2] != CONTRADICTS)][
            : len(against) + MOST_LINKS
        ]:
            score = scores[start] * share
            if round(score, 6) > round(raised.get(end, (scores.get(end, 0.0), ""))[0], 6):
                raised[end] = score, f"via {entries[start].id} ({relation})"
    return raised


def _ties(
    best: Collection[int], links: Iterable[tuple[int, int, str, float]], visible: RowSet
) -> dict[int, list[tuple[float, int, str]]]:
    """For each of the best, which share of its score goes to which row, and by what relation."""
    ties: dict[int, list[tuple[float, int, str]]] = {}
    for start, end, relation, weight in links:
        share = ALONG.get(relation, 0.0) * (1.0 if relation == CONTRADICTS else weight)
        if start in best and end in visible:
            ties.setdefault(start, []).append((share, end, relation))
        if end in best and start in visible:
            back = share if relation in MUTUAL else share * AGAINST
            ties.setdefault(end, []).append((back, start, relation))
    return ties


def one_each(hits: Sequence[Hit], best: Mapping[int, float]) -> tuple[Hit, ...]:
    """The hits with the files of one commit as one entry, at the place of the first of them.

    It is the file with the passage that is best by itself, as `best` has it for each row; the others are named in `also`.
    """
    members: dict[str, list[Hit]] = {}
    for hit in hits:
        if hit.entry.commit:
            members.setdefault(hit.entry.commit, []).append(hit)
    entries = []
    for hit in hits:
        same = members.get(hit.entry.commit, [])
        if not same:
            entries.append(hit)
        elif hit is same[0]:
            chosen = max(same, key=lambda one: round(best.get(one.entry.row, 0.0), 6))
            also = tuple(one.entry.row for one in same if one is not chosen)
            entries.append(replace(chosen, score=hit.score, why=hit.why, also=also))
    return tuple(entries)
