"""Linked: what is linked to a memory that answers is evidence with it, though its own words and meaning say little."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from memcli.model.recall import Entry, RowSet
from memcli.model.references import MUTUAL
from memcli.ranking.style import Style, style_of

if TYPE_CHECKING:
    from memcli.ports.views import Entries

CONTRADICTS = "contradicts"
STARTS = 10
START_SHARE = 0.5
"""So many of the best memories, with at least this share of the best score, bring in what they are linked to."""
ALONG: Mapping[str, float] = {
    CONTRADICTS: 0.97, "depends_on": 0.6, "derived_from": 0.6, "relates_to": 0.6, "supersedes": 0.6,
}  # fmt: skip
"""What share of the score of a memory goes to what it leads to, times the weight of the link; a contradiction stands
right below."""
LEAST = 0.35
"""A link along which less than this share goes brings nothing in."""
MOST = 4
"""So many of its links, the strongest, bring something in for each memory, beside all that contradicts it."""
AGAINST = 0.8
"""The share of that which goes the other way, to what leads to it; what holds in both directions is not lessened."""


def add_linked(
    parts: dict[int, dict[str, float]],
    entries: dict[int, Entry],
    styles: dict[int, Style],
    view: Entries,
    visible: RowSet,
) -> None:
    """Raises what is linked to the best memories to its share of their scores, and brings in what was no candidate.

    One step: what was raised raises nothing itself. The part of the score is named by the memory that it comes from.
    """
    scores = {row: sum(why.values()) for row, why in parts.items()}
    least = START_SHARE * max(scores.values(), default=0.0)
    ordered = sorted(scores, key=lambda row: (-round(scores[row], 6), entries[row].id))
    best = [row for row in ordered[:STARTS] if scores[row] >= least]
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
            (tie for tie in ties.get(start, ()) if tie[0] >= LEAST),
            key=lambda tie: (-tie[0], -round(scores.get(tie[1], 0.0), 6), tie[2], tie[1]),
        )
        against = [tie for tie in ends if tie[2] == CONTRADICTS]
        for share, end, relation in [*against, *(tie for tie in ends if tie[2] != CONTRADICTS)][: len(against) + MOST]:
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
