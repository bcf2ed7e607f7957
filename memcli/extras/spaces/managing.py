"""Creates, shows, configures and deletes spaces."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.app.catalogue import reading
from memcli.app.space import check_exists
from memcli.app.workspace import Workspace, load, load_space
from memcli.codec.space import NO_POLICY, policy_from_json, policy_to_json
from memcli.errors import CorruptError, UsageError
from memcli.model.memory import Json
from memcli.model.space import Change, Policy, Space
from memcli.policy.fields import check_policy, merged
from memcli.record import Record, field, replace
from memcli.safety.secrets.detector import SECRETS
from memcli.safety.secrets.detector import check_policy as check_redaction
from memcli.safety.secrets.redact_memory import find_in_memory
from memcli.safety.secrets.rules import EMAIL
from memcli.settings import meant_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Shelf

_RESETTABLE = "reset"
"""The key of the mark in the metadata of a space that was created with `--reset`."""


class Summary(Record):
    """The counts of memories, the policy and the metadata of a space. `problem` is the error if it could not be read."""

    name: str
    objects: int = 0
    active: int = 0
    pinned: int = 0
    updated_at: str = ""
    policy: Policy = field(default_factory=Policy)
    metadata: Mapping[str, Json] | None = None
    problem: str = ""

    def to_json(self) -> dict[str, Json]:
        data: dict[str, Json] = {
            "space": self.name, "objects": self.objects, "active": self.active, "pinned": self.pinned,
            "updated_at": self.updated_at, "policy": policy_to_json(self.policy),
        }  # fmt: skip
        if self.metadata:
            data["metadata"] = self.metadata
        if self.problem:
            data["problem"] = self.problem
        return data


def list_spaces(workspace: Workspace) -> list[Summary]:
    """All spaces, a damaged one with its problem."""
    found = []
    for name in workspace.store.spaces():
        try:
            with reading(workspace, [name]) as (space,):
                counts, header = space.counts(), space.snapshot.header()  # the index has the counts: no file is parsed
        except (CorruptError, UsageError) as error:
            found.append(Summary(name, problem=error.message))
        else:
            numbers = counts.objects, counts.active, counts.pinned
            found.append(Summary(name, *numbers, header.updated_at, header.policy, header.metadata))
    return found


def create(workspace: Workspace, name: str, metadata: Mapping[str, Json], reset: bool = False) -> tuple[Space, bool]:
    """Creates the space `name` unless it exists; returns it, and whether it is new. `reset` deletes its memories.

    Raises RefusedError if `reset` would delete memories, the space was not created with `reset`, and its policy does not allow
    deletions; LockedError, StoreError.
    """
    now = workspace.clock()
    new = name not in workspace.store.spaces()
    clean = workspace.redactor.take_in(name, {"metadata": dict(metadata)}).fields
    mark = {_RESETTABLE: True} if new and reset else {}
    header = Space(name)

    def apply(shelf: Shelf) -> Change:
        nonlocal header
        header = replace(shelf.header, metadata={**shelf.header.metadata, **clean["metadata"], **mark})
        # In a clone that is not trusted, a stranger may have set the mark.
        is_marked = shelf.header.metadata.get(_RESETTABLE) is True and workspace.trust.is_accepted
        if reset and shelf.size and not is_marked:
            refusal = workspace.refusal(header, f"a reset would delete {shelf.size} memories")
            if refusal:
                raise refusal
        if not new and not reset and header == shelf.header:
            return Change()
        header = replace(header, updated_at=now)
        return Change(drop=frozenset(shelf.ids_with_prefix("") if reset else ()), header=header)

    workspace.store.update(name, apply)
    return header, new


def show(workspace: Workspace, name: str) -> Summary:
    """The summary of one space. Raises NotFoundError, CorruptError."""
    check_exists(workspace, name)
    space = load(workspace, name)
    numbers = len(space.objects), sum(m.active for m in space.objects), sum(m.pinned for m in space.objects)
    return Summary(space.name, *numbers, space.updated_at, space.policy, space.metadata)


def set_policy(
    workspace: Workspace, name: str, fields: Mapping[str, Json], whole: bool = False
) -> tuple[Policy, Policy]:
    """Sets fields of the policy (null resets one), or with `whole` replaces it; returns the policies before and after.

    A key of `fields` may be a part of a field, such as `retention.log`. A missing space is created, unless there are no fields
    to set. Raises UsageError naming an invalid field, NotFoundError, LockedError, StoreError.
    """
    now, is_new = workspace.clock(), name not in workspace.store.spaces()
    before = after = Policy()

    def apply(shelf: Shelf) -> Change:
        nonlocal before, after
        before = shelf.header.policy
        stored = {name: value for name, value in policy_to_json(before).items() if name != NO_POLICY}
        wanted = merged({} if whole else stored, fields)
        check_policy(wanted)
        check_redaction(wanted.get("pii_redaction", {}))
        for part, value in fields.items():  # a policy is not redacted, and git tracks it
            field = part.partition(".")[0]
            # A pattern that finds e-mail addresses may look like one, so only secrets are refused there.
            detector = workspace.redactor.by_policy({"detectors": [SECRETS]} if field == "pii_redaction" else {})
            for _, kind, _ in find_in_memory(detector, {field: {part: value}}):
                what = "an e-mail address" if kind == EMAIL else "a secret"
                raise UsageError(f"policy.{field} holds {what}", "remove it; patterns do not need a real secret")
        after = policy_from_json(wanted)
        is_same = after == before and not is_new
        return Change(header=None if is_same else replace(shelf.header, policy=after, updated_at=now))

    if fields or whole:
        workspace.store.update(name, apply)
    else:
        check_exists(workspace, name)
        before = after = workspace.store.policy(name)
    # The user no longer wants questions to be stored: those that are must go, with the answers that repeat them.
    if before.gaps and not after.gaps:
        workspace.gaps.drop([gap for gap in workspace.gaps.read() if gap.space == name])
        workspace.answers.erase(only_questions=True)
    return before, after


def delete(workspace: Workspace, name: str) -> int:
    """Deletes the space and its journal, if the policy of the space allows it; returns the number of deleted memories. Raises
    NotFoundError, RefusedError, LockedError, StoreError."""
    check_exists(workspace, name)
    count = 0
    parts = [one for one in (name, *meant_by(name)[1:]) if workspace.has_space(one)]
    allowed = load_space(workspace.store, name)
    # The journal first: after a crash between the two, the deletion can be repeated, since the space still exists.
    for part in reversed(parts):

        def check(space: Space) -> None:
            if space.objects:
                what = f"this would delete {len(space.objects)} memories"
                # A journal goes with its space, by the policy of that.
                if refusal := workspace.refusal(allowed if space.name != name else space, what):
                    raise refusal
            workspace.index.rebuild(space.name)  # before the deletion: if it fails, the space still exists

        count += len(workspace.store.delete(part, check).objects)
    return count
