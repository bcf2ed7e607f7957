"""What surrounds a memory: the ones before and after it, and the group (a session, a commit) that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.model.recall import RecordedGroup, TermStats
from memcli.ranking.lexical import group_bm25
from memcli.ranking.style import Style

REACH = 2
BEST = 4
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
        others = [0.0] * min(BEST, len(group.rows) - len(known))
        top = sorted([*(own.get(row, 0.0) + beside[row] for _, row in known), *others], reverse=True)[:BEST]
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
