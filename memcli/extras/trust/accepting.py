"""The state of trust of a store, and the acceptance of single memories that contain instructions."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app.edit import alter
from memcli.app.workspace import Workspace, load
from memcli.codec.space import policy_to_json
from memcli.errors import RefusedError
from memcli.model.memory import Json, Memory
from memcli.policy.fields import tightened
from memcli.safety.screening import accepted, inspect, is_accepted


def standing(workspace: Workspace) -> list[dict[str, Json]]:
    """For each space of the store the number of its memories, of those with instructions that are not accepted, and of those
    not reviewed. Raises CorruptError, StoreError."""
    trust, found = workspace.trust, []
    for name in workspace.store.spaces():
        memories = load(workspace, name).objects
        reviewed = {memory.id for memory in memories if trust.is_reviewed(name, memory.id)}
        carrying = ((memory, finding) for memory in memories if (finding := inspect(memory)) is not None)
        # The mark of an acceptance comes along with a clone, so it counts only for a memory that was reviewed here.
        untrusted = sum(not (memory.id in reviewed and is_accepted(memory, finding)) for memory, finding in carrying)
        unreviewed = len(memories) - len(reviewed)
        found.append({"space": name, "memories": len(memories), "untrusted": untrusted, "unreviewed": unreviewed})
    return found


def believed(workspace: Workspace) -> dict[str, dict[str, Json]]:
    """By space, the fields of its policy that are in force only in a trusted store. Raises CorruptError, StoreError."""
    found: dict[str, dict[str, Json]] = {}
    for name in workspace.store.spaces():
        policy = load(workspace, name).policy
        tight = policy_to_json(tightened(policy))
        if loose := {field: v for field, v in policy_to_json(policy).items() if tight.get(field) != v}:
            found[name] = loose
    return found


def accept_memories(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """Accepts these memories, so that recall shows them until their text changes. Returns them.

    Raises NotFoundError; RefusedError while the store itself is not trusted.
    """
    if not workspace.trust.is_accepted:
        raise RefusedError("this store was cloned and is not trusted yet", "run `memcli trust` first")
    memories = alter(workspace, refs, lambda memory, _: accepted(memory))
    workspace.trust.accept_memories(workspace.space, [m.id for m in memories])
    return memories
