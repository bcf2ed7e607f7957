"""Retention: which memories have lived longer than their space lets them."""

from __future__ import annotations

from dataclasses import dataclass

from memcli.clock import days_between
from memcli.model.memory import Memory
from memcli.model.space import Space


@dataclass(frozen=True, slots=True)
class RetentionPlan:
    """What a collection would purge. `pinned` are expired too, but stay."""

    ttl_days: float | None
    expired: tuple[Memory, ...] = ()
    pinned: tuple[Memory, ...] = ()


def plan_retention(space: Space, now: str, ttl_days: float | None = None) -> RetentionPlan:
    """The memories last updated more than `ttl_days` (or the policy's) ago. None: nothing ever expires."""
    limit = space.policy.ttl_days if ttl_days is None else ttl_days
    if limit is None:
        return RetentionPlan(None)
    old = [m for m in space.objects if days_between(m.updated_at, now) > limit]
    return RetentionPlan(limit, tuple(m for m in old if not m.pinned), tuple(m for m in old if m.pinned))
