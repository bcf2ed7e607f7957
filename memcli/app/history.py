"""How memories changed: between two states of a store, by which commit, and in the audit log.

The audit log of a space in a store that others write, too: believed where its chain is whole, and then the judge of
what that store has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from memcli.app.catalogue import placed
from memcli.app.redact import Redactor
from memcli.app.workspace import Workspace, load, load_space
from memcli.clock import days_between, normalize_time
from memcli.codec.audit import Verification, entries, is_erasure, verify
from memcli.codec.canonical import encode
from memcli.codec.memory import memory_to_json
from memcli.codec.merge import without_creations
from memcli.codec.space import find_memory, memory_digest, policy_to_json
from memcli.digests import blake2b
from memcli.errors import CorruptError, UsageError
from memcli.model.changes import STATUSES, Blame, FieldChange, HistoryCommit, MemoryChange, SpaceChange
from memcli.model.links import Lineage, SyncPoint
from memcli.model.memory import Json, Memory
from memcli.model.space import Policy, Space
from memcli.policy.retention import SKEW_DAYS
from memcli.ports import Snapshot, Store
from memcli.record import Record, replace
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import clean_field, clean_memories

if TYPE_CHECKING:
    from memcli.git.revisions import StoreHistory


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
    return bool(ref) and (str(change.get("id", "")).startswith(ref) or change.get("path") == ref)


_BOOKKEEPING = frozenset(["updated_at", "version"])
_RENAMED_SHARE = 0.5  # of the memories of the smaller one that two spaces must share to be one under two names


def diff(before: Store, after: Store, spaces: Sequence[str] | None = None) -> list[SpaceChange]:
    """The spaces that differ, or those of `spaces` alone, in order of name. Raises CorruptError, StoreError."""
    old, new = _names(before, spaces), _names(after, spaces)
    if spaces is None:  # what git never had is no change
        new = [name for name in new if name in old or after.policy(name).is_tracked]
    was = {name: load_space(before, name) for name in old if name not in new}
    now = {name: load_space(after, name) for name in new if name not in old}
    renamed = _renamed(list(was.values()), list(now.values()))
    found = []
    for name in sorted({*old, *new} - set(renamed.values())):
        source = renamed.get(name, name)
        one, other = (
            _differing(before, after, name) if name in old and name in new else (was.get(source), now.get(name))
        )
        change = _compare(name, source, one, other)
        if change.status != "changed" or change.fields or change.memories:
            found.append(change)
    return found


def shown(changes: Sequence[SpaceChange], redactor: Redactor, policies: Mapping[str, Policy]) -> list[SpaceChange]:
    """The changes without what is secret in them, by the policy of each space."""
    return [_shown(change, redactor.on_the_way_out(policies.get(change.name, Policy()))) for change in changes]


def policies(*stores: Store) -> dict[str, Policy]:
    """The policy of each space, as the last store that has it says. Raises CorruptError, StoreError."""
    return {name: store.policy(name) for store in stores for name in store.spaces()}


def _shown(change: SpaceChange, detector: Detector) -> SpaceChange:
    return replace(
        change, fields=_clean(change.fields, detector), memories=tuple(clean_changes(change.memories, detector))
    )


def clean_changes(changes: Sequence[MemoryChange], detector: Detector) -> list[MemoryChange]:
    """The changes without what is secret in them."""
    memories = clean_memories(detector, [c.memory for c in changes])
    return [
        replace(c, memory=memory, fields=_clean(c.fields, detector))
        for c, memory in zip(changes, memories, strict=True)
    ]


def _clean(fields: Sequence[FieldChange], detector: Detector) -> tuple[FieldChange, ...]:
    return tuple(
        FieldChange(c.name, clean_field(detector, c.name, c.before), clean_field(detector, c.name, c.after))
        for c in fields
    )


def compare(before: Mapping[str, Json], after: Mapping[str, Json]) -> tuple[FieldChange, ...]:
    """The fields that differ, in order of name, but those that only count and date; metadata key by key."""
    found = []
    for name in sorted((before.keys() | after.keys()) - _BOOKKEEPING):
        old, new = before.get(name), after.get(name)
        if encode(old) == encode(new):
            continue
        if name in ("metadata", "policy") and isinstance(old, dict) and isinstance(new, dict):
            found += [FieldChange(f"{name}.{c.name}", c.before, c.after) for c in compare(old, new)]
        else:
            found.append(FieldChange(name, old, new))
    return tuple(found)


def _differing(before: Store, after: Store, name: str) -> tuple[Space, Space]:
    """A space in two stores, each with those of its memories alone whose bytes the other does not have."""
    with closing(before.open(name)) as old, closing(after.open(name)) as new:
        known, now = ({_digest(data) for data, _ in snapshot.records()} for snapshot in (old, new))
        return _without(old, known & now), _without(new, known & now)


def _without(snapshot: Snapshot, digests: Collection[bytes]) -> Space:
    changed = [data for data, _ in snapshot.records() if _digest(data) not in digests]
    try:
        return replace(snapshot.header(), objects=tuple(map(snapshot.decode, changed)))
    except CorruptError:
        return snapshot.load()  # says exactly where the file is damaged


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _names(store: Store, spaces: Sequence[str] | None) -> list[str]:
    return [name for name in store.spaces() if spaces is None or name in spaces]


def _renamed(gone: Sequence[Space], new: Sequence[Space]) -> dict[str, str]:
    """New names to the names before, for spaces that have most of their memories in common."""
    found: dict[str, str] = {}
    for space in new:
        ids = {m.id for m in space.objects}
        shared = {old.name: len(ids & {m.id for m in old.objects}) for old in gone if old.name not in found.values()}
        best = max(shared, key=lambda name: (shared[name], name), default=None)
        if best is not None and shared[best]:
            smaller = min(len(ids), *(len(old.objects) for old in gone if old.name == best))
            if shared[best] >= _RENAMED_SHARE * smaller:
                found[space.name] = best
    return found


def _compare(name: str, was: str, before: Space | None, after: Space | None) -> SpaceChange:
    status = "added" if before is None else "removed" if after is None else "renamed" if was != name else "changed"
    old, new = before or Space(was), after or Space(name)
    if status == "renamed":  # a memory that names its own space is the same under the new name
        old = replace(old, objects=tuple(placed(m, name) if m.metadata.get("space") == was else m for m in old.objects))
    fields = compare(_header(old), _header(new)) if status in ("changed", "renamed") else ()
    return SpaceChange(name, status, was, fields, tuple(_memories(old, new)))


def _header(space: Space) -> dict[str, Json]:
    return {**space.extra, "metadata": space.metadata, "policy": policy_to_json(space.policy)}


def _memories(before: Space, after: Space) -> list[MemoryChange]:
    old, new = ({m.id: m for m in space.objects} for space in (before, after))
    names = [*(name for name in old if name not in new), *new]
    found = [change for name in names if (change := memory_change(old.get(name), new.get(name)))]
    return sorted(found, key=lambda c: (STATUSES.index(c.status), c.memory.path, c.memory.id))


def memory_change(before: Memory | None, after: Memory | None) -> MemoryChange | None:
    """What became of a memory from one state to another; None where nothing did."""
    if before is None or after is None:
        there, status = (before, "removed") if after is None else (after, "added")
        return MemoryChange(status, there) if there else None
    if after == before and encode(memory_to_json(after)) == encode(memory_to_json(before)):
        return None
    fields = compare(memory_to_json(before), memory_to_json(after))
    return MemoryChange(_status(before, after, fields), after, fields)


def _status(before: Memory, after: Memory, fields: Sequence[FieldChange]) -> str:
    if before.active != after.active:
        return "restored" if after.active else "forgotten"
    if after.superseded_by and not before.superseded_by:
        return "superseded"
    if [change.name for change in fields] == ["pinned"]:
        return "pinned" if after.pinned else "unpinned"
    return "changed"


_UNTOLD = frozenset(["id", "created_at", "updated_at", "version"])
_ADDED = ""  # stands among the fields for the memory itself
_Fields = Mapping[str, bytes]


def blame(workspace: Workspace, history: StoreHistory, ref: str) -> Blame:
    """Who wrote what of the memory that `ref` names. Raises NotFoundError, CorruptError, ProviderError."""
    memory = load(workspace).find(ref)
    now = _fields(memory)
    start = history.commit("HEAD")
    with history.reading() as read:
        found = _HistoryWalk(history, read, memory.id, now).run(start, f"{workspace.space}.json")
    fields = tuple((name, found.get(name)) for name in sorted(now) if name != _ADDED)
    return Blame(memory, found.get(_ADDED), fields)


class _HistoryWalk:
    """From a commit back along the history of one file: a field goes to each parent that has it as it is now, and
    where none has it, the commit is to blame."""

    def __init__(
        self, history: StoreHistory, read: Callable[[str, str], bytes | None], identifier: str, now: _Fields
    ) -> None:
        self._history = history
        self._read = read
        self._id = identifier
        self._now = now
        self._known: dict[tuple[str, str], _Fields] = {}
        self._found: dict[str, HistoryCommit] = {}

    def run(self, start: str, name: str) -> dict[str, HistoryCommit]:
        """The commit to blame for each field; those are missing that `start` does not have as they are now."""
        places = [(start, name, self._shared(start, name, set(self._now)))]
        while places:
            commit, file, wanted = places.pop()
            places += self._along(commit, file, wanted) if wanted else []
        return self._found

    def _along(self, start: str, name: str, wanted: set[str]) -> list[tuple[str, str, set[str]]]:
        """Walks the commits that know the file by this name; returns where it came from, and which fields with it."""
        origins = []
        commits = self._history.commits(start, name)
        pending: dict[str, set[str]] = {commits[0].hash: wanted} if commits else {}
        for commit in commits:
            left = pending.pop(commit.hash, set())
            for parent in commit.parents if left else ():
                passed = self._shared(parent, name, left)
                pending.setdefault(parent, set()).update(passed)
                left = left - passed
            if left and not commit.parents and (origin := self._history.renamed_from(commit.hash, name)):
                older, parent = origin
                passed = self._shared(parent, older, left)
                origins.append((parent, older, passed))
                left = left - passed
            self._found.update((field, commit) for field in left)
        return origins

    def _shared(self, commit: str, name: str, fields: set[str]) -> set[str]:
        """Those of `fields` that the memory has at this commit as it has them now."""
        then = self._known.get((commit, name))
        if then is None:
            then = self._known[commit, name] = self._at(commit, name)
        return {field for field in fields if then.get(field) == self._now[field]}

    def _at(self, commit: str, name: str) -> _Fields:
        data = self._read(commit, name)
        try:
            memory = find_memory(data, self._id, f"{commit[:10]}:{name}") if data else None
        except CorruptError:  # a file that was broken for a while tells nothing
            memory = None
        return {} if memory is None else _fields(memory)


def _fields(memory: Memory) -> _Fields:
    """Each field as its bytes, the metadata key by key."""
    data = memory_to_json(memory)
    metadata = {
        f"metadata.{name}": value for name, value in data.pop("metadata").items() if name not in ("hash", "space")
    }
    told = {name: encode(value) for name, value in {**data, **metadata}.items() if name not in _UNTOLD}
    return {_ADDED: b"", **told}


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
            has = _peer_digest(now.get(name))
            reached = {point.there[name] if name in point.there else _peer_digest(known[name])}
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
    pairs = ((name, _peer_digest(old.get(name)), _peer_digest(new.get(name))) for name in old.keys() | new.keys())
    return {name: now for name, was, now in pairs if was != now}


def point_of(workspace: Workspace, space: str) -> SyncPoint:
    """The space of a store as it is now. Raises CorruptError, StoreError."""
    log = read_log(workspace, space)  # before the space: what is done meanwhile counts as done since
    return log.point(load_space(workspace.store, space), len(log.acts))


def _peer_digest(memory: Memory | None) -> str:
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
        "nothing was erased; see `memcli store audit --verify` there, and ask its administrator; --as-new merges without it",
    )
