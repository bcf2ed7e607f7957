"""Compaction: what must go when a space would hold more than its `max_objects`."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from memcli.clock import days_between
from memcli.errors import RefusedError
from memcli.model.memory import Memory
from memcli.ports import Shelf

_FADE_DAYS = 30.0
_DIGITS = 9  # the exponential's last digits differ between machines, and must decide nothing


def surplus(
    objects: Sequence[Memory], excess: int, how: str, now: str, spared: Collection[str] = frozenset()
) -> list[Memory]:
    """The `excess` memories that are worth least; fewer when there are not so many that may go.

    `fifo`: those that were not touched for longest. `value`: forgotten and superseded ones, then by
    importance, confidence and recency. Equal ones go by age, then id. Pinned ones and the ids in `spared` never go.
    """
    if excess <= 0:
        return []
    free = [m for m in objects if not m.pinned and m.id not in spared]
    if how == "fifo":
        return sorted(free, key=lambda m: m.order)[:excess]
    return sorted(free, key=lambda m: (_is_told(m), value(m, now), *m.order))[:excess]


def room_for(shelf: Shelf, added: int, now: str, spared: Collection[str]) -> frozenset[str]:
    """The ids that must go from `shelf`, to which `added` memories have been added, so that it holds what it may.

    What was just written is `spared`. Setting `max_objects` is consent to compaction. Raises RefusedError when
    too few may go.
    """
    policy, name = shelf.header.policy, shelf.header.name
    if added <= 0 or policy.max_objects is None or shelf.size <= policy.max_objects:
        return frozenset()
    full = f"space {name!r} is limited to {_count(policy.max_objects)} (policy.max_objects)"
    excess = shelf.size - policy.max_objects
    gone = surplus(shelf.load().objects, excess, policy.compaction, now, spared)
    if len(gone) < excess:
        raise RefusedError(
            f"{full}; {excess} would have to be removed, but only {len(gone)} can be; nothing was stored",
            "unpin some, store fewer at once, or raise max_objects",
        )
    return frozenset(memory.id for memory in gone)


def value(memory: Memory, now: str) -> float:
    """What a memory is worth, 0..1: importance x confidence x recency, which fades to 1/e in 30 days."""
    recency = math.exp(-days_between(memory.updated_at, now) / _FADE_DAYS)
    return round(memory.effective_importance() * memory.confidence * recency, _DIGITS)


def _count(n: int) -> str:
    return "1 memory" if n == 1 else f"{n} memories"


def _is_told(memory: Memory) -> bool:
    return memory.active and memory.superseded_by is None
