"""What a write did: its receipt, and the act that its line in the audit log records. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.codec.canonical import encode_line
from memcli.codec.space import memory_digest, policy_to_json
from memcli.digests import sha256
from memcli.model.links import Going, spared_days
from memcli.model.memory import Json, Memory
from memcli.model.space import Change, Policy, Receipt, Touched
from memcli.record import Record, replace
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import clean_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.policy.draft import Draft


_LISTED = 50
"""The most new memories that an audit line lists one by one; for more it has their count and one digest."""


DELETE_SPACE = "delete space"


class Act(Record):
    """What one write did. `by`: its user and command, where these are not those of the process that writes. `tasks`: the
    tasks of upkeep that did it, by name, with the ids that each changed; `run`: the trash run with the earlier versions.
    `advised`: the removals that a language model chose, and its reasons."""

    action: str
    touched: Sequence[Touched]
    policy: Json = None
    by: Json = None
    tasks: Json = None
    run: str = ""
    advised: Sequence[Json] = ()

    @property
    def must_be_recorded(self) -> bool:
        """Whether it deletes memories or changes the policy: such a write is refused where the audit log cannot be written."""
        return self.policy is not None or any(not touched.after for touched in self.touched)


def act_of(
    receipt: Receipt, before: Policy, after: Policy | None, by: Json = None, change: Change | None = None
) -> Act | None:
    """The act for the audit log of a write that made `change`; None when the write changed nothing."""
    policy: Json = None
    if before != after:  # digests of the two, and the fields in which they differ
        old, new = policy_to_json(before), {} if after is None else policy_to_json(after)
        fields = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        digests = [sha256(encode_line(tree)).hexdigest() for tree in (old, new)]
        policy = {"before": digests[0], "after": "" if after is None else digests[1], "fields": fields}
    if not receipt.touched and not receipt.header_changed and policy is None:
        return None
    if after is None:
        action = DELETE_SPACE
    elif any(not touched.after for touched in receipt.touched):
        action = "delete"
    elif policy is not None:
        action = "govern"
    elif any(touched.before for touched in receipt.touched):
        action = "update"
    else:
        action = "create" if receipt.touched else "set header"
    tasks, advised = (dict(change.tasks) or None, change.advised) if change else (None, ())
    return Act(action, receipt.touched, policy, by, tasks, advised=advised)


def entry(space: str, act: Act, time: str, by: dict[str, Json]) -> dict[str, Json]:
    """The fields of the audit line for `act` at `time`. `by`: user and command, used where the act has none of its own."""
    own = act.by
    if isinstance(own, dict) and own.keys() == {"user", "command"} and all(isinstance(v, str) for v in own.values()):
        by = own
    line: dict[str, Json] = {"time": time, **by, "action": act.action, "space": space}
    new = [one for one in act.touched if not one.before]
    listed = act.touched
    if len(new) > _LISTED:
        digest = sha256("".join(f"{one.id}\0{one.after}\n" for one in new).encode()).hexdigest()
        line["created"] = {"count": len(new), "hash": digest}
        listed = tuple(one for one in act.touched if one.before)
    # A hand-edited file bypasses redaction, so an id or a path may have a secret.
    names = [name for one in listed for name in (one.id, one.path)]
    clean = iter(clean_paths(Detector({}, lambda _: "0" * 8), names) if names else ())
    touched = [replace(one, id=next(clean), path=next(clean)) for one in listed]
    line["changes"] = [
        {
            "id": one.id,
            **({"path": one.path} if one.path else {}),  # an erased memory has none: it may quote the text
            **({"created_at": one.created_at} if one.created_at else {}),
            "before": one.before,
            "after": one.after,
        }
        for one in touched
    ]
    if act.policy is not None:
        line["policy"] = act.policy
    if act.advised:
        line["advised"] = list(act.advised)
    return line if act.tasks is None else {**line, "tasks": act.tasks, "run": act.run}


def receipt_of(draft: Draft, change: Change) -> Receipt:
    """Applies the change to the draft, and returns what it did."""
    touched = tuple(
        Touched(memory.id, memory.path, state_digest(before), state_digest(after))
        for before, after in draft.take(change)
        if (memory := after or before) is not None
    )
    return Receipt(touched, change.header is not None)


def without_erased(touched: Sequence[Touched], going: Going) -> tuple[Touched, ...]:
    """`touched` without the paths of purged memories, which may quote the text, and with their creation times."""
    erased = {memory.id: memory.created_at for memory in going.erased}
    return tuple(replace(o, path="", created_at=erased[o.id]) if o.id in erased else o for o in touched)


def parted(going: Going, grace: float) -> Going:
    """The removed memories that the trash stores, and those that are purged, when the trash stores memories for `grace`
    days."""
    trashed, erased = going.trashed, going.erased
    if trashed.policy.is_derived:  # ingest can make its memories again from the repository, but not edits to them
        trashed = replace(trashed, objects=tuple(m for m in trashed.objects if m.id in going.displaced))
    if grace == 0:
        spared = going.displaced | going.spared
        erased = (*(memory for memory in trashed.objects if memory.id not in spared), *erased)
        trashed = replace(trashed, objects=tuple(m for m in trashed.objects if m.id in going.spared))
    return replace(going, trashed=trashed, erased=erased)


def needs_trash(going: Going, *, is_whole: bool) -> bool:
    """Whether a removal stores anything in the trash. `is_whole`: the space itself is deleted."""
    return bool(going.trashed.objects) or (is_whole and not going.erased and not going.trashed.policy.is_derived)


def trash_note(going: Going, grace: float) -> str:
    """The note for the user about memories that went into the trash for `grace` days."""
    count = len(going.trashed.objects)
    what = "1 memory is" if count == 1 else f"{count} memories are"
    if count and all(memory.id in going.displaced for memory in going.trashed.objects):
        what = "the earlier version of 1 memory is" if count == 1 else f"the earlier versions of {count} memories are"
    grace = spared_days(grace) if going.spared else grace
    return f"{what} in the trash for {grace:g} days: `memcli restore --run {going.run}`"


def state_digest(memory: Memory | None) -> str:
    """The digest of a memory in an audit line; empty for None, a memory that does not exist."""
    return "" if memory is None else memory_digest(memory)
