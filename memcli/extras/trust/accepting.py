"""Accept a clone, what was imported, or single memories that carry instructions."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app.edit import alter
from memcli.app.workspace import Workspace, load
from memcli.codec.space import policy_to_json
from memcli.errors import RefusedError
from memcli.model.memory import Json, Memory
from memcli.policy.fields import tightened
from memcli.record import Record, as_dict
from memcli.safety.injection import accepted, inspect, is_accepted


class SpaceTrust(Record):
    """One space as far as trust goes: how many memories carry instructions, and how many nobody has reviewed."""

    space: str
    memories: int
    untrusted: int
    unreviewed: int

    def to_json(self) -> dict[str, Json]:
        return as_dict(self)


def standing(workspace: Workspace) -> list[SpaceTrust]:
    """Every space of the store. Raises CorruptError, StoreError."""
    return [_of(workspace, name) for name in workspace.store.spaces()]


def believed(workspace: Workspace) -> dict[str, dict[str, Json]]:
    """For each space the fields of its policy that hold only in a store that is accepted. Raises CorruptError, StoreError."""
    found: dict[str, dict[str, Json]] = {}
    for name in workspace.store.spaces():
        policy = load(workspace, name).policy
        tight = policy_to_json(tightened(policy))
        if loose := {field: v for field, v in policy_to_json(policy).items() if tight.get(field) != v}:
            found[name] = loose
    return found


def accept_memories(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """Accepts these memories as they are: recall shows them again, until their text changes.

    Raises NotFoundError; RefusedError while the store itself waits to be accepted.
    """
    if not workspace.trust.is_accepted:
        raise RefusedError("this store was cloned and is not trusted yet", "run `memcli trust` first")
    memories = alter(workspace, refs, lambda memory, _: accepted(memory))
    workspace.trust.accept_memories(workspace.space, [m.id for m in memories])
    return memories


def _of(workspace: Workspace, name: str) -> SpaceTrust:
    memories = load(workspace, name).objects
    trust = workspace.trust
    found = [(m, inspect(m)) for m in memories]
    untrusted = sum(f is not None and not (trust.is_reviewed(name, m.id) and is_accepted(m, f)) for m, f in found)
    return SpaceTrust(name, len(memories), untrusted, sum(not trust.is_reviewed(name, m.id) for m in memories))
