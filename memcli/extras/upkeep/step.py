"""The step of a plan, and what the tasks are given to propose steps from.

The ledger of upkeep: what a run has begun, so that the next one finishes it, and what was done, to see what was undone.

A memory that is again as it was before a run changed it was restored: what was done to it then is not proposed again, until
it changes. So is what somebody rejected in the inbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memcli.model.links import SUPERSEDES
from memcli.model.memory import Json, Memory, holds, increased
from memcli.model.recall import Cluster
from memcli.model.space import Policy
from memcli.model.usage import INJECT, JUDGEMENTS, RECALL, Access, Use
from memcli.record import Record, field, replace

REASONS = ("derived_from", "depends_on", SUPERSEDES)
"""The relations whose ends explain each other: what such a link leads to must stay."""


class UpkeepStep(Record, kw_only=True):
    """One thing that a task proposes for the memory `id`, and why.

    `memories` are those that it changes, as they become; a step without any changes nothing. `others` are the ids beside its
    own that it speaks of. `fields` has what each changed field of its own memory was and becomes. `tokens`: how many it
    takes out of recall.
    """

    task: str
    id: str
    path: str
    action: str
    reason: str
    memories: tuple[Memory, ...] = ()
    others: tuple[str, ...] = ()
    fields: Mapping[str, tuple[Json, Json]] = field(default_factory=dict)
    tokens: int = 0


class MemoryPair(Record):
    """Two memories that a check found to contradict or to repeat each other, or to be on the same matter."""

    kind: str
    first: str
    second: str
    reason: str


class Given(Record, kw_only=True):
    """What the tasks look at beside the memories: the uses of the space that were not folded yet, in order of time, its
    accesses, the clusters that were just found in it, and the pairs that a check found. `fixed` are ids that no step may change or
    newly refer to; `undone` those that somebody restored after upkeep had changed them. `watched_since`: from when on uses
    are known; empty where none ever was. `reasons` are the ids that memories of other spaces rest on. `policy` is what is
    in force of that of the space.
    """

    now: str
    policy: Policy = field(default_factory=Policy)
    is_derived: bool = False
    uses: Sequence[Use] = ()
    accesses: Mapping[str, Access] = field(default_factory=dict)
    clusters: Sequence[Cluster] = ()
    pairs: Sequence[MemoryPair] = ()
    watched_since: str = ""
    reasons: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    undone: frozenset[str] = frozenset()

    def judgements(self) -> list[tuple[str, Use]]:
        """Each judgement of a memory, by its id, in order of time."""
        return [(name, use) for use in self.uses if use.act in JUDGEMENTS for name in use.ids]


Memories = Mapping[str, Memory]
"""The memories of a space by id, as the tasks before have left them, in the order of the file."""
Task = Callable[[Memories, Given], list[UpkeepStep]]
"""Proposes steps, at most one of which changes a memory."""


def is_current(memory: Memory, now: str) -> bool:
    """Whether the memory is active and holds."""
    return memory.active and holds(memory, now)


def as_edit(memory: Memory) -> Memory:
    """The memory as its next version. Its date stays: upkeep makes nothing newer."""
    return replace(memory, version=increased(memory.version))


def judged_bundles(uses: Sequence[Use]) -> list[dict[str, str]]:
    """For each bundle that was judged, the last judgement of each memory. It speaks of the last bundle that showed the
    memory."""
    last: dict[str, int] = {}
    judged: dict[int, dict[str, str]] = {}
    for number, use in enumerate(uses):
        if use.act in (RECALL, INJECT):
            last.update(dict.fromkeys(use.ids, number))
        elif use.act in JUDGEMENTS:
            for name in use.ids:
                if name in last:
                    judged.setdefault(last[name], {})[name] = use.act
    return list(judged.values())


MOST_DONE = 5_000
"""Of so many memories of a space the ledger keeps what was done to them last."""


class Pending(Record):
    """What a run was about to write to a space: the digest of each memory before and after, and the keys of the uses that
    it folds. `judged` are the memories that only feedback changed: what they are told next is something else."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    judged: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()

    def is_written(self, digests: Mapping[str, str]) -> bool:
        """Whether the write was made, by the digests of the memories now: it was made whole or not at all."""
        return any(digests.get(name) == digest for name, digest in self.after.items())


class Ledger(Record):
    """`done` has for each space and id the digest of a memory before it was changed, or when that was refused; `since` from
    when on the uses of each space are known."""

    pending: Mapping[str, Pending] = field(default_factory=dict)
    done: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    since: Mapping[str, str] = field(default_factory=dict)

    def known(self, space: str) -> frozenset[str]:
        """The memories of a space that it speaks of."""
        pending = self.pending.get(space)
        return frozenset((*self.done.get(space, ()), *(pending.after if pending else ())))

    def undone(self, space: str, digests: Mapping[str, str]) -> frozenset[str]:
        """The memories that are as they were before they were changed."""
        return frozenset(name for name, before in self.done.get(space, {}).items() if digests.get(name) == before)

    def seen(self, space: str, uses: Sequence[Use]) -> Ledger:
        """With the time of the first use of a space, where it was not known."""
        if space in self.since or not uses:
            return self
        return replace(self, since={**self.since, space: min(use.at for use in uses)})

    def begin(self, space: str, pending: Pending) -> Ledger:
        """With what a run is about to write."""
        return replace(self, pending={**self.pending, space: pending})

    def finish(self, space: str, *, is_written: bool = True) -> Ledger:
        """Without what was pending in a space; it is done, if it was written."""
        pending = self.pending.get(space)
        rest = {name: one for name, one in self.pending.items() if name != space}
        if pending is None or not is_written:
            return replace(self, pending=rest)
        kept = {name: digest for name, digest in pending.before.items() if name not in pending.judged}
        return replace(self, pending=rest).with_done(space, kept)

    def with_done(self, space: str, before: Mapping[str, str]) -> Ledger:
        """With the memories of the digests `before` changed, or refused to be."""
        known = {name: digest for name, digest in self.done.get(space, {}).items() if name not in before} | dict(before)
        return replace(self, done={**self.done, space: dict(list(known.items())[-MOST_DONE:])})


def use_key(use: Use) -> str:
    """What a use is known by in the ledger."""
    return f"{use.key} {use.space}"


def ledger_to_json(ledger: Ledger) -> dict[str, Json]:
    """The ledger as it is stored."""
    return {
        "pending": {
            space: {
                "before": dict(one.before), "after": dict(one.after),
                "judged": sorted(one.judged), "uses": sorted(one.uses),
            }
            for space, one in ledger.pending.items()
        },
        "done": {space: list(map(list, of_space.items())) for space, of_space in ledger.done.items()},
        "since": dict(ledger.since),
    }  # fmt: skip


def ledger_from_json(data: Any) -> Ledger:
    """The stored ledger; an empty one where it makes no sense, since nothing essential depends on it."""
    try:
        pending = {
            str(space): Pending(
                {str(k): str(v) for k, v in one["before"].items()},
                {str(k): str(v) for k, v in one["after"].items()},
                frozenset(map(str, one["judged"])),
                frozenset(map(str, one["uses"])),
            )
            for space, one in data["pending"].items()
        }
        done = {str(space): {str(name): str(before) for name, before in rows} for space, rows in data["done"].items()}
        since = {str(space): str(at) for space, at in data["since"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return Ledger()
    return Ledger(pending, done, since)
