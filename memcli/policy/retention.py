"""The memories to deactivate or remove: those whose source no longer has them, expired ones, and those above a limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from memcli.clock import days_between, normalize_time
from memcli.errors import RefusedError, UsageError
from memcli.model.links import removal
from memcli.model.memory import Json, Memory, increased
from memcli.model.shapes import OBSERVED
from memcli.model.space import Change, Policy, Space
from memcli.record import Record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Shelf

Place = Mapping[str, Json]
"""Selects memories that were read from files: `under` a path, from the file `source` (default: any), in the `group`
(default: those without a group)."""


def outdated(shelf: Shelf, places: Sequence[Place], known: Collection[str], now: str) -> list[Memory]:
    """The active memories at `places` whose path and id are not in `known`, deactivated."""
    if not places:
        return []
    by_root: dict[str, list[Place]] = {}
    for place in places:
        by_root.setdefault(place["under"], []).append(place)

    found = []
    for memory in shelf.under(*by_root):
        fields, segments = memory.metadata, memory.path.split("/")
        # What somebody said about a file is not retired with it, only what was read from it.
        is_known = memory.path in known or memory.id in known
        if is_known or not memory.active or memory.provenance.get("source") != OBSERVED:
            continue
        roots = ("/".join(segments[:n]) for n in range(1, len(segments) + 1))
        if any(
            fields.get("group") == place.get("group")
            and fields.get("source") == place.get("source", fields.get("source"))
            for root in roots
            for place in by_root.get(root, ())
        ):
            found.append(replace(memory, active=False, updated_at=now, version=increased(memory.version)))
    return found


def without(shelf: Shelf, memories: Sequence[Memory], now: str) -> Change:
    """The change that deactivates `memories`; in a derived space it removes them."""
    if shelf.header.policy.is_derived:
        return removal(shelf, {memory.id for memory in memories}, now) if memories else Change()
    return Change(tuple(replace(m, active=False, updated_at=now) for m in memories), now=now)


def is_of_source(memory: Memory, given: Mapping[str, Json]) -> bool:
    """Whether the memory has the source of `given`. What is read from a file replaces only memories from that file."""
    source = given.get("provenance", {}).get("source")
    if memory.provenance.get("source") != source:
        return False
    return source != OBSERVED or bool(memory.metadata.get("source") == given["metadata"].get("source"))


_FADE_DAYS = 30.0
_DIGITS = 9  # the exponential's last digits differ between machines, and must decide nothing


def surplus(
    objects: Sequence[Memory], excess: int, how: str, now: str, spared: Collection[str] = frozenset()
) -> list[Memory]:
    """The `excess` memories of the least value, or fewer where fewer may be removed.

    `how` is `fifo`: the least recently updated ones. `value`, and `llm` where no model has decided: forgotten and superseded
    ones first, then those of the least `value`; ties go by age, then id. Pinned memories and the ids in `spared` are never
    removed.
    """
    if excess <= 0:
        return []
    free = [m for m in objects if not m.pinned and m.id not in spared]
    if how == "fifo":
        return sorted(free, key=lambda m: m.order)[:excess]
    return sorted(free, key=lambda m: (not is_spent(m), value(m, now), *m.order))[:excess]


def excess_of(shelf: Shelf, added: int) -> int:
    """By how many memories `shelf`, after `added` were added, exceeds `max_objects`; 0 when none were added."""
    most = shelf.header.policy.max_objects
    return 0 if added <= 0 or most is None else max(0, shelf.size - most)


def room_for(
    shelf: Shelf, added: int, now: str, spared: Collection[str], first: Collection[str] = frozenset()
) -> frozenset[str]:
    """The ids to remove from `shelf`, after `added` memories were added, so that it has at most `max_objects`.

    `spared` are the ids just written; `first` are ids to remove before others. Setting `max_objects` is consent to
    compaction. Raises RefusedError when too few may be removed.
    """
    excess, policy = excess_of(shelf, added), shelf.header.policy
    if not excess:
        return frozenset()
    rest = surplus(shelf.load().objects, excess - len(first), policy.compaction, now, {*spared, *first})
    if (count := len(first) + len(rest)) < excess:
        most = "1 memory" if policy.max_objects == 1 else f"{policy.max_objects} memories"
        raise RefusedError(
            f"space {shelf.header.name!r} is limited to {most} (policy.max_objects); {excess} "
            f"would have to be removed, but only {count} can be; nothing was stored",
            "unpin some, store fewer at once, or raise max_objects",
        )
    return frozenset([*first, *(memory.id for memory in rest)])


def value(memory: Memory, now: str) -> float:
    """The value of a memory for compaction, 0..1: importance * confidence * recency, which falls to 1/e in 30 days."""
    recency = math.exp(-days_between(memory.updated_at, now) / _FADE_DAYS)
    return round(memory.effective_importance() * memory.confidence * recency, _DIGITS)


def is_spent(memory: Memory) -> bool:
    """Whether the memory was forgotten or superseded."""
    return not memory.active or memory.superseded_by is not None


SKEW_DAYS = 1.0
"""The largest difference between the clocks of two machines that is accepted, in days."""
LEAP_DAYS = 365.0
"""A space without a change for more days than this, by the clock, is more likely a sign of a wrong clock."""


class Removal(Record):
    """A memory to remove, the policy field or option that requires it, its age in days, and the limit, in days
    or for `max_objects` in memories."""

    memory: Memory
    reason: str
    age_days: float
    limit: float


class RetentionPlan(Record):
    """The removals of a collection, the same with and without `--dry-run`.

    `pinned` are expired too, but stay; `future` were updated more than a day after now. `clock` is the reason to distrust
    the clock, empty for none; `rules` are the limits in days, by name, and `max_objects`.
    """

    removals: tuple[Removal, ...] = ()
    pinned: tuple[Removal, ...] = ()
    future: tuple[Memory, ...] = ()
    rules: tuple[tuple[str, float], ...] = ()
    clock: str = ""


def plan_retention(
    header: Space, read: Callable[[], Iterable[Memory]], now: str, ttl_days: float | None = None, last_run: str = ""
) -> RetentionPlan:
    """Plans the removal of memories last updated longer ago than the policy allows, then of those above `max_objects`.

    `read` yields the memories of the space one at a time, and may be called twice. `ttl_days` overrides the policy's;
    `last_run` is the time of the last collection.
    """
    rules = _rules(header.policy, ttl_days)
    due: list[Removal] = []
    future: list[Memory] = []
    count, newest = 0, ""
    for memory in read():
        count += 1
        if memory.updated_at <= now:
            newest = max(newest, memory.updated_at)
        if days_between(now, memory.updated_at) > SKEW_DAYS:
            future.append(memory)
        if one := _due(memory, now, rules):
            due.append(one)
    expired = [removal for removal in due if not removal.memory.pinned]
    most = header.policy.max_objects
    excess = 0 if most is None else count - len(expired) - most
    over: list[Memory] = []
    if excess > 0:
        gone = {removal.memory.id for removal in expired}
        # Read a second time, so that a space below its limit is never held in memory as a whole.
        left = [memory for memory in read() if memory.id not in gone]
        over = surplus(left, excess, header.policy.compaction, now)
    return RetentionPlan(
        removals=(*expired, *(Removal(m, "max_objects", days_between(m.updated_at, now), float(most or 0)) for m in over)),
        pinned=tuple(removal for removal in due if removal.memory.pinned),
        future=tuple(future),
        rules=tuple(rules.items()) + ((("max_objects", float(most)),) if most is not None else ()),
        clock=_distrust((header.updated_at, last_run), newest, now),
    )  # fmt: skip


def is_due(memory: Memory, policy: Policy, now: str) -> bool:
    """Whether a collection under `policy` would purge the memory for its age."""
    return not memory.pinned and _due(memory, now, _rules(policy, None)) is not None


def is_past_grace(removed_at: str, grace_days: float, now: str) -> bool:
    """Whether more than `grace_days` passed since `removed_at`; always true for 0 days."""
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


def _distrust(seen: Iterable[str], newest: str, now: str) -> str:
    # By a wrong clock every memory may be due at once.
    last = ""
    for time in filter(None, seen):
        with suppress(UsageError):  # a hand-edited header may have any text
            last = max(last, normalize_time(time))
    if not last:
        return ""
    if days_between(now, last) > SKEW_DAYS:
        return f"the clock says {now[:10]}, but the space was last changed or collected on {last[:10]}"
    newest = max(last, newest)
    if days_between(newest, now) > LEAP_DAYS:
        return f"the clock says {now[:10]}, but the space was last changed or collected on {newest[:10]}"
    return ""
