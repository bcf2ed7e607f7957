"""Sync: a space of this store and the same of another one, merged three ways by what both were at the last sync."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.app.bundles import redacted
from memcli.app.store_copy import change_to, check_trusted, sound
from memcli.app.workspace import Workspace, load_space
from memcli.codec.audit import entries
from memcli.codec.merge import Conflict, Merged, merge
from memcli.codec.space import encode_memory, encode_space, new_space
from memcli.digests import sha256
from memcli.errors import LockedError, NotFoundError, RefusedError
from memcli.model.memory import Json
from memcli.model.references import removal, without_dangling
from memcli.model.space import Change, Space
from memcli.ports import Shelf, SyncBase
from memcli.record import Record, field, replace

_ROUNDS = 5


class Synced(Record):
    """What a sync did: how many memories changed here and there, and what the merge could not decide without loss.
    `hash` is the SHA-256 of the canonical file that both sides now have."""

    space: str
    hash: str
    received: int
    sent: int
    conflicts: tuple[Conflict, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        conflicts = [{"id": c.id, "path": c.path, "field": c.field} for c in self.conflicts]
        told = {name: getattr(self, name) for name in ("space", "hash", "received", "sent")}
        return {**told, "conflicts": conflicts, "moved": dict(self.moved)}


def sync(local: Workspace, remote: Workspace, name: str, base: SyncBase) -> Synced:
    """Merges the space of both stores, and writes the result to both, each in one transaction.

    What one side purged for good does not come back from the other. What comes from the other side is redacted, and waits
    for review as what is imported does. Raises RefusedError, LockedError, CorruptError, StoreError.
    """
    _check(local, remote, name)
    received = sent = 0
    conflicts: dict[Conflict, None] = {}
    moved: dict[str, str] = {}
    for _ in range(_ROUNDS):
        received += _erase(local, name, _purged(remote, load_space(remote.store, name)))
        ours = sound(load_space(local.store, name))
        merged, count = _send(local, remote, ours, base.load(name) or new_space(name))
        sent += count
        conflicts.update(dict.fromkeys(merged.conflicts))
        moved.update(merged.moved)
        base.save(ours)  # of which the other side is a descendant now
        after, count = _receive(local, ours, merged.space)
        received += count
        base.save(merged.space)
        data = encode_space(merged.space)
        if encode_space(after) == data:
            return Synced(name, sha256(data).hexdigest(), received, sent, tuple(conflicts), moved)
    raise LockedError(f"space {name!r} is being written by others", "run the command again")


def _check(local: Workspace, remote: Workspace, name: str) -> None:
    """Raises RefusedError for what may not be synced, NotFoundError for a space that neither side has."""
    check_trusted(local, remote)
    policy = local.load_policy(name)
    if not policy.is_tracked:
        raise RefusedError(f"space {name!r} is {policy.visibility} and stays on this machine", "sync another space")
    if not (local.has_space(name) or remote.has_space(name)):
        raise NotFoundError(f"no space {name!r} here or there", "`memcli space list` lists the spaces")


def _send(local: Workspace, remote: Workspace, ours: Space, base: Space) -> tuple[Merged, int]:
    """Merges into the other side; what both are to be, and how many memories changed there."""
    name = ours.name
    purged = _purged(local, ours)
    sent = _erase(remote, name, purged)
    theirs_purged = _purged(remote, load_space(remote.store, name))
    ours = _without(ours, theirs_purged)
    merged = Merged(ours)

    def apply(shelf: Shelf) -> Change:
        nonlocal merged
        theirs = sound(shelf.load())
        merged = merge(base, ours, _without(theirs, purged))
        merged = replace(merged, space=_redacted(local, merged.space, base))
        return change_to(theirs, merged.space)

    receipt = remote.store.update(name, apply)
    return merged, sent + len(receipt.touched)


def _receive(local: Workspace, ours: Space, merged: Space) -> tuple[Space, int]:
    """Takes the result over; the space as it is now, and how many memories changed."""
    name, after = ours.name, merged
    known = {memory.id: encode_memory(memory) for memory in ours.objects}
    come = [memory.id for memory in merged.objects if known.get(memory.id) != encode_memory(memory)]
    if come:
        local.trust.bring(name, come)

    def apply(shelf: Shelf) -> Change:
        nonlocal after
        before = shelf.load()
        after = merge(ours, before, merged).space
        return change_to(before, after)

    receipt = local.store.update(name, apply)
    return after, len(receipt.touched)


def _erase(workspace: Workspace, name: str, purged: Mapping[str, str]) -> int:
    """Erases what the other side purged for good; returns how many memories that were."""
    space = load_space(workspace.store, name)
    ids = {memory.id for memory in space.objects if _is_purged(memory.id, memory.created_at, purged)}
    if not ids:
        return 0

    def apply(shelf: Shelf) -> Change:
        return replace(removal(shelf.load().objects, ids, workspace.clock()), erase=True)

    return workspace.store.update(name, apply).removed


def _purged(workspace: Workspace, space: Space) -> dict[str, str]:
    """The ids that the log says are gone for good, with the time: of these alone it has no path any more."""
    purged: dict[str, str] = {}
    for entry in entries(workspace.audit.read(space.name)):
        for change in entry["changes"]:
            _note(purged, change, str(entry.get("time", "")))
    there = {memory.id for memory in space.objects}
    return {name: at for name, at in purged.items() if name not in there}


def _note(purged: dict[str, str], change: Mapping[str, Any], at: str) -> None:
    name = str(change.get("id"))
    if change.get("after") == "" and "path" not in change:
        purged[name] = at
    elif change.get("after"):
        purged.pop(name, None)


def _is_purged(name: str, created_at: str, purged: Mapping[str, str]) -> bool:
    """Whether it was purged, and not made anew since."""
    return name in purged and created_at <= purged[name]


def _without(space: Space, purged: Mapping[str, str]) -> Space:
    gone = {memory.id for memory in space.objects if _is_purged(memory.id, memory.created_at, purged)}
    if not gone:
        return space
    kept = (without_dangling(m, lambda name: name not in gone) for m in space.objects if m.id not in gone)
    return replace(space, objects=tuple(sorted(kept, key=lambda memory: memory.order)))


def _redacted(local: Workspace, merged: Space, base: Space) -> Space:
    """The space without what is secret in what either side changed."""
    known = {memory.id: encode_memory(memory) for memory in base.objects}
    changed = tuple(m for m in merged.objects if known.get(m.id) != encode_memory(m))
    clean, kinds = redacted(local, merged.name, replace(merged, objects=changed))
    if not kinds:
        return merged
    ours = {memory.id: memory for memory in clean.objects}
    return replace(clean, objects=tuple(ours.get(memory.id, memory) for memory in merged.objects))
