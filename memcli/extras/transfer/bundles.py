"""Bundles: import an export of memcli, all of it or nothing."""

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
    """What an import did, or with `dry_run` would do. `signed_by` is a fingerprint; empty when there is none."""

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
    """Imports an export into the space `into` (by default the one it names): all of it, or nothing.

    See `plan_intake` for `mode`. With `trusted`, fingerprints of keys, one of them must have signed it. With `dry_run`,
    nothing is stored. If the policy of the space wants a review, the memories go into the inbox. What was purged here for
    good, and not made anew since, is left out with a warning, whatever the mode.

    Raises CorruptError if it has a wrong signature or is invalid, UsageError for a part that is to
    replace a space, RefusedError, LockedError, StoreError.
    """
    signed_by = check_signature(export.hash, export.signature, where, trusted)
    if export.part and mode == "replace":
        part = ", ".join(f"{name} {' '.join(values)}" for name, values in sorted(export.part.items()))
        raise UsageError(
            f"{where} holds a part of space {export.space.name!r} ({part})",
            "a part cannot replace a whole space; use --mode merge",
        )
    check_hashes(export.space.objects, where)
    target = into or export.space.name
    incoming, redactions = redacted_space(workspace, target, _without_purged(workspace, target, export.space))
    plan, proposed = take_in(workspace, target, incoming, mode, dry_run=dry_run)
    return BundleImport(target, plan, signed_by, bool(export.signature), dry_run, redactions, proposed)


def _without_purged(workspace: Workspace, target: str, incoming: Space) -> Space:
    """The space without what was purged for good from it here, or from the space that it goes into."""
    gone: dict[str, str] = {}
    for space in {incoming.name, target}:
        gone |= purged(workspace.audit.read(space))
    there = {memory.id for memory in load_space(workspace.store, target).objects} if gone else set()
    left = [m for m in incoming.objects if m.id in gone and m.created_at <= gone[m.id] and m.id not in there]
    if not left:
        return incoming
    paths = ", ".join(show(memory.path) for memory in left[:5])
    what = f"{len(left)} memories that were" if len(left) > 1 else "1 memory that was"
    workspace.warn(f"{what} purged here left out: {paths} (to have one again, store it with `memcli remember`)")
    return replace(incoming, objects=tuple(memory for memory in incoming.objects if memory not in left))


def take_in(workspace: Workspace, target: str, incoming: Space, mode: str, *, dry_run: bool) -> tuple[IntakePlan, int]:
    """Takes `incoming`, which was redacted, into the space `target`, or with `dry_run` stores nothing; the plan, and how many
    memories go into the inbox instead, since the policy wants a review. Raises RefusedError when the policy lets nothing go
    and there is no room."""
    plan: IntakePlan | None = None

    def apply(shelf: Shelf) -> Change:
        nonlocal plan
        plan = None
        if shelf.header.policy.review:
            return Change()
        space = shelf.load()
        is_new = not space.objects and not space.updated_at
        plan = plan_intake(space, incoming, mode, is_new)
        change = change_between(space, plan.after)
        if mode == "replace":
            change = replace(change, displaced=frozenset(memory.id for memory in change.put))
        change = replace(change, header=plan.after) if is_new else change  # an empty space is created all the same
        draft = Draft(shelf)
        draft.take(change)
        now = workspace.clock()
        if gone := room_for(draft, plan.created, now, {m.id for m in change.put}):
            released = removal(draft, gone, now)
            put = {memory.id: memory for memory in (*change.put, *released.put)}
            change = replace(change, put=tuple(put.values()), drop=change.drop | gone)
        return change

    known = load_space(workspace.store, target)
    if dry_run:
        apply(SpliceShelf(encode_space(known), target))
    else:
        if not known.policy.review:  # before it comes: a crash between the two leaves nothing that looks reviewed
            there = {memory.id: memory for memory in known.objects}
            workspace.trust.bring(target, [m.id for m in incoming.objects if there.get(m.id) != m])
        workspace.store.update(target, apply)
    return (plan, 0) if plan is not None else _proposed(workspace, target, incoming, dry_run)


def _proposed(workspace: Workspace, target: str, incoming: Space, dry_run: bool) -> tuple[IntakePlan, int]:
    """Puts the memories of the bundle into the inbox; returns the plan and how many were proposed."""
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
    """The fingerprint of the key that signed a digest; empty for none, or when it cannot be checked here and need not be.

    Raises CorruptError for a wrong signature, and with `trusted` unless it is by one of these keys.
    """
    if not signature:
        if trusted is not None:
            raise CorruptError(f"{where} is not signed", "ask for an export made with --sign")
        return ""
    try:
        signed_by = verify(digest.encode(), signature, where)
    except MissingExtraError:
        if trusted is not None:
            raise
        return ""
    if trusted is not None and signed_by not in trusted:
        raise CorruptError(f"{where} is signed by {signed_by}, which is not a trusted key", "check who created it")
    return signed_by
