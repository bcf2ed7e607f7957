"""The step of a plan, the input of the tasks, and the ledger of upkeep.

The ledger records what a run has begun, so that the next run can finish it, and the digests of memories before they were
changed. A memory that again has such a digest was restored by the user, so the change is not proposed again until the memory
changes. The same holds for a change that the user rejected in the inbox.
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

# Without the target of such a link, nobody could see why the memory says what it says.
REASONS = ("derived_from", "depends_on", SUPERSEDES)
"""The relations by which a memory gives its reason: the target of such a link is not archived."""


class UpkeepStep(Record, kw_only=True):
    """A step that a task proposes for the memory `id`, with its reason.

    `memories` are the changed memories, as they become; a step without any only reports. `others` are the ids of other
    memories that it concerns. `fields` has the values before and after of each changed field of the memory `id`. `tokens` is
    the number of tokens that it removes from recall.
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
    """The ids of two memories that contradict or repeat each other or are related, as `kind` says; and the reason."""

    kind: str
    first: str
    second: str
    reason: str


class Given(Record, kw_only=True):
    """The input of the tasks beside the memories of a space.

    `uses` are those not folded yet, in order of time, and `accesses` the folded ones by id. `policy` is the policy in force.
    `clusters` are those that were found just now, and `pairs` what a check found. `watched_since` is the time from which uses
    are known, empty if there are none. `reasons` are the ids to which memories of other spaces link as their reason. No step
    may change a memory of `fixed` or newly refer to it; `undone` are the memories whose earlier change the user undid.
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
        """The id and the use for each judgement of a memory, in order of time."""
        return [(name, use) for use in self.uses if use.act in JUDGEMENTS for name in use.ids]


Memories = Mapping[str, Memory]
"""The memories of a space by id, in order of the file, as earlier tasks have changed them."""
Task = Callable[[Memories, Given], list[UpkeepStep]]
"""Proposes steps; no memory is changed by two of them."""


def is_current(memory: Memory, now: str) -> bool:
    """Whether the memory is active and valid at the time `now`."""
    return memory.active and holds(memory, now)


def as_edit(memory: Memory) -> Memory:
    """The memory with the next version number."""
    # `updated_at` stays: recall ranks by age, and upkeep does not confirm a memory.
    return replace(memory, version=increased(memory.version))


def judged_bundles(uses: Sequence[Use]) -> list[dict[str, str]]:
    """For each judged bundle, the last judgement of each of its memories, by id. A judgement belongs to the last bundle
    before it that showed the memory."""
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
"""The most digests of one space in the ledger; the oldest ones are dropped."""


class Pending(Record):
    """The write that a run has begun in a space: the digests of the changed memories before and after, by id, and the keys of
    the uses that it folds. `judged` are the memories that only feedback changed: their digests are not recorded, since the
    next feedback is a new reason to change them."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    judged: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()

    def is_written(self, digests: Mapping[str, str]) -> bool:
        """Whether the write was made, by the current digests of the memories."""
        # One match is enough, since a write is made completely or not at all, and others may have changed since.
        return any(digests.get(name) == digest for name, digest in self.after.items())


class Ledger(Record):
    """`pending` has the write begun in each space; `done`, by space and id, the digest of a memory before it was changed, or
    when the change was rejected; `since`, by space, the time from which its uses are known."""

    pending: Mapping[str, Pending] = field(default_factory=dict)
    done: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    since: Mapping[str, str] = field(default_factory=dict)

    def known(self, space: str) -> frozenset[str]:
        """The ids of the memories of a space that are in the ledger."""
        pending = self.pending.get(space)
        return frozenset((*self.done.get(space, ()), *(pending.after if pending else ())))

    def undone(self, space: str, digests: Mapping[str, str]) -> frozenset[str]:
        """The ids of the memories that have the digest from before their change."""
        return frozenset(name for name, before in self.done.get(space, {}).items() if digests.get(name) == before)

    def seen(self, space: str, uses: Sequence[Use]) -> Ledger:
        """The ledger with the time of the first use of a space, unless it has one already."""
        if space in self.since or not uses:
            return self
        return replace(self, since={**self.since, space: min(use.at for use in uses)})

    def begin(self, space: str, pending: Pending) -> Ledger:
        """The ledger with the write that a run begins."""
        return replace(self, pending={**self.pending, space: pending})

    def finish(self, space: str, *, is_written: bool = True) -> Ledger:
        """The ledger without the pending write of a space, whose digests become `done` if it was made."""
        pending = self.pending.get(space)
        rest = {name: one for name, one in self.pending.items() if name != space}
        if pending is None or not is_written:
            return replace(self, pending=rest)
        recorded = {name: digest for name, digest in pending.before.items() if name not in pending.judged}
        return replace(self, pending=rest).with_done(space, recorded)

    def with_done(self, space: str, before: Mapping[str, str]) -> Ledger:
        """The ledger with the digests of memories before they were changed, or when their change was rejected."""
        # What is recorded again moves to the end, so that the oldest are dropped.
        known = {name: digest for name, digest in self.done.get(space, {}).items() if name not in before} | dict(before)
        return replace(self, done={**self.done, space: dict(list(known.items())[-MOST_DONE:])})


def use_key(use: Use) -> str:
    """The key of a use in the ledger."""
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
        # As pairs: the order says which are the oldest, and the encoder sorts the keys of an object.
        "done": {space: list(map(list, of_space.items())) for space, of_space in ledger.done.items()},
        "since": dict(ledger.since),
    }  # fmt: skip


def ledger_from_json(data: Any) -> Ledger:
    """The stored ledger; an empty one for invalid data, since without it upkeep only proposes undone changes again."""
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
