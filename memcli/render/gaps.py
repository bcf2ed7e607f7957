"""Questions that nothing answered, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memcli.model.gaps import Gap, GapTopic
from memcli.model.memory import Json
from memcli.render.clean import clean_line, grid

if TYPE_CHECKING:
    from memcli.app.gaps import Reviewed


def gap_rows(gaps: Sequence[Gap], topics: Sequence[GapTopic]) -> str:
    """A table of the gaps by topic, with their numbers among all; empty if there are none."""
    numbers = _numbers(gaps)
    rows = [
        [
            str(numbers[gap.key]),
            str(gap.count),
            gap.last_at[:10],
            gap.space,
            clean_line(topic.name),
            clean_line(gap.topic),
        ]
        for topic in topics
        for gap in topic.gaps
    ]
    return grid(["", "asked", "last", "space", "topic", "question"], rows) if rows else ""


def topics_json(gaps: Sequence[Gap], topics: Sequence[GapTopic]) -> list[dict[str, Json]]:
    """The topics, with the numbers of their gaps and how often these were asked."""
    numbers = _numbers(gaps)
    return [
        {
            "name": topic.name, "asked": sum(gap.count for gap in topic.gaps),
            "gaps": [numbers[gap.key] for gap in topic.gaps],
        }
        for topic in topics
    ]  # fmt: skip


def _numbers(gaps: Sequence[Gap]) -> dict[tuple[str, str], int]:
    return {gap.key: number for number, gap in enumerate(gaps, 1)}


def reviewed_lines(reviewed: Reviewed) -> Iterator[str]:
    """What became of the questions of a session that nothing answered."""
    for gap in reviewed.filled:
        yield clean_line(f"answered now: {gap.topic}")
    for gap in reviewed.open:
        yield clean_line(f"not answered: {gap.topic}")
    if reviewed.open:
        yield "answer these with `memcli remember`, or remove them with `memcli feedback gaps --close`"
