"""Sync: a space of this store and the same of another one, merged three ways by what both were at the last sync.

The other store may be wrong: wiped, restored from a backup, another one at the same address, written past its log. What it
has is taken for granted only as far as its audit log explains how that came from the last sync.
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
"""So many deletions at once, or so much of a space where that is more than one memory, are taken over."""
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

    What one side purged for good does not come back from the other; what it deleted goes into the trash. What comes from
    the other side is redacted, and waits for review as what is imported does. With `as_new` it merges without a base, and
    deletes nothing. `shown` names the other store. Raises RefusedError, NotFoundError for a space that neither side has,
    LockedError, CorruptError, StoreError.
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
    """A sync of one space, round by round, and what it did: how many memories changed here and there, and what the merge could
    not decide without loss. In the end `hash` is the SHA-256 of the canonical file that both sides have."""

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
        self._purged: dict[str, str] = {}  # on either side: ids, and until when made

    def to_json(self) -> dict[str, Json]:
        conflicts = [{"id": c.id, "path": c.path, "field": c.field} for c in self.conflicts]
        told = {"space": self._name, "hash": self.hash, "received": self.received, "sent": self.sent}
        return {**told, "conflicts": conflicts, "moved": dict(self.moved)}

    def round(self) -> Space | None:
        """What both sides have now; None where somebody wrote meanwhile, or purges came first."""
        ours, theirs = load_space(self._local.store, self._name), self._load_theirs()
        log = self._their_log()  # after the space, so that it tells of all that is there
        known = self._known(log, theirs)
        with from_elsewhere("`memcli check store` lists all that is wrong"):
            sound(ours, known)
        if self._purge(log, ours, theirs):
            return None
        merged, is_written = self._send(ours, known)
        stored, now = self._load_theirs(), self._their_log()
        sent = now.point(merged.space, len(log.acts))
        lost = now.unexplained(sent, stored)
        is_last = bool(now.lineage.store) and len(now.acts) <= sent.entries + 1  # nobody has written since
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
        # Of which the other side is a descendant now, until this one is, too.
        self._base.save(now.point(ours, count, differing(ours, merged.space)))
        after, changed = _receive(self._local, ours, merged.space)
        self.received += changed
        self._base.save(now.point(merged.space, count))
        return after if encode_full(after) == encode_full(merged.space) else None

    def _load_theirs(self) -> Space:
        with from_elsewhere(AT_ITS_SOURCE, self._shown):
            return load_space(self._remote.store, self._name)

    def _their_log(self) -> PeerLog:
        """The log of the other side; without its acts where it cannot be believed and the merge need not."""
        try:
            return read_log(self._remote, self._name, self._local.clock())
        except CorruptError:
            if not self._as_new:
                raise
            return PeerLog(self._remote.audit.lineage(self._name))

    def _known(self, log: PeerLog, theirs: Space) -> Space:
        """The base of the merge. Raises RefusedError where the other side does not know it, CorruptError where it has not
        come from there by what its log says."""
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
        """Erases on each side what the other purged for good; whether that was anything."""
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
        """Merges into the other side; what both are to be, and whether anything was written."""
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
            return replace(change_to(theirs, merged.space), keep=True)

        receipt = self._remote.store.update(self._name, apply)
        self.sent += len(receipt.touched)
        return merged, bool(receipt.touched or receipt.header_changed)

    def _check_deletions(self, count: int, space: Space, where: str) -> None:
        """Raises RefusedError for more deletions at once than are taken over unasked."""
        size = len(space.objects)
        if self._accept or count <= 1 or (count <= _MANY and count <= _SHARE * size):
            return
        raise RefusedError(
            f"the sync would delete {count} of the {size} memories of space {self._name!r} {where}",
            "nothing was deleted; --accept-deletions deletes them, --as-new brings them back to the other side",
        )


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
        return replace(change_to(before, after), keep=True)

    receipt = local.store.update(name, apply)
    return after, len(receipt.touched)


def _erase(workspace: Workspace, name: str, purged: Mapping[str, str]) -> int:
    """Erases what the other side purged for good; returns how many memories that were."""
    if not purged:
        return 0

    def apply(shelf: Shelf) -> Change:
        found = map(shelf.get, purged)
        ids = {m.id for m in found if m is not None and m.created_at <= purged[m.id]}
        return replace(removal(shelf, ids, workspace.clock()), erase=True)

    return workspace.store.update(name, apply).removed


def _missing(before: Space, after: Space) -> int:
    """How many memories are gone."""
    return len({memory.id for memory in before.objects} - {memory.id for memory in after.objects})


def _listed(paths: Sequence[str]) -> str:
    """How many memories they are of, and the first of them."""
    return f"{counted(len(paths), 'memory', 'memories')} ({', '.join(paths[:_SHOWN])}{', ...' if len(paths) > _SHOWN else ''})"


def _redacted(local: Workspace, merged: Space, base: Space) -> Space:
    """The space without what is secret in what either side changed."""
    known = {memory.id: encode_memory(memory) for memory in base.objects}
    changed = tuple(m for m in merged.objects if known.get(m.id) != encode_memory(m))
    clean, kinds = redacted(local, merged.name, replace(merged, objects=changed))
    if not kinds:
        return merged
    ours = {memory.id: memory for memory in clean.objects}
    return replace(clean, objects=tuple(ours.get(memory.id, memory) for memory in merged.objects))
