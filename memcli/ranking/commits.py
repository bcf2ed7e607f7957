"""Commits: the files of one are one entry of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.model.recall import Hit
from memcli.record import replace


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
