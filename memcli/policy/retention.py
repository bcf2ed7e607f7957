"""Retention: which memories have lived longer than their space lets them, and whether the clock can be believed.

Ages count from `updated_at`. What is pinned stays, and so does what bears a time that is yet to come. Nothing is
purged by a clock that has gone back, or leapt ahead: to such a clock everything may seem old.
"""

from __future__ import annotations

from collections.abc import Iterable

from memcli.clock import days_between, normalize_time
from memcli.errors import UsageError
from memcli.model.memory import Memory
from memcli.model.space import Policy, Space
from memcli.policy.compaction import surplus
from memcli.record import Record

SKEW_DAYS = 1.0
"""How far the clocks of two machines may lie apart before one of them is not believed."""
LEAP_DAYS = 365.0
"""A space that nothing has happened to for so long, by the clock, is more likely seen by a wrong clock."""


class Removal(Record):
    """A memory that is to go, the field of the policy (or the option) that says so, and its age in days."""

    memory: Memory
    reason: str
    age_days: float
    limit: float


class RetentionPlan(Record):
    """What a collection would purge, the same whether it is carried out or only shown.

    `pinned` are due too, but stay; `future` bear times that are more than a day ahead. `clock` says why the clock is
    not believed, and `rules` how many days what may live.
    """

    removals: tuple[Removal, ...] = ()
    pinned: tuple[Removal, ...] = ()
    future: tuple[Memory, ...] = ()
    rules: tuple[tuple[str, float], ...] = ()
    clock: str = ""


def plan_retention(space: Space, now: str, ttl_days: float | None = None, last_run: str = "") -> RetentionPlan:
    """The memories last updated longer ago than the policy lets them live, then those above its `max_objects`.

    `ttl_days` takes the place of the policy's for this plan; `last_run` is when a collection was last carried out.
    """
    rules = _rules(space.policy, ttl_days)
    due = [removal for memory in space.objects if (removal := _due(memory, now, rules))]
    expired = [removal for removal in due if not removal.memory.pinned]
    gone = {removal.memory.id for removal in expired}
    left = [memory for memory in space.objects if memory.id not in gone]
    most = space.policy.max_objects
    over = surplus(left, len(left) - most, space.policy.compaction, now) if most is not None else []
    return RetentionPlan(
        removals=(*expired, *(Removal(m, "max_objects", days_between(m.updated_at, now), float(most or 0)) for m in over)),
        pinned=tuple(removal for removal in due if removal.memory.pinned),
        future=tuple(m for m in space.objects if days_between(now, m.updated_at) > SKEW_DAYS),
        rules=tuple(rules.items()) + ((("max_objects", float(most)),) if most is not None else ()),
        clock=_distrust((_time(space.updated_at), _time(last_run)), (m.updated_at for m in space.objects), now),
    )  # fmt: skip


def is_due(memory: Memory, policy: Policy, now: str) -> bool:
    """Whether a collection under `policy` would purge the memory for its age."""
    return not memory.pinned and _due(memory, now, _rules(policy, None)) is not None


def is_past_grace(removed_at: str, grace_days: float, now: str) -> bool:
    """Whether what was removed at `removed_at` is out of its days of grace; with none, it always is."""
    return grace_days == 0 or days_between(removed_at, now) > grace_days


def _rules(policy: Policy, ttl_days: float | None) -> dict[str, float]:
    rules = {f"retention.{kind}": days for kind, days in sorted(policy.retention.items())}
    if ttl_days is not None:
        rules["--ttl-days"] = ttl_days
    elif policy.ttl_days is not None:
        rules["ttl_days"] = policy.ttl_days
    return rules


def _due(memory: Memory, now: str, rules: dict[str, float]) -> Removal | None:
    for reason in (f"retention.{memory.kind}", "--ttl-days", "ttl_days"):
        if reason in rules:
            age = days_between(memory.updated_at, now)
            return Removal(memory, reason, age, rules[reason]) if age > rules[reason] else None
    return None


def _distrust(seen: Iterable[str], objects: Iterable[str], now: str) -> str:
    last = max(seen)
    if not last:
        return ""
    if days_between(now, last) > SKEW_DAYS:
        return f"the clock says {now[:10]}, but the space was last changed or collected on {last[:10]}"
    newest = max([last, *(time for time in objects if time <= now)])
    if days_between(newest, now) > LEAP_DAYS:
        return f"the clock says {now[:10]}, but the space was last changed or collected on {newest[:10]}"
    return ""


def _time(text: str) -> str:
    try:
        return normalize_time(text) if text else ""
    except UsageError:  # a header written by hand: no witness
        return ""
