"""The ledger of upkeep: what a run has begun, so that the next one finishes it, and what was done, to see what was undone.

A memory that is again as it was before a run changed it was restored: what was done to it then is not proposed again, until
it changes. So is what somebody rejected in the inbox.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memcli.model.memory import Json
from memcli.model.usage import Use
from memcli.record import Record, field, replace

MOST_DONE = 5_000
"""Of so many memories of a space the ledger keeps what was done to them last."""
_ALWAYS_NEW = ("usage",)
"""The tasks that go by what they are told once: what they are told next is something else."""
_Done = Mapping[str, tuple[str, tuple[str, ...]]]


class Pending(Record):
    """What a run was about to write to a space: the digest of each memory before and after, what each task was to change,
    and the keys of the uses that it folds."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    tasks: Mapping[str, tuple[str, ...]]
    uses: frozenset[str] = frozenset()

    def is_written(self, digests: Mapping[str, str]) -> bool:
        """Whether the write was made, by the digests of the memories now: it was made whole or not at all."""
        return any(digests.get(name) == digest for name, digest in self.after.items())


class Ledger(Record):
    """`done` has for each space and id the digest of the memory before, and the tasks that changed it, or were
    refused; `since` from when on the uses of each space are known."""

    pending: Mapping[str, Pending] = field(default_factory=dict)
    done: Mapping[str, _Done] = field(default_factory=dict)
    since: Mapping[str, str] = field(default_factory=dict)

    def undone(self, space: str, digests: Mapping[str, str]) -> dict[str, frozenset[str]]:
        """By task, the memories that are as they were before it changed them."""
        found: dict[str, set[str]] = {}
        for name, (before, tasks) in self.done.get(space, {}).items():
            for task in tasks if digests.get(name) == before else ():
                found.setdefault(task, set()).add(name)
        return {task: frozenset(ids) for task, ids in found.items()}

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
        return replace(self, pending=rest).with_done(space, pending.before, pending.tasks)

    def with_done(self, space: str, before: Mapping[str, str], tasks: Mapping[str, Collection[str]]) -> Ledger:
        """With what the tasks did to the memories of the digests `before`, or were refused to do."""
        known = dict(self.done.get(space, {}))
        for name, digest in before.items():
            own = {task for task, ids in tasks.items() if name in ids and task not in _ALWAYS_NEW}
            same = known.pop(name, None)
            earlier = set(same[1]) if same and same[0] == digest else set()
            if own | earlier:
                known[name] = (digest, tuple(sorted(own | earlier)))
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
                "tasks": {task: list(ids) for task, ids in one.tasks.items()}, "uses": sorted(one.uses),
            }
            for space, one in ledger.pending.items()
        },
        "done": {
            space: [[name, before, list(tasks)] for name, (before, tasks) in of_space.items()]
            for space, of_space in ledger.done.items()
        },
        "since": dict(ledger.since),
    }  # fmt: skip


def ledger_from_json(data: Any) -> Ledger:
    """The stored ledger; an empty one where it makes no sense, since nothing essential depends on it."""
    try:
        pending = {
            str(space): Pending(
                {str(k): str(v) for k, v in one["before"].items()},
                {str(k): str(v) for k, v in one["after"].items()},
                {str(task): tuple(map(str, ids)) for task, ids in one["tasks"].items()},
                frozenset(map(str, one["uses"])),
            )
            for space, one in data["pending"].items()
        }
        done = {
            str(space): {str(name): (str(before), tuple(map(str, tasks))) for name, before, tasks in rows}
            for space, rows in data["done"].items()
        }
        since = {str(space): str(at) for space, at in data["since"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return Ledger()
    return Ledger(pending, done, since)
