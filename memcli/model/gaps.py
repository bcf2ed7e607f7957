"""Gaps: questions that nothing answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memcli.record import Record, replace

MAX_GAPS = 200
"""How many are kept: those asked most often, and of these the latest."""
MAX_TOPIC = 200


class Gap(Record):
    """A topic that was asked of a space and found nothing, without secrets: how often, first and last when."""

    topic: str
    space: str
    count: int
    first_at: str
    last_at: str

    @property
    def key(self) -> tuple[str, str]:
        """Equal for topics that differ in case, spaces and punctuation at their ends."""
        return self.space, " ".join(self.topic.casefold().split()).strip(" ?!.,:;")


class GapTopic(Record):
    """What some gaps are about, the first of them first."""

    name: str
    gaps: tuple[Gap, ...]


def in_order(gaps: Iterable[Gap]) -> list[Gap]:
    """The most frequent first, then the latest, then by topic."""
    ordered = sorted(gaps, key=lambda gap: (gap.space, gap.topic))
    ordered.sort(key=lambda gap: gap.last_at, reverse=True)
    ordered.sort(key=lambda gap: -gap.count)
    return ordered


def with_gap(gaps: Sequence[Gap], new: Gap) -> list[Gap]:
    """The gaps with one more, in order. The new one is kept even if all others were asked more often."""
    old = next((gap for gap in gaps if gap.key == new.key), None)
    if old is not None:
        new = replace(old, count=old.count + new.count, last_at=max(old.last_at, new.last_at))
    rest = in_order(gap for gap in gaps if gap.key != new.key)[: MAX_GAPS - 1]
    return in_order([*rest, new])
