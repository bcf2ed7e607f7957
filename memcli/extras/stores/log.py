"""The audit log of a space: its last acts, whether it is whole, and, of a store that others write, too, what its acts explain.

That log is believed where its chain is whole, and then is the judge of what that store has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memcli.app.workspace import Workspace, load_space
from memcli.clock import days_between, normalize_time
from memcli.codec.audit import Verification, entries, is_erasure, verify
from memcli.codec.merge import without_creations
from memcli.errors import CorruptError, UsageError
from memcli.model.links import Lineage, SyncPoint
from memcli.model.names import beginnings
from memcli.model.space import Space
from memcli.policy.acts import state_digest
from memcli.policy.retention import SKEW_DAYS
from memcli.record import Record


def log(workspace: Workspace, limit: int | None, since: str | None, ref: str | None) -> list[dict[str, Any]]:
    """The last `limit` acts in their order: those since a time, and those that touched the memory `ref`.

    `ref` is an id, the beginning of one, or a path. Raises UsageError for what is no time, StoreError.
    """
    found = list(entries(workspace.audit.read(workspace.space)))
    if since is not None:
        start = normalize_time(since)
        found = [act for act in found if str(act.get("time", "")) >= start]
    if ref is not None:
        found = [act for act in found if any(_is(change, ref) for change in act.get("changes", ()))]
    return found if limit is None else found[max(0, len(found) - limit) :]


def check_log(workspace: Workspace) -> Verification:
    """Whether every line stands as it was written. Raises CorruptError naming the first that does not, StoreError."""
    found = verify(workspace.audit.read(workspace.space))
    if found.broken:
        intact = {0: "no entry before it is", 1: "the entry before it is"}
        before = intact.get(found.entries, f"the {found.entries} entries before it are")
        raise CorruptError(
            f"audit/{workspace.space}.jsonl:{found.broken}: {found.reason}", f"{before} intact; do not rely on the rest"
        )
    return found


def _is(change: dict[str, Any], ref: str) -> bool:
    return bool(ref) and (str(change.get("id", "")).startswith(beginnings(ref)) or change.get("path") == ref)


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
            has = state_digest(now.get(name))
            reached = {point.there[name] if name in point.there else state_digest(known[name])}
            for before, other in steps.get(name, ()):
                reached |= {other} if before in reached else set()
            if has not in reached and not (has_bulk and "" in reached):
                found.append(known[name].path if name in known else name)
        return found

    def erased(self) -> dict[str, tuple[str, int]]:
        """The ids of memories that were erased, with the time until which a memory of this id was made that went by that, and
        the number of the line that erased it.

        That is when the erased one was made. Earlier lines did not say it: of these it is when the log first had the memory.
        """
        found: dict[str, tuple[str, int]] = {}
        since: dict[str, str] = {}
        is_gone: dict[str, bool] = {}
        for act in self.acts:
            for change in act["changes"]:
                name, time = str(change.get("id")), str(act.get("time", ""))
                since[name] = time if name not in since or (is_gone[name] and change.get("after")) else since[name]
                is_gone[name] = not change.get("after")
                if is_erasure(change):
                    until = str(change.get("created_at", since[name]))
                    found[name] = max((until, act["n"]), found.get(name, ("", 0)))
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
        for change in filter(is_erasure, act["changes"]):
            for time in (act.get("time"), change.get("created_at", now)):
                if not _is_past(time, now):
                    raise _unbelievable(space, f"has an erasure at {str(time)[:24]!a}, which is no time in the past")
    return log


def purges(workspace: Workspace, log: PeerLog, *spaces: Space) -> dict[str, str]:
    """The ids that the spaces have something of that was erased in the store of this workspace and log, by who may erase;
    each with the time until which it was made."""
    erased = log.erased()
    numbers: dict[str, int] = {}
    for memory in (m for space in spaces for m in space.objects if m.id in erased):
        until, number = erased[memory.id]
        if memory.created_at <= until or without_creations(memory, until) is not memory:
            numbers[memory.id] = number
    by_admins = set(workspace.audit.by_admins(spaces[0].name, set(numbers.values()))) if numbers else set()
    return {name: erased[name][0] for name, number in numbers.items() if number in by_admins}


def doomed(purged: Mapping[str, str], there: Space, space: Space) -> dict[str, str]:
    """The memories of `space` that were purged there, and were not brought back: all that `there` has was made since."""
    has = {memory.id: memory.created_at for memory in there.objects}
    return {
        m.id: until for m in space.objects
        if (until := purged.get(m.id)) and m.created_at <= until and (m.id not in has or has[m.id] > until)
    }  # fmt: skip


def differing(before: Space, after: Space) -> dict[str, str]:
    """The ids of memories that differ, with their digests in `after`, empty for one that is gone."""
    old, new = ({memory.id: memory for memory in space.objects} for space in (before, after))
    pairs = ((name, state_digest(old.get(name)), state_digest(new.get(name))) for name in old.keys() | new.keys())
    return {name: now for name, was, now in pairs if was != now}


def point_of(workspace: Workspace, space: str) -> SyncPoint:
    """The space of a store as it is now. Raises CorruptError, StoreError."""
    log = read_log(workspace, space)  # before the space: what is done meanwhile counts as done since
    return log.point(load_space(workspace.store, space), len(log.acts))


def _is_past(time: object, now: str) -> bool:
    """Whether it is a time, and not after now by any clock."""
    try:
        return normalize_time(str(time)) == time and days_between(now, time) <= SKEW_DAYS
    except UsageError:
        return False


def _unbelievable(space: str, why: str) -> CorruptError:
    return CorruptError(
        f"the audit log of space {space!r} in the other store {why}",
        "nothing was erased; see `memcli store audit --verify` there, and ask its administrator; --as-new merges without it",
    )
