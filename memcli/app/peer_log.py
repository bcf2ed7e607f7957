"""The audit log of a space in a store that others write, too: believed where its chain is whole, and then the judge of
what that store has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memcli.app.workspace import Workspace, load_space
from memcli.clock import days_between, normalize_time
from memcli.codec.audit import entries, erasures, is_erasure, verify
from memcli.codec.space import memory_digest
from memcli.errors import CorruptError, UsageError
from memcli.model.lineage import Lineage, SyncPoint
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.policy.retention import SKEW_DAYS
from memcli.record import Record


class PeerLog(Record):
    """The acts of a log in their order, and the lineage of its space."""

    lineage: Lineage = Lineage()
    acts: Sequence[Mapping[str, Any]] = ()

    def point(self, space: Space, count: int, there: Mapping[str, str] | None = None) -> SyncPoint:
        """The space as it was after `count` acts, or after all where there are not so many; see `SyncPoint`."""
        count = min(count, len(self.acts))
        return SyncPoint(space, self.lineage, count, self.acts[count - 1]["hash"] if count else "", there or {})

    def follows(self, point: SyncPoint) -> bool:
        """Whether the history of the store at this point is part of its history now."""
        return (
            self.lineage.follows(point.lineage)
            and len(self.acts) >= point.entries
            and self.point(point.space, point.entries).head == point.head
        )

    def unexplained(self, point: SyncPoint, after: Space) -> list[str]:
        """The paths of memories that are in `after` others than at the point, or gone, without acts since that lead there: each
        begins with what the one before it left.

        Of a store in files none: git and hands change it past the log.
        """
        if not self.lineage.store:
            return []
        steps: dict[str, list[tuple[str, str]]] = {}
        has_bulk = False  # many new memories at once are not listed one by one
        for act in self.acts[point.entries :]:
            has_bulk |= "created" in act
            for change in act["changes"]:
                step = str(change.get("before")), str(change.get("after"))
                steps.setdefault(str(change.get("id")), []).append(step)
        known, now = ({memory.id: memory for memory in space.objects} for space in (point.space, after))
        found = []
        for name in [*known, *(point.there.keys() - known.keys())]:
            has = _digest(now.get(name))
            reached = {point.there[name] if name in point.there else _digest(known[name])}
            for before, other in steps.get(name, ()):
                reached |= {other} if before in reached else set()
            if has not in reached and not (has_bulk and "" in reached):
                found.append(known[name].path if name in known else name)
        return found


def read_log(workspace: Workspace, space: str, now: str = "") -> PeerLog:
    """The log of the space. Raises CorruptError where its chain is broken, or an erasure is not dated before `now`."""
    lineage = workspace.audit.lineage(space)
    data = workspace.audit.read(space)
    found = verify(data)
    if found.broken:
        raise _unbelievable(space, f"is broken at line {found.broken}: {found.reason}")
    log = PeerLog(lineage, tuple(entries(data)))
    for act in log.acts if now else ():
        if any(map(is_erasure, act["changes"])) and not _is_past(act.get("time"), now):
            raise _unbelievable(space, f"has an erasure at {str(act.get('time'))[:24]!a}, which is no time in the past")
    return log


def doomed(workspace: Workspace, log: PeerLog, there: Space, space: Space) -> dict[str, str]:
    """The memories of `space` that were erased in the store of this workspace, log and space, by who may erase; each with the
    time after which another memory of this id was made."""
    has, erased = {memory.id for memory in there.objects}, erasures(log.acts)
    found = {
        memory.id: erased[memory.id] for memory in space.objects
        if memory.id in erased and memory.id not in has and memory.created_at <= erased[memory.id].since
    }  # fmt: skip
    numbers = (
        set(workspace.audit.by_admins(space.name, {erasure.number for erasure in found.values()})) if found else set()
    )
    return {name: erasure.since for name, erasure in found.items() if erasure.number in numbers}


def differing(before: Space, after: Space) -> dict[str, str]:
    """The ids of memories that differ, with their digests in `after`, empty for one that is gone."""
    old, new = ({memory.id: memory for memory in space.objects} for space in (before, after))
    pairs = ((name, _digest(old.get(name)), _digest(new.get(name))) for name in old.keys() | new.keys())
    return {name: now for name, was, now in pairs if was != now}


def point_of(workspace: Workspace, space: str) -> SyncPoint:
    """The space of a store as it is now. Raises CorruptError, StoreError."""
    log = read_log(workspace, space)  # before the space: what is done meanwhile counts as done since
    return log.point(load_space(workspace.store, space), len(log.acts))


def _digest(memory: Memory | None) -> str:
    return "" if memory is None else memory_digest(memory)


def _is_past(time: object, now: str) -> bool:
    """Whether it is a time, and not after now by any clock."""
    try:
        return normalize_time(str(time)) == time and days_between(now, time) <= SKEW_DAYS
    except UsageError:
        return False


def _unbelievable(space: str, why: str) -> CorruptError:
    return CorruptError(
        f"the audit log of space {space!r} in the other store {why}",
        "nothing was erased; see `memcli audit --verify` there, and ask its administrator; --as-new merges without it",
    )
