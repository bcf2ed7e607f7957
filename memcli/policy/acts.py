"""The act: what one write did to a space, and what its line in the audit log says of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.codec.canonical import encode_line
from memcli.codec.space import policy_to_json
from memcli.digests import sha256
from memcli.model.memory import Json
from memcli.model.space import Change, Policy, Receipt, Touched
from memcli.record import Record, replace
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import clean_paths

_LISTED = 50
"""So many new memories are listed one by one; of more a line holds the count and a digest."""


DELETE_SPACE = "delete space"


class Act(Record):
    """What one writer did. `by`: its user and command, where it is not the one that makes the write. `tasks` of upkeep did
    it, by name with the ids that each changed; `run` is where the trash has what was before. `advised`: what a model let go
    for it, and why."""

    action: str
    touched: Sequence[Touched]
    policy: Json = None
    by: Json = None
    tasks: Json = None
    run: str = ""
    advised: Sequence[Json] = ()

    @property
    def must_be_recorded(self) -> bool:
        """Whether it deletes or governs, and so may not be done without its line."""
        return self.policy is not None or any(not touched.after for touched in self.touched)


def act_of(
    receipt: Receipt, before: Policy, after: Policy | None, by: Json = None, change: Change | None = None
) -> Act | None:
    """What the log is to say of a write that made `change`; None when it did nothing."""
    policy = None if before == after else _difference(before, after)
    if not receipt.touched and not receipt.header_changed and policy is None:
        return None
    action = DELETE_SPACE if after is None else _action(receipt, policy)
    tasks, advised = (dict(change.tasks) or None, change.advised) if change else (None, ())
    return Act(action, receipt.touched, policy, by, tasks, advised=advised)


def _action(receipt: Receipt, policy: Json) -> str:
    if any(not touched.after for touched in receipt.touched):
        return "delete"
    if policy is not None:
        return "govern"
    if any(touched.before for touched in receipt.touched):
        return "update"
    return "create" if receipt.touched else "set header"


def author(user: str, command: str) -> dict[str, Json]:
    """Whose acts these are."""
    return {"user": user, "command": command}


def entry(space: str, act: Act, time: str, by: dict[str, Json]) -> dict[str, Json]:
    """What a line of the audit log says of an act at `time`, `by` this author where the act names none."""
    whose = {**by, **act.by} if _is_author(act.by) else by
    said: dict[str, Json] = {"time": time, **whose, "action": act.action, "space": space, **_told(act.touched)}
    if act.policy is not None:
        said["policy"] = act.policy
    if act.advised:
        said["advised"] = list(act.advised)
    return said if act.tasks is None else {**said, "tasks": act.tasks, "run": act.run}


def _is_author(by: Json) -> bool:
    return isinstance(by, dict) and by.keys() == {"user", "command"} and all(isinstance(v, str) for v in by.values())


def _told(touched: Sequence[Touched]) -> dict[str, Json]:
    touched = _clean(touched)
    new = [t for t in touched if not t.before]
    if len(new) <= _LISTED:
        return {"changes": [_change(t) for t in touched]}
    digest = sha256("".join(f"{t.id}\0{t.after}\n" for t in new).encode()).hexdigest()
    return {
        "changes": [_change(t) for t in touched if t.before],
        "created": {"count": len(new), "hash": digest},
    }


def _clean(touched: Sequence[Touched]) -> Sequence[Touched]:
    """Ids and paths without what a hand wrote into them past redaction."""
    names = [name for one in touched for name in (one.id, one.path)]
    clean = clean_paths(Detector({}, lambda _: "0" * 8), names)
    if clean == names:
        return touched
    pairs = zip(touched, clean[::2], clean[1::2], strict=True)
    return [replace(one, id=name, path=path) for one, name, path in pairs]


def _change(touched: Touched) -> Json:
    path = {"path": touched.path} if touched.path else {}  # of what is erased no word is kept
    made = {"created_at": touched.created_at} if touched.created_at else {}
    return {"id": touched.id, **path, **made, "before": touched.before, "after": touched.after}


def _difference(before: Policy, after: Policy | None) -> Json:
    """Digests of two policies, and the fields in which they differ."""
    old, new = policy_to_json(before), {} if after is None else policy_to_json(after)
    fields = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return {"before": _digest(old), "after": "" if after is None else _digest(new), "fields": fields}


def _digest(policy: Json) -> str:
    return sha256(encode_line(policy)).hexdigest()
