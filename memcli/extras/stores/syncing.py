"""Sync: the three-way merge of a space of this store with that of another one, on the base of the last sync.

The other store may have been wiped, restored from a backup, replaced by another one at the same address, or changed without
its log. Its changes are accepted only if its audit log explains how they followed from the last sync.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.app.redact import redacted_space as redacted
from memcli.app.workspace import Workspace, load_space
from memcli.codec.memory import AT_ITS_SOURCE
from memcli.codec.merge import Conflict, Merged, merge, without_creations
from memcli.codec.space import encode_full, encode_memory, new_space
from memcli.digests import sha256
from memcli.errors import CorruptError, LockedError, NotFoundError, RefusedError, StoreError, from_elsewhere
from memcli.extras.stores.copying import change_to, check_trusted, sound
from memcli.extras.stores.log import PeerLog, differing, doomed, purges, read_log
from memcli.model.links import removal
from memcli.model.memory import Json
from memcli.model.names import counted
from memcli.model.space import Change, Space
from memcli.ports import Shelf
from memcli.record import replace

if TYPE_CHECKING:
    from memcli.extras.stores.sync_base import FileSyncBase

_ROUNDS = 5
_MANY, _SHARE = 10, 0.2
"""The most deletions that a sync makes without --accept-deletions: as a number, and as a share of the space. One is always
allowed."""
_SHOWN = 3


def sync(
    local: Workspace,
    remote: Workspace,
    name: str,
    base: FileSyncBase,
    *,
    accept_deletions: bool = False,
    as_new: bool = False,
    shown: str = "the other store",
) -> StoreSync:
    """Merges the space of both stores, and writes the result to both, each in one transaction.

    A memory that one side purged for good does not come back from the other; one that it deleted goes into the trash. Memories
    from the other side are redacted and wait for review, as imported ones do. With `as_new` it merges without a base and
    deletes nothing. `shown` names the other store in messages. Raises RefusedError, NotFoundError for a space that neither
    side has, LockedError, CorruptError, StoreError.
    """
    check_trusted(local, remote)
    policy = local.store.policy(name)
    if not policy.is_tracked:
        raise RefusedError(f"space {name!r} is {policy.visibility} and stays on this machine", "sync another space")
    if not (local.has_space(name) or remote.has_space(name)):
        raise NotFoundError(f"no space {name!r} here or there", "`memcli space list` lists the spaces")
    work = StoreSync(local, remote, name, base, accept_deletions, as_new, shown)
    for _ in range(_ROUNDS):
        if (after := work.round()) is not None:
            work.hash = sha256(encode_full(after)).hexdigest()
            return work
    raise LockedError(f"space {name!r} is being written by others", "run the command again")


class StoreSync:
    """A sync of one space, in rounds, and its result: how many memories were changed here (`received`) and there (`sent`), the
    conflicts of the merge, and the memories that it moved. `hash` is the SHA-256 of the canonical file on both sides."""

    def __init__(
        self,
        local: Workspace,
        remote: Workspace,
        name: str,
        base: FileSyncBase,
        accept_deletions: bool,
        as_new: bool,
        shown: str,
    ) -> None:
        self._local, self._remote, self._name = local, remote, name
        self._base, self._accept, self._as_new, self._shown = base, accept_deletions, as_new, shown
        self.received = self.sent = 0
        self.hash = ""
        self.conflicts: dict[Conflict, None] = {}
        self.moved: dict[str, str] = {}
        self._purged: dict[str, str] = {}  # ids purged on either side, with the creation times of the purged memories

    def to_json(self) -> dict[str, Json]:
        conflicts = [{"id": c.id, "path": c.path, "field": c.field} for c in self.conflicts]
        counts = {"space": self._name, "hash": self.hash, "received": self.received, "sent": self.sent}
        return {**counts, "conflicts": conflicts, "moved": dict(self.moved)}

    def round(self) -> Space | None:
        """One attempt: the space that both sides have now, or None if another round is needed, since somebody wrote meanwhile or
        purges were made first."""
        ours, theirs = load_space(self._local.store, self._name), self._load_theirs()
        log = self._their_log()  # read after the space, so that it explains all changes in it
        known = self._known(log, theirs)
        with from_elsewhere("`memcli check store` lists all that is wrong"):
            sound(ours, known)
        if self._purge(log, ours, theirs):
            return None
        merged, is_written = self._send(ours, known)
        stored, now = self._load_theirs(), self._their_log()
        sent = now.point(merged.space, len(log.acts))
        lost = now.unexplained(sent, stored)
        # The other store is read again: it may have lost what was sent, and this side must not take that for deletions.
        is_last = bool(now.lineage.store) and len(now.acts) <= sent.entries + 1  # nobody else has written since
        if is_last:
            wanted = {memory.id for memory in sent.space.objects}
            lost += [memory.path for memory in stored.objects if memory.id not in wanted]
        if lost or (is_last and replace(stored, objects=()) != replace(sent.space, objects=())):
            raise StoreError(
                f"the other store did not keep {_listed(lost) if lost else 'the policy and metadata'} as sent",
                "nothing was received; check that store with `memcli check store`, then run the command again",
            )
        if doomed(purges(self._remote, now, ours), stored, ours):
            return None
        self.conflicts.update(dict.fromkeys(merged.conflicts))
        self.moved.update(merged.moved)
        count = len(log.acts) + is_written
        # A base for the case of a crash here: the other side has the merge already, and this side still has `ours`.
        self._base.save(now.point(ours, count, differing(ours, merged.space)))
        after, changed = _receive(self._local, ours, merged.space)
        self.received += changed
        self._base.save(now.point(merged.space, count))
        return after if encode_full(after) == encode_full(merged.space) else None

    def _load_theirs(self) -> Space:
        with from_elsewhere(AT_ITS_SOURCE, self._shown):
            return load_space(self._remote.store, self._name)

    def _their_log(self) -> PeerLog:
        """The audit log of the other side; with `as_new`, a log that cannot be trusted counts as empty. Raises CorruptError."""
        try:
            return read_log(self._remote, self._name, self._local.clock())
        except CorruptError:
            if not self._as_new:
                raise
            return PeerLog(self._remote.audit.lineage(self._name))

    def _known(self, log: PeerLog, theirs: Space) -> Space:
        """The base of the merge, empty at the first sync. Raises RefusedError if the history of the other side does not contain
        it, CorruptError if its log does not explain its changes since."""
        store = log.lineage.store
        point = None if self._as_new else self._base.load(self._name, store)
        is_other = point is None and not self._as_new and self._base.has_other(self._name, store)
        if is_other or (point is not None and not log.follows(point)):
            raise RefusedError(
                f"the other store does not know the last sync of space {self._name!r}: it was wiped, replaced or "
                "restored from a backup",
                "nothing was changed; if that is meant, `memcli store sync --as-new` merges both and deletes nothing",
            )
        if point is None:
            return new_space(self._name)
        if lost := log.unexplained(point, theirs):
            raise CorruptError(
                f"the other store has changed or lost {_listed(lost)}, and its audit log does not say so",
                "nothing was changed; check it, or bring back what was here with `memcli store sync --as-new`",
            )
        return point.space

    def _purge(self, log: PeerLog, ours: Space, theirs: Space) -> bool:
        """Erases on each side the memories that the other purged for good; returns whether there were any. Raises RefusedError."""
        by_them = purges(self._remote, log, ours, theirs)
        our_log = PeerLog()
        if differing(theirs, ours):
            try:
                our_log = read_log(self._local, self._name)
            except CorruptError:
                self._local.warn(f"no purges were sent: the audit log of space {self._name!r} here is broken")
        by_us = purges(self._local, our_log, ours, theirs)
        self._purged = {name: max(by_them.get(name, ""), by_us.get(name, "")) for name in {**by_them, **by_us}}
        here, there = doomed(by_them, theirs, ours), doomed(by_us, ours, theirs)
        self._check_deletions(len(here), ours, "here")
        self._check_deletions(len(there), theirs, "in the other store")
        self.received += _erase(self._local, self._name, here)
        self.sent += _erase(self._remote, self._name, there)
        return bool(here or there)

    def _send(self, ours: Space, known: Space) -> tuple[Merged, bool]:
        """Merges into the other side; returns the merge, which this side must take over, and whether anything was written. Raises
        RefusedError, CorruptError."""
        merged = Merged(ours)

        def apply(shelf: Shelf) -> Change:
            nonlocal merged
            with from_elsewhere(AT_ITS_SOURCE, self._shown):
                theirs = sound(shelf.load(), known)
            merged = merge(known, ours, theirs)
            left = (without_creations(memory, self._purged.get(memory.id, "")) for memory in merged.space.objects)
            merged = replace(merged, space=_redacted(self._local, replace(merged.space, objects=tuple(left)), known))
            self._check_deletions(_missing(ours, merged.space), ours, "here")
            self._check_deletions(_missing(theirs, merged.space), theirs, "in the other store")
            # Into the trash, whatever grace the policy grants: the other store may be wrong.
            return replace(change_to(theirs, merged.space), keep=True)

        receipt = self._remote.store.update(self._name, apply)
        self.sent += len(receipt.touched)
        return merged, bool(receipt.touched or receipt.header_changed)

    def _check_deletions(self, count: int, space: Space, where: str) -> None:
        """Raises RefusedError for more deletions of a space than are allowed without --accept-deletions."""
        size = len(space.objects)
        if self._accept or count <= 1 or (count <= _MANY and count <= _SHARE * size):
            return
        raise RefusedError(
            f"the sync would delete {count} of the {size} memories of space {self._name!r} {where}",
            "nothing was deleted; --accept-deletions deletes them, --as-new brings them back to the other side",
        )


def _receive(local: Workspace, ours: Space, merged: Space) -> tuple[Space, int]:
    """Merges the result into this store; returns the space after that, and the number of memories that changed."""
    name, after = ours.name, merged
    known = {memory.id: encode_memory(memory) for memory in ours.objects}
    come = [memory.id for memory in merged.objects if known.get(memory.id) != encode_memory(memory)]
    if come:
        # Before the memories are stored: after a crash in between none of them passes for reviewed.
        local.trust.bring(name, come)

    def apply(shelf: Shelf) -> Change:
        nonlocal after
        before = shelf.load()
        after = merge(ours, before, merged).space
        return replace(change_to(before, after), keep=True)

    receipt = local.store.update(name, apply)
    return after, len(receipt.touched)


def _erase(workspace: Workspace, name: str, purged: Mapping[str, str]) -> int:
    """Erases memories that the other side purged for good; returns how many."""
    if not purged:
        return 0

    def apply(shelf: Shelf) -> Change:
        found = map(shelf.get, purged)
        ids = {m.id for m in found if m is not None and m.created_at <= purged[m.id]}
        return replace(removal(shelf, ids, workspace.clock()), erase=True)

    return workspace.store.update(name, apply).removed


def _missing(before: Space, after: Space) -> int:
    """The number of memories of `before` that `after` lacks."""
    return len({memory.id for memory in before.objects} - {memory.id for memory in after.objects})


def _listed(paths: Sequence[str]) -> str:
    """The number of paths, and the first three, for a message."""
    return f"{counted(len(paths), 'memory', 'memories')} ({', '.join(paths[:_SHOWN])}{', ...' if len(paths) > _SHOWN else ''})"


def _redacted(local: Workspace, merged: Space, base: Space) -> Space:
    """The merged space without secrets in the memories that either side changed since the base."""
    known = {memory.id: encode_memory(memory) for memory in base.objects}
    changed = tuple(m for m in merged.objects if known.get(m.id) != encode_memory(m))
    clean, kinds = redacted(local, merged.name, replace(merged, objects=changed))
    if not kinds:
        return merged
    ours = {memory.id: memory for memory in clean.objects}
    return replace(clean, objects=tuple(ours.get(memory.id, memory) for memory in merged.objects))
