"""What is kept beside the spaces of a store: the audit log and the trash; and the store in files that feeds both."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from memcli.clock import Clock
from memcli.model.memory import Json, Memory
from memcli.model.removal import Severed
from memcli.model.space import Change, Policy, Space
from memcli.ports import AuditTrail, Store, Trash
from memcli.ports.language_model import CallLedger
from memcli.record import replace
from memcli.store.file import FileStore
from memcli.store.layout import Layout
from memcli.store.pending import Acts, Erasures
from memcli.store.removal_guard import RemovalGuard
from memcli.wiring.policies import InForce
from memcli.wiring.roots import Warn

if TYPE_CHECKING:
    from memcli.postgres.server import Server
    from memcli.store.audit import AuditLog
    from memcli.store.trash import FileTrash

_MAX_USER = 64


class StoreRecords(NamedTuple):
    """Where spaces are kept, with the trash, the audit log and the ledger of these, and the server that has some of them."""

    store: Store
    load_trash: Callable[[], Trash]
    load_audit: Callable[[], AuditTrail]
    load_ledger: Callable[[], CallLedger]
    server: Server | None = None


class AuditRecords:
    """The audit log and the trash of a store, each loaded when it is first needed, and how memories are erased."""

    def __init__(self, layout: Layout, clock: Clock, environ: Mapping[str, str], command: str, warn: Warn) -> None:
        self.layout, self.warn = layout, warn
        self.clock, self.command = clock, command
        self.user = cache(lambda: _user(environ))
        self.audit = cache(lambda: _audit(layout, clock, self.user, command, warn))
        self.trash = cache(lambda: _trash(layout, clock, command, warn))

    def erase(self, space: str, hashes: Mapping[str, str]) -> None:
        """Erases memories, by their ids with the hashes of their texts, from all that memcli keeps beside the space."""
        self.erase_traces(space, {*hashes, *(memory.id for memory in self.trash().find(space, hashes))})
        self.trash().erase(space, hashes)  # last: it alone says which other memories have the same text

    def erase_traces(self, space: str, ids: Collection[str]) -> None:
        """Erases memories from the indexes and logs of their space, from the quarantine, and from what killed writers left."""
        from memcli.index.erasing import erase
        from memcli.store.answers import LocalAnswers
        from memcli.store.leftovers import remove_leftovers
        from memcli.store.quarantine import erase_quarantined
        from memcli.store.state import State
        from memcli.store.sync_base import erase_bases
        from memcli.store.usage import LocalUsage

        erase_bases(self.layout, space, ids)
        self.audit().erase(space, ids)
        state = State(self.layout, self.warn)
        LocalUsage(state).erase(space, ids)
        LocalAnswers(state).erase_texts()
        erase(self.layout.cache(""), self.layout.index(space), ids, self.layout.written_at(space))
        remove_leftovers(self.layout)
        erase_quarantined(self.layout, space, ids, self.warn)


def open_files(
    layout: Layout,
    fold: Callable[..., tuple[Change, Json]],
    wait: float,
    records: AuditRecords,
    in_force: InForce,
    show: Callable[[Sequence[Memory], Policy], Sequence[Memory]],
    is_accepted: Callable[[], bool],
) -> FileStore:
    """The store in files, whose removals go into the trash, as `show` gives them, and whose changes go into the audit log."""

    def keep(removed: Space, severed: Sequence[Severed], replacing: Sequence[Memory]) -> str:
        from memcli.safety.secrets.detector import Detector

        clean = replace(removed, objects=tuple(show(removed.objects, removed.policy)))
        find = Detector({}, lambda _: "").find
        return records.trash().keep(clean, [one for one in severed if not find(one.id)], replacing)

    erasures = Erasures(layout, records.erase, records.warn)
    guard = RemovalGuard(layout, keep, erasures, in_force, records.warn)
    acts = Acts(layout, records.audit, records.warn)
    return FileStore(layout, fold, guard, wait, acts=acts, erasures=erasures, is_accepted=is_accepted)


def _user(environ: Mapping[str, str]) -> str:
    """Who is at work: `MEMCLI_USER`, or the name that this person logged in with, or else the number."""
    named = next((environ[name] for name in ("MEMCLI_USER", "LOGNAME", "USER", "USERNAME") if environ.get(name)), "")
    if not named and os.name != "nt":
        import pwd

        with suppress(KeyError):  # a user that the system has no name for, as in many a container
            named = pwd.getpwuid(os.getuid()).pw_name
        named = named or str(os.getuid())
    from memcli.safety.secrets.detector import Detector

    named = "".join(c for c in named if c.isprintable())
    return Detector({}, lambda _: "").redact(named)[0][:_MAX_USER]


def _audit(layout: Layout, clock: Clock, user: Callable[[], str], command: str, warn: Warn) -> AuditLog:
    from memcli.store.audit import AuditLog

    return AuditLog(layout, clock, user, command, warn)


def _trash(layout: Layout, clock: Clock, command: str, warn: Warn) -> FileTrash:
    from memcli.store.trash import FileTrash

    return FileTrash(layout, clock, command, warn)
