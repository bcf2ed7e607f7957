"""Upkeep in the background: private and derived spaces are maintained, for the others a plan waits in the inbox."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from memcli.app.candidate import note_of, with_note
from memcli.app.maintain import maintain, preview, refuse
from memcli.app.remember import Outcome
from memcli.app.workspace import Workspace, load_space
from memcli.clock import days_between
from memcli.model.memory import Memory
from memcli.model.names import text_hash
from memcli.model.space import Change
from memcli.upkeep import usage
from memcli.upkeep.plan import TASKS, Maintained
from memcli.upkeep.step import UpkeepStep

AUTO = "auto"
_LEAST_DAYS = 1 / 24
_ID, _PATH = "mem_upkeep", "upkeep/plan"
_NOTE = "upkeep"
_MOST_LISTED = 20


def is_due(workspace: Workspace) -> bool:
    """Whether upkeep may be begun in the background now: the policy wants it, and it was not begun within the hour."""
    policy = workspace.in_force(workspace.load_policy(workspace.main))
    if policy.upkeep != AUTO:
        return False
    tried, now = workspace.upkeep.tried(), workspace.clock()
    return not tried or days_between(tried, now) >= _LEAST_DAYS


def maintain_behind(workspace: Workspace) -> list[Maintained]:
    """Maintains what git does not see, if it is due, and proposes a plan for the rest; what was done.

    What cannot be undone, since the policy grants no grace, waits for somebody to ask for it. Raises LockedError,
    CorruptError, StoreError.
    """
    if not is_due(workspace):
        return []
    workspace.upkeep.try_at(workspace.clock())
    done: list[Maintained] = []
    for name in workspace.asked_spaces:
        policy = workspace.load_policy(name)
        if workspace.in_force(policy).grace_days == 0:
            continue
        if policy.is_tracked:
            _propose(workspace, name)
        else:
            done += maintain(workspace, TASKS, [name])
    return done


def is_plan(memory: Memory) -> bool:
    """Whether what waits in the inbox is a plan of upkeep, and no memory."""
    return _NOTE in note_of(memory)


def carry_out(workspace: Workspace, plan: Memory) -> list[Outcome]:
    """Does what an accepted plan said, as far as it still fits; what became of each memory."""
    done = list(maintain(workspace, TASKS, [workspace.space], _ids(plan)))
    after = [memory for one in done for memory in one.plan.after.values()]
    found = sorted(after, key=lambda memory: (memory.path, memory.id))
    return [Outcome("updated", memory.id, memory.path, workspace.space, memory.version) for memory in found]


def turn_down(workspace: Workspace, plan: Memory) -> None:
    """Leaves alone what a rejected plan was to change, until that changes."""
    refuse(workspace, workspace.space, _ids(plan))


def _propose(workspace: Workspace, name: str) -> None:
    """Puts a plan for a space into the inbox, unless the one that waits there says as much."""
    ((_, steps),) = [(one.space, one.plan.steps) for one in preview(workspace, TASKS, [name])]
    wanted = {memory.id for step in steps if step.task != usage.NAME for memory in step.memories}
    waiting = next((m for m in load_space(workspace.inbox, name).objects if m.id == _ID), None)
    if wanted - (_ids(waiting) if waiting else set()):
        plan = _plan(steps, name, workspace.clock())
        workspace.inbox.update(name, lambda _: Change((plan,), now=plan.updated_at))


def _plan(steps: Sequence[UpkeepStep], space: str, now: str) -> Memory:
    changing = [step for step in steps if step.memories]
    ids = sorted({memory.id for step in changing for memory in step.memories})
    told = [(task, list(found)) for task, found in groupby(changing, key=lambda step: step.task)]
    counts = ", ".join(f"{task} {len(found)}" for task, found in told)
    many = "1 memory" if len(ids) == 1 else f"{len(ids)} memories"
    micro = f"Upkeep would change {many} of space {space}: {counts}."
    lines = [line for task, found in told for line in _lines(task, found)]
    raw = "\n".join([micro, "", *lines])
    memory = Memory(
        id=_ID, path=_PATH, kind="custom", raw=raw, summary_micro=micro, summary_short=micro,
        metadata={"hash": text_hash(raw, b""), "space": space}, created_at=now, updated_at=now,
    )  # fmt: skip
    return with_note(memory, {_NOTE: ids})


def _lines(task: str, steps: Sequence[UpkeepStep]) -> list[str]:
    more = len(steps) - _MOST_LISTED
    listed = [f"- {task} {step.path}: {step.reason}" for step in steps[:_MOST_LISTED]]
    return [*listed, *([f"- {task}: {more} more"] if more > 0 else [])]


def _ids(plan: Memory) -> set[str]:
    noted = note_of(plan).get(_NOTE)
    return {str(name) for name in noted} if isinstance(noted, list) else set()
