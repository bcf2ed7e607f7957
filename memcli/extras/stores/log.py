"""The audit log of a space: its last acts, the verification of its chain, and, for `store sync`, which changes and purges of
another store its acts explain.

A log with an unbroken chain is trusted; a change of the other store without an act is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memcli.app.workspace import Workspace
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
    """The last `limit` acts in their order, of those since a time and those that changed the memory `ref`.

    `ref` is an id, the beginning of one, or a path. Raises UsageError for an invalid time, StoreError.
    """
    found = list(entries(workspace.audit.read(workspace.space)))
    if since is not None:
        start = normalize_time(since)
        found = [act for act in found if str(act.get("time", "")) >= start]
    if ref is not None:
        ids = beginnings(ref)
        found = [
            act for act in found
            if ref and any(
                str(one.get("id", "")).startswith(ids) or one.get("path") == ref for one in act.get("changes", ())
            )
        ]  # fmt: skip
    return found if limit is None else found[max(0, len(found) - limit) :]


def check_log(workspace: Workspace) -> Verification:
    """Verifies that no line was changed, moved or removed. Raises CorruptError that names the first broken line, StoreError."""
    found = verify(workspace.audit.read(workspace.space))
    if found.broken:
        intact = {0: "no entry before it is", 1: "the entry before it is"}
        before = intact.get(found.entries, f"the {found.entries} entries before it are")
        raise CorruptError(
            f"audit/{workspace.space}.jsonl:{found.broken}: {found.reason}", f"{before} intact; do not rely on the rest"
        )
    return found


class PeerLog(Record):
    """The acts of the audit log of a space in their order, and the lineage of the space."""

    lineage: Lineage = Lineage()
    acts: Sequence[Mapping[str, Any]] = ()

    def point(self, space: Space, count: int, there: Mapping[str, str] | None = None) -> SyncPoint:
        """The point of a sync at which the space was `space`, after `count` acts, or all if there are fewer. `there` has the digests
        of memories that differ in the other store; see `SyncPoint`."""
        count = min(count, len(self.acts))
        return SyncPoint(space, self.lineage, count, self.acts[count - 1]["hash"] if count else "", there or {})

    def follows(self, point: SyncPoint) -> bool:
        """Whether the log at this point is a beginning of this log, so that the store was not replaced or restored since."""
        return (
            self.lineage.follows(point.lineage)
            and len(self.acts) >= point.entries
            and self.point(point.space, point.entries).head == point.head
        )

    def unexplained(self, point: SyncPoint, after: Space) -> list[str]:
        """The paths of memories that `after` has in another state than the point, or lacks, although the acts since the point do
        not lead from one state to the other."""
        if not self.lineage.store:  # a store in files: git and editors change it without the log
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
        """The ids of erased memories, each with the time when the erased memory was created and the number of the line of its last
        erasure. A memory of this id that was created later is another one.

        Lines of earlier versions lack that time; for these it is when the memory first occurs in the log.
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
    """The audit log of the space. Raises CorruptError if its chain is broken, or, with `now`, if an erasure in it is not in the
    past."""
    lineage = workspace.audit.lineage(space)
    data = workspace.audit.read(space)
    found = verify(data)
    if found.broken:
        raise _unbelievable(space, f"is broken at line {found.broken}: {found.reason}")
    log = PeerLog(lineage, tuple(entries(data)))
    # An erasure in the future would delete memories that are created later, on this side too.
    for act in log.acts if now else ():
        for change in filter(is_erasure, act["changes"]):
            for time in (act.get("time"), change.get("created_at", now)):
                if not _is_past(time, now):
                    raise _unbelievable(space, f"has an erasure at {str(time)[:24]!a}, which is no time in the past")
    return log


def purges(workspace: Workspace, log: PeerLog, *spaces: Space) -> dict[str, str]:
    """The ids of memories of which the `spaces` still have something although an admin erased them in the store of `workspace`;
    each with the creation time of the erased memory."""
    erased = log.erased()
    numbers: dict[str, int] = {}
    for memory in (m for space in spaces for m in space.objects if m.id in erased):
        until, number = erased[memory.id]
        if memory.created_at <= until or without_creations(memory, until) is not memory:
            numbers[memory.id] = number
    # A writer's role may append to the log, but erasing takes an admin: other lines of erasures are ignored.
    by_admins = set(workspace.audit.by_admins(spaces[0].name, set(numbers.values()))) if numbers else set()
    return {name: erased[name][0] for name, number in numbers.items() if number in by_admins}


def doomed(purged: Mapping[str, str], there: Space, space: Space) -> dict[str, str]:
    """The ids of memories of `space` that were purged in the other store and not imported into it again; each with its time of
    `purged`. `there` is the space of the other store: a memory in it that was created later is another one."""
    has = {memory.id: memory.created_at for memory in there.objects}
    return {
        m.id: until for m in space.objects
        if (until := purged.get(m.id)) and m.created_at <= until and (m.id not in has or has[m.id] > until)
    }  # fmt: skip


def differing(before: Space, after: Space) -> dict[str, str]:
    """The ids of memories that differ, with their digests in `after`, "" for a missing one."""
    old, new = ({memory.id: memory for memory in space.objects} for space in (before, after))
    pairs = ((name, state_digest(old.get(name)), state_digest(new.get(name))) for name in old.keys() | new.keys())
    return {name: now for name, was, now in pairs if was != now}


def _is_past(time: object, now: str) -> bool:
    """Whether `time` is valid and not later than `now`, apart from a skew of clocks of SKEW_DAYS."""
    try:
        return normalize_time(str(time)) == time and days_between(now, time) <= SKEW_DAYS
    except UsageError:
        return False


def _unbelievable(space: str, why: str) -> CorruptError:
    return CorruptError(
        f"the audit log of space {space!r} in the other store {why}",
        "nothing was erased; see `memcli store audit --verify` there, and ask its administrator; --as-new merges without it",
    )
