"""Bundles: import an export of memcli, completely or not at all."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.app.candidate import Candidate
from memcli.app.inbox import propose
from memcli.app.redact import redacted_space
from memcli.app.workspace import Workspace, load_space
from memcli.codec.audit import purged
from memcli.codec.bundle import Export
from memcli.codec.memory import check_hashes
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import CorruptError, UsageError
from memcli.extras.transfer.signature import MissingExtraError, verify
from memcli.model.links import removal
from memcli.model.memory import Json
from memcli.model.names import show
from memcli.model.shapes import MEMORY_FIELDS
from memcli.model.space import Change, Space, change_between
from memcli.policy.draft import Draft, IntakePlan, plan_intake
from memcli.policy.retention import room_for
from memcli.ports import Shelf
from memcli.record import Record, field, replace

_COUNTS = ("created", "updated", "unchanged", "kept", "removed")


class BundleImport(Record):
    """What an import did, or with `dry_run` would do. `signed_by` is the fingerprint of the key; empty if the export is
    unsigned or its signature could not be checked. `redactions` counts redacted secrets by kind."""

    space: str
    plan: IntakePlan
    signed_by: str = ""
    is_signed: bool = False
    dry_run: bool = False
    redactions: Mapping[str, int] = field(default_factory=dict)
    proposed: int = 0

    def to_json(self) -> dict[str, Json]:
        counts = {**{name: getattr(self.plan, name) for name in _COUNTS}, "proposed": self.proposed}
        return {
            "space": self.space, **counts, "policy": self.plan.policy, "signed": self.is_signed,
            "signed_by": self.signed_by or None, "dry_run": self.dry_run, "redactions": dict(self.redactions),
        }  # fmt: skip


def import_bundle(
    workspace: Workspace,
    export: Export,
    where: str,
    *,
    into: str | None = None,
    mode: str = "merge",
    trusted: frozenset[str] | None = None,
    dry_run: bool = False,
) -> BundleImport:
    """Imports an export into the space `into` (by default the one that it names), completely or not at all.

    See `plan_intake` for `mode`. With `trusted`, fingerprints of keys, one of these keys must have signed the export. With
    `dry_run`, nothing is stored. If the policy of the space requires a review, the memories go into the inbox. Memories that
    were purged in this store, and not created anew since, are skipped with a warning in either mode.

    Raises CorruptError for a wrong signature or an invalid export, UsageError for an export of a part of a space that
    is to replace a whole space, RefusedError, LockedError, StoreError.
    """
    signed_by = check_signature(export.hash, export.signature, where, trusted)
    if export.part and mode == "replace":
        part = ", ".join(f"{name} {' '.join(values)}" for name, values in sorted(export.part.items()))
        raise UsageError(
            f"{where} holds a part of space {export.space.name!r} ({part})",
            "a part cannot replace a whole space; use --mode merge",
        )
    # An export that was made by hand may be whole and still hold a text whose own hash is wrong, which would be damage
    # here.
    check_hashes(export.space.objects, where)
    target = into or export.space.name
    erased: dict[str, str] = {}
    for space in {export.space.name, target}:
        erased |= purged(workspace.audit.read(space))
    stored = {memory.id for memory in load_space(workspace.store, target).objects} if erased else set()
    # A memory that was created after the purge only has the id of the purged one, so it is imported.
    skipped = [
        m for m in export.space.objects if m.id in erased and m.created_at <= erased[m.id] and m.id not in stored
    ]
    if skipped:
        paths = ", ".join(show(memory.path) for memory in skipped[:5])
        what = f"{len(skipped)} memories that were" if len(skipped) > 1 else "1 memory that was"
        workspace.warn(f"{what} purged here left out: {paths} (to have one again, store it with `memcli remember`)")
    left = tuple(memory for memory in export.space.objects if memory not in skipped)
    incoming, redactions = redacted_space(workspace, target, replace(export.space, objects=left))
    plan, proposed = take_in(workspace, target, incoming, mode, dry_run=dry_run)
    return BundleImport(target, plan, signed_by, bool(export.signature), dry_run, redactions, proposed)


def take_in(workspace: Workspace, target: str, incoming: Space, mode: str, *, dry_run: bool) -> tuple[IntakePlan, int]:
    """Stores the redacted space `incoming` in the space `target`, unless `dry_run`. Returns the plan, and the number of
    memories that go into the inbox instead because the policy requires a review.

    Raises RefusedError when there is no room and the policy allows no eviction, LockedError, StoreError.
    """
    plan: IntakePlan | None = None

    def apply(shelf: Shelf) -> Change:
        nonlocal plan
        # Anew, since a store on a server calls this again when its transaction is repeated.
        plan = None
        if shelf.header.policy.review:
            return Change()
        space = shelf.load()
        is_new = not space.objects and not space.updated_at
        plan = plan_intake(space, incoming, mode, is_new)
        change = change_between(space, plan.after)
        # The trash keeps the versions that a replacement overwrites, not only the memories that it deletes.
        if mode == "replace":
            change = replace(change, displaced=frozenset(memory.id for memory in change.put))
        change = replace(change, header=plan.after) if is_new else change  # an empty space is created all the same
        draft = Draft(shelf)
        draft.take(change)
        now = workspace.clock()
        if evicted := room_for(draft, plan.created, now, {m.id for m in change.put}):
            released = removal(draft, evicted, now)
            put = {memory.id: memory for memory in (*change.put, *released.put)}
            change = replace(change, put=tuple(put.values()), drop=change.drop | evicted)
        return change

    known = load_space(workspace.store, target)
    if dry_run:
        apply(SpliceShelf(encode_space(known), target))
    else:
        if not known.policy.review:
            # Before the write: after a crash between the two, no imported memory may look reviewed.
            stored = {memory.id: memory for memory in known.objects}
            workspace.trust.bring(target, [m.id for m in incoming.objects if stored.get(m.id) != m])
        workspace.store.update(target, apply)
    return (plan, 0) if plan is not None else _proposed(workspace, target, incoming, dry_run)


def _proposed(workspace: Workspace, target: str, incoming: Space, dry_run: bool) -> tuple[IntakePlan, int]:
    """Puts the memories of `incoming` into the inbox, unless `dry_run`; returns the plan and how many were proposed."""
    if dry_run:
        return IntakePlan(incoming), len(incoming.objects)
    candidates = [
        Candidate({name: getattr(m, name) for name in MEMORY_FIELDS if name != "version"}, {}, m.hash)
        for m in incoming.objects
    ]
    outcomes = propose(workspace.copy_with(space=target), candidates)
    proposed = sum(outcome.status == "proposed" for outcome in outcomes)
    return IntakePlan(incoming, unchanged=len(outcomes) - proposed), proposed


def check_signature(digest: str, signature: str, where: str, trusted: frozenset[str] | None) -> str:
    """The fingerprint of the key that signed a digest. Empty without a signature, and, unless `trusted` is given, when the
    library that checks signatures is not installed.

    Raises CorruptError for a wrong signature, and with `trusted` unless one of these keys made it; MissingExtraError.
    """
    if not signature:
        if trusted is not None:
            raise CorruptError(f"{where} is not signed", "ask for an export made with --sign")
        return ""
    try:
        signed_by = verify(digest.encode(), signature, where)
    except MissingExtraError:
        # An export without a signature is accepted, too, so one that cannot be checked needs no error.
        if trusted is not None:
            raise
        return ""
    if trusted is not None and signed_by not in trusted:
        raise CorruptError(f"{where} is signed by {signed_by}, which is not a trusted key", "check who created it")
    return signed_by
