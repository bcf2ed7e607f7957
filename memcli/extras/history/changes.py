"""The changes of memories between two states of a store, and the commits that made them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from memcli.app.catalogue import placed
from memcli.app.redact import Redactor
from memcli.app.workspace import Workspace, load, load_space
from memcli.codec.canonical import encode
from memcli.codec.memory import memory_to_json
from memcli.codec.space import find_memory, policy_to_json
from memcli.digests import blake2b
from memcli.errors import CorruptError
from memcli.model.changes import STATUSES, Blame, FieldChange, HistoryCommit, MemoryChange, SpaceChange
from memcli.model.memory import Memory
from memcli.model.space import Policy, Space
from memcli.ports import Snapshot, Store
from memcli.present.changes import compare, memory_change
from memcli.record import replace
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import clean_field, clean_memories

if TYPE_CHECKING:
    from memcli.git.revisions import StoreHistory


_RENAMED_SHARE = 0.5
"""The least share of the memories of the smaller of two spaces that the other must have for a rename."""


def diff(before: Store, after: Store, spaces: Sequence[str] | None = None) -> list[SpaceChange]:
    """The changes of the spaces that differ, or of those in `spaces`, in order of name. Raises CorruptError, StoreError."""
    old, new = ([name for name in s.spaces() if spaces is None or name in spaces] for s in (before, after))
    if spaces is None:  # a space that git does not track would always be new
        new = [name for name in new if name in old or after.policy(name).is_tracked]
    was = {name: load_space(before, name) for name in old if name not in new}
    now = {name: load_space(after, name) for name in new if name not in old}
    renamed = _renamed(list(was.values()), list(now.values()))
    found = []
    for name in sorted({*old, *new} - set(renamed.values())):
        source = renamed.get(name, name)
        one, other = was.get(source), now.get(name)
        if name in old and name in new:
            # By digests, so that of a large space only the memories that differ are decoded and held.
            with closing(before.open(name)) as ours, closing(after.open(name)) as theirs:
                first, second = ({_digest(data) for data, _ in snapshot.records()} for snapshot in (ours, theirs))
                one, other = _without(ours, first & second), _without(theirs, first & second)
        change = _compare(name, source, one, other)
        if change.status != "changed" or change.fields or change.memories:
            found.append(change)
    return found


def shown(changes: Sequence[SpaceChange], redactor: Redactor, *stores: Store) -> list[SpaceChange]:
    """The redacted changes, by the policy of each space in the last of `stores` that has it. Raises CorruptError,
    StoreError."""
    policies = {name: store.policy(name) for store in stores for name in store.spaces()}
    found = []
    for change in changes:
        detector = redactor.on_the_way_out(policies.get(change.name, Policy()))
        memories = tuple(clean_changes(change.memories, detector))
        found.append(replace(change, fields=_clean(change.fields, detector), memories=memories))
    return found


def clean_changes(changes: Sequence[MemoryChange], detector: Detector) -> list[MemoryChange]:
    """The redacted changes of memories."""
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


def _without(snapshot: Snapshot, digests: Collection[bytes]) -> Space:
    """The space with those memories only whose bytes have none of these digests. Raises CorruptError."""
    changed = [data for data, _ in snapshot.records() if _digest(data) not in digests]
    try:
        return replace(snapshot.header(), objects=tuple(map(snapshot.decode, changed)))
    except CorruptError:
        return snapshot.load()  # raises an error with the exact place of the damage


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _renamed(removed: Sequence[Space], new: Sequence[Space]) -> dict[str, str]:
    """The former names of renamed spaces, by their new names."""
    found: dict[str, str] = {}
    for space in new:
        ids = {m.id for m in space.objects}
        shared = {old.name: len(ids & {m.id for m in old.objects}) for old in removed if old.name not in found.values()}
        best = max(
            shared, key=lambda name: (shared[name], name), default=None
        )  # by name, too: no tie depends on an order
        if best is not None and shared[best]:
            smaller = min(len(ids), *(len(old.objects) for old in removed if old.name == best))
            if shared[best] >= _RENAMED_SHARE * smaller:
                found[space.name] = best
    return found


def _compare(name: str, was: str, before: Space | None, after: Space | None) -> SpaceChange:
    """The changes of a space, which was called `was`; None stands for a state without the space."""
    status = "added" if before is None else "removed" if after is None else "renamed" if was != name else "changed"
    old, new = before or Space(was), after or Space(name)
    if status == "renamed":
        # Memories contain the name of their space: by that alone, each would count as changed.
        old = replace(old, objects=tuple(placed(m, name) if m.metadata.get("space") == was else m for m in old.objects))
    one, other = (
        {**space.extra, "metadata": space.metadata, "policy": policy_to_json(space.policy)} for space in (old, new)
    )
    fields = compare(one, other) if status in ("changed", "renamed") else ()
    old_memories, new_memories = ({m.id: m for m in space.objects} for space in (old, new))
    ids = [*(id_ for id_ in old_memories if id_ not in new_memories), *new_memories]
    found = [change for id_ in ids if (change := memory_change(old_memories.get(id_), new_memories.get(id_)))]
    found.sort(key=lambda c: (STATUSES.index(c.status), c.memory.path, c.memory.id))
    return SpaceChange(name, status, was, fields, tuple(found))


_WITHOUT_COMMIT = frozenset(["id", "created_at", "updated_at", "version"])
"""Fields that blame leaves out: fixed ones, and those that every change sets."""
_ADDED = ""
"""The key that stands for the memory itself among its fields."""
_Fields = Mapping[str, bytes]


def blame(workspace: Workspace, history: StoreHistory, ref: str) -> Blame:
    """The commits that added the memory `ref` and last changed each of its fields; None for a field that HEAD does not have
    with its current value. Raises NotFoundError, CorruptError, ProviderError.

    The search starts at HEAD and goes back along the history of the file: if a parent of a commit has the current value of a
    field, the search goes on there, else this commit changed the field.
    """
    memory = load(workspace).find(ref)
    now = _fields(memory)
    known: dict[tuple[str, str], _Fields] = {}
    found: dict[str, HistoryCommit] = {}
    # One process of git reads all versions.
    with history.reading() as read:

        def shared(commit: str, file: str, fields: set[str]) -> set[str]:
            """The fields among `fields` that have their current value at this commit."""
            if (commit, file) not in known:  # several fields are followed through one commit, which is read once
                then = None
                with suppress(CorruptError):  # the file may have been damaged at that commit
                    data = read(commit, file)
                    then = find_memory(data, memory.id, f"{commit[:10]}:{file}") if data else None
                known[commit, file] = {} if then is None else _fields(then)
            return {field for field in fields if known[commit, file].get(field) == now[field]}

        start, name = history.repository.resolve("HEAD"), f"{workspace.space}.json"
        places = [(start, name, shared(start, name, set(now)))]
        while places:
            commit, file, wanted = places.pop()
            places += _along(history, shared, commit, file, wanted, found) if wanted else []
    fields = tuple((name, found.get(name)) for name in sorted(now) if name != _ADDED)
    return Blame(memory, found.get(_ADDED), fields)


def _along(
    history: StoreHistory,
    shared: Callable[[str, str, set[str]], set[str]],
    start: str,
    file: str,
    wanted: set[str],
    found: dict[str, HistoryCommit],
) -> list[tuple[str, str, set[str]]]:
    """Follows the fields `wanted` along the commits of the file from `start`, and adds the commit of each field to `found`.
    Returns, for renames of the file, the commit and name before with the fields to follow there."""
    origins = []
    commits = history.commits(start, file)
    pending: dict[str, set[str]] = {commits[0].hash: wanted} if commits else {}
    for commit in commits:
        remaining = pending.pop(commit.hash, set())
        for parent in commit.parents if remaining else ():
            passed = shared(parent, file, remaining)
            pending.setdefault(parent, set()).update(passed)
            remaining = remaining - passed
        # The first commit of a file of this name may have renamed it: the fields are followed under the former name.
        if remaining and not commit.parents and (origin := history.renamed_from(commit.hash, file)):
            older, parent = origin
            passed = shared(parent, older, remaining)
            origins.append((parent, older, passed))
            remaining = remaining - passed
        found.update((field, commit) for field in remaining)
    return origins


def _fields(memory: Memory) -> _Fields:
    """The encoded value of each field, with each key of the metadata as a field of its own."""
    data = memory_to_json(memory)
    metadata = {
        f"metadata.{name}": value for name, value in data.pop("metadata").items() if name not in ("hash", "space")
    }
    values = {name: encode(value) for name, value in {**data, **metadata}.items() if name not in _WITHOUT_COMMIT}
    return {_ADDED: b"", **values}
