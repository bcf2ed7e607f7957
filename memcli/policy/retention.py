"""Which memories go: those that a source no longer has, those that expired, and those that are too many."""

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
"""`under` a path, the observed memories of the file `source`, of the `group`; where one is not named, of any file and
of no group."""


def outdated(shelf: Shelf, places: Sequence[Place], known: Collection[str], now: str) -> list[Memory]:
    """The memories at `places` whose paths and ids are not among those that are `known` now, deactivated: marked, not lost."""
    if not places:
        return []
    by_root: dict[str, list[Place]] = {}
    for place in places:
        by_root.setdefault(place["under"], []).append(place)

    found = []
    for memory in shelf.under(*by_root):
        fields, segments = memory.metadata, memory.path.split("/")
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
    """The change that deactivates what the source of `memories` no longer has; that takes it out of a derived space."""
    if shelf.header.policy.is_derived:
        return removal(shelf, {memory.id for memory in memories}, now) if memories else Change()
    return Change(tuple(replace(m, active=False, updated_at=now) for m in memories), now=now)


def is_of_source(memory: Memory, given: Mapping[str, Json]) -> bool:
    """Whether the memory was read from where `given` was; what is read from a file replaces nothing else."""
    source = given.get("provenance", {}).get("source")
    if memory.provenance.get("source") != source:
        return False
    return source != OBSERVED or bool(memory.metadata.get("source") == given["metadata"].get("source"))


_FADE_DAYS = 30.0
_DIGITS = 9  # the exponential's last digits differ between machines, and must decide nothing


def surplus(
    objects: Sequence[Memory], excess: int, how: str, now: str, spared: Collection[str] = frozenset()
) -> list[Memory]:
    """The `excess` memories that are worth least; fewer when there are not so many that may go.

    `fifo`: those that were not touched for longest. `value`, and `llm` where no model has decided: forgotten and superseded
    ones, then by importance, confidence and recency. Equal ones go by age, then id. Pinned ones and the ids in `spared`
    never go.
    """
    if excess <= 0:
        return []
    free = [m for m in objects if not m.pinned and m.id not in spared]
    if how == "fifo":
        return sorted(free, key=lambda m: m.order)[:excess]
    return sorted(free, key=lambda m: (not is_spent(m), value(m, now), *m.order))[:excess]


def excess_of(shelf: Shelf, added: int) -> int:
    """How many memories are too many in `shelf`, to which `added` have been added."""
    most = shelf.header.policy.max_objects
    return 0 if added <= 0 or most is None else max(0, shelf.size - most)


def room_for(
    shelf: Shelf, added: int, now: str, spared: Collection[str], first: Collection[str] = frozenset()
) -> frozenset[str]:
    """The ids that must go from `shelf`, to which `added` memories have been added, so that it holds what it may.

    What was just written is `spared`; `first` are ids that go before others. Setting `max_objects` is consent to
    compaction. Raises RefusedError when too few may go.
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
    """What a memory is worth, 0..1: importance x confidence x recency, which fades to 1/e in 30 days."""
    recency = math.exp(-days_between(memory.updated_at, now) / _FADE_DAYS)
    return round(memory.effective_importance() * memory.confidence * recency, _DIGITS)


def is_spent(memory: Memory) -> bool:
    """Whether the memory was forgotten or superseded."""
    return not memory.active or memory.superseded_by is not None


SKEW_DAYS = 1.0
"""How far the clocks of two machines may lie apart before one of them is not believed."""
LEAP_DAYS = 365.0
"""A space that nothing has happened to for so long, by the clock, is more likely seen by a wrong clock."""


class Removal(Record):
    """A memory to be removed, the field of the policy or the option that requires it, and its age in days."""

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


def plan_retention(
    header: Space, read: Callable[[], Iterable[Memory]], now: str, ttl_days: float | None = None, last_run: str = ""
) -> RetentionPlan:
    """Of the memories of a space, which `read` gives one at a time, those last updated longer ago than the policy lets them
    live, then those above its `max_objects`.

    `ttl_days` takes the place of the policy's for this plan; `last_run` is when a collection was last carried out.
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


def _distrust(seen: Iterable[str], newest: str, now: str) -> str:
    last = ""
    for time in filter(None, seen):
        with suppress(UsageError):  # a header written by hand: no witness
            last = max(last, normalize_time(time))
    if not last:
        return ""
    if days_between(now, last) > SKEW_DAYS:
        return f"the clock says {now[:10]}, but the space was last changed or collected on {last[:10]}"
    newest = max(last, newest)
    if days_between(newest, now) > LEAP_DAYS:
        return f"the clock says {now[:10]}, but the space was last changed or collected on {newest[:10]}"
    return ""
