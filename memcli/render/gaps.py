"""Questions that nothing answered, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memcli.model.gaps import Gap
from memcli.render.clean import clean_line, grid

if TYPE_CHECKING:
    from memcli.app.gaps import Reviewed


def gap_rows(gaps: Sequence[Gap]) -> str:
    """A table with a number for each; empty if there are none."""
    rows = [
        [str(n), str(gap.count), gap.last_at[:10], gap.space, clean_line(gap.topic)] for n, gap in enumerate(gaps, 1)
    ]
    return grid(["", "asked", "last", "space", "question"], rows) if rows else ""


def reviewed_lines(reviewed: Reviewed) -> Iterator[str]:
    """What became of the questions of a session that nothing answered."""
    for gap in reviewed.filled:
        yield clean_line(f"answered now: {gap.topic}")
    for gap in reviewed.open:
        yield clean_line(f"not answered: {gap.topic}")
    if reviewed.open:
        yield "answer these with `memcli remember`, or remove them with `memcli gaps --close`"
