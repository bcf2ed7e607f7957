"""The plan of upkeep: the tasks in order, each over the result of the ones before; and reports of it as text and JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from memcli.codec.memory import memory_to_json
from memcli.extras.upkeep import tasks
from memcli.extras.upkeep.step import Given, Task, UpkeepStep
from memcli.extras.upkeep.tasks import USAGE_NAME
from memcli.model.memory import Json, Memory
from memcli.model.names import counted
from memcli.record import Record, field, replace

# No task makes work for one before it, so that a second run finds nothing.
TASKS: Mapping[str, Task] = {
    tasks.USAGE_NAME: tasks.propose_usage,
    tasks.ARCHIVE_NAME: tasks.propose_archive,
    tasks.DECAY_NAME: tasks.propose_decay,
    tasks.LINKS_NAME: tasks.propose_links,
    tasks.CLUSTERS_NAME: tasks.propose_clusters,
    tasks.MERGE_NAME: tasks.propose_merge,
    tasks.TAGS_NAME: tasks.propose_tags,
    tasks.REVIEW_NAME: tasks.propose_review,
}
"""The tasks in the order in which they run."""
# What any other task changes there, the next `ingest` would undo.
OF_DERIVED = (tasks.USAGE_NAME, tasks.CLUSTERS_NAME, tasks.REVIEW_NAME)
"""The tasks for derived spaces."""


class UpkeepPlan(Record):
    """The steps for one space, by task, and the memories that they change, by id, before and after. `undone` counts the
    memories that are skipped because the user undid or rejected an earlier change."""

    steps: tuple[UpkeepStep, ...] = ()
    before: Mapping[str, Memory] = field(default_factory=dict)
    after: Mapping[str, Memory] = field(default_factory=dict)
    undone: int = 0

    @property
    def tokens(self) -> int:
        """The number of tokens that the plan removes from recall."""
        return sum(step.tokens for step in self.steps)

    def with_parts(self, whole: Mapping[str, Memory], names: Collection[str]) -> UpkeepPlan:
        """The plan with the fields `names` of its memories taken from the memories `whole`, which are by id."""

        def filled(memory: Memory) -> Memory:
            return replace(memory, **{name: getattr(whole[memory.id], name) for name in names})

        steps = tuple(replace(step, memories=tuple(map(filled, step.memories))) for step in self.steps)
        before, after = ({name: filled(one) for name, one in of.items()} for of in (self.before, self.after))
        return replace(self, steps=steps, before=before, after=after)


class Maintained(Record):
    """What upkeep did in a space, or would do: the steps of `plan`. `skipped` are steps whose memories another process changed
    meanwhile; `run` is the run of the trash that has the memories before the change."""

    space: str
    plan: UpkeepPlan
    skipped: tuple[UpkeepStep, ...] = ()
    run: str = ""


def plan(memories: Iterable[Memory], given: Given, tasks: Collection[str] = tuple(TASKS)) -> UpkeepPlan:
    """The plan of these tasks for the memories. It does not depend on the order of the memories."""
    before = {memory.id: memory for memory in sorted(memories, key=lambda memory: memory.order)}
    state, steps, undone = dict(before), list[UpkeepStep](), set[str]()
    for name, propose in TASKS.items():
        if name not in tasks or (given.is_derived and name not in OF_DERIVED):
            continue
        for step in propose(state, given):
            if any(memory.id in given.fixed for memory in step.memories):
                continue
            # Only feedback, which the user gave since, may change a memory whose earlier change was undone.
            if name != USAGE_NAME and any(memory.id in given.undone for memory in step.memories):
                undone.update(memory.id for memory in step.memories if memory.id in given.undone)
                continue
            steps.append(replace(step, fields=_fields(state, step)))
            state.update((memory.id, memory) for memory in step.memories)
    after = {name: memory for name, memory in state.items() if memory != before[name]}
    return UpkeepPlan(tuple(steps), {name: before[name] for name in after}, after, len(undone))


def _fields(state: Mapping[str, Memory], step: UpkeepStep) -> dict[str, tuple[Json, Json]]:
    """The value before and after of each changed field of the memory of a step, except the version."""
    own = next((memory for memory in step.memories if memory.id == step.id), None)
    if own is None:
        return {}
    old, new = memory_to_json(state[step.id]), memory_to_json(own)
    names = sorted((old.keys() | new.keys()) - {"version"})
    before = {name: old.get(name, getattr(state[step.id], name, None)) for name in names}
    after = {name: new.get(name, getattr(own, name, None)) for name in names}
    return {name: (before[name], after[name]) for name in names if before[name] != after[name]}


MOST_SHOWN = 10
"""The most steps of one task that the text lists."""
_WIDTH = 40


def upkeep_text(done: Sequence[Maintained], *, dry_run: bool) -> str:
    """The steps by space and task, with a summary for each space; empty if there are no steps."""
    eventful = [one for one in done if one.plan.steps or one.skipped or one.plan.undone]
    lines: list[str] = []
    for one in eventful:
        if len(eventful) > 1:
            lines += [*([""] if lines else []), f"space {one.space}"]
        for task, found in groupby(one.plan.steps, key=lambda step: step.task):
            steps = list(found)
            tokens = sum(step.tokens for step in steps)
            lines.append(f"{task} ({len(steps)}{f', {tokens:,} tokens' if tokens else ''})")
            width = min(_WIDTH, max(len(step.path) for step in steps[:MOST_SHOWN]))
            lines += [f"  {step.path:<{width}}  {_outcome(step)}" for step in steps[:MOST_SHOWN]]
            if len(steps) > MOST_SHOWN:
                lines.append(f"  and {len(steps) - MOST_SHOWN} more")
        lines += [f"skipped {step.path}: changed by another process meanwhile ({step.task})" for step in one.skipped]
        if not one.plan.after and not one.plan.undone:
            continue
        changed = f"{'would change' if dry_run else 'changed'} {counted(len(one.plan.after), 'memory', 'memories')}"
        parts = [changed if one.plan.after else "nothing to do"]
        if one.plan.tokens:
            parts.append(f"{'would reclaim' if dry_run else 'reclaimed'} {one.plan.tokens:,} tokens")
        if one.plan.undone:
            parts.append(f"{one.plan.undone} undone or rejected before, and left until they change")
        if one.run:
            parts.append(f"undo with `memcli restore --run {one.run}`")
        lines.append("; ".join(parts))
    return "\n".join(lines)


def upkeep_json(done: Sequence[Maintained], *, dry_run: bool) -> Json:
    """The report as JSON, with every step."""
    return {
        "dry_run": dry_run,
        "changed": sum(len(one.plan.after) for one in done),
        "tokens": sum(one.plan.tokens for one in done),
        "spaces": [
            {
                "space": one.space, "run": one.run, "changed": len(one.plan.after), "tokens": one.plan.tokens,
                "steps": _steps_json(one.plan.steps), "skipped": _steps_json(one.skipped), "undone": one.plan.undone,
            }
            for one in done
        ],
    }  # fmt: skip


def _outcome(step: UpkeepStep) -> str:
    """The changes of the fields that people know, and the reason; of a step without changes its action and reason."""
    changes = [
        f"{name} {was} -> {becomes}"
        for name, (was, becomes) in step.fields.items()
        if name in ("confidence", "relevance", "strength")
    ]
    if step.task == "tags":
        before, after = step.fields["tags"]
        changes += [f"+{tag}" for tag in after if tag not in before]
    if changes:
        return f"{', '.join(changes)}; {step.reason}"
    return step.reason if step.memories else f"{step.action}: {step.reason}"


def _steps_json(steps: Iterable[UpkeepStep]) -> list[Json]:
    return [
        {
            "task": step.task, "id": step.id, "path": step.path, "action": step.action, "reason": step.reason,
            "fields": {name: {"before": was, "after": becomes} for name, (was, becomes) in step.fields.items()},
            "others": list(step.others), "tokens": step.tokens,
        }
        for step in steps
    ]  # fmt: skip
