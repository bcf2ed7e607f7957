"""The ledger of upkeep: what a run has begun, so that the next one finishes it, and what was done, to see what was undone.

A memory that is again as it was before a run changed it was restored: what was done to it then is not proposed again, until
it changes. So is what somebody rejected in the inbox.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memcli.model.memory import Json
from memcli.model.usage import Use
from memcli.record import Record, field, replace

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
