"""The plan: the tasks in their order, each over what those before would leave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from memcli.codec.memory import memory_to_json
from memcli.extras.upkeep import tasks
from memcli.extras.upkeep.step import Given, Task, UpkeepStep
from memcli.extras.upkeep.tasks import USAGE_NAME
from memcli.model.memory import Json, Memory
from memcli.record import Record, field, replace

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
"""The tasks in the order in which they run. None makes work for one before it, so that a second run finds nothing."""
OF_DERIVED = (tasks.USAGE_NAME, tasks.CLUSTERS_NAME, tasks.REVIEW_NAME)
"""The tasks for what can be read again at any time: what another would write there, the next `ingest` would undo."""


class UpkeepPlan(Record):
    """The steps for one space, by task, and the memories that they change, as they were and as they become. `undone`:
    how many memories are left alone because somebody took back what was done to them."""

    steps: tuple[UpkeepStep, ...] = ()
    before: Mapping[str, Memory] = field(default_factory=dict)
    after: Mapping[str, Memory] = field(default_factory=dict)
    undone: int = 0

    @property
    def tokens(self) -> int:
        """How many tokens it takes out of recall."""
        return sum(step.tokens for step in self.steps)

    def with_parts(self, whole: Mapping[str, Memory], names: Collection[str]) -> UpkeepPlan:
        """The plan with these parts of its memories as those that are `whole` have them."""

        def filled(memory: Memory) -> Memory:
            return replace(memory, **{name: getattr(whole[memory.id], name) for name in names})

        steps = tuple(replace(step, memories=tuple(map(filled, step.memories))) for step in self.steps)
        before, after = ({name: filled(one) for name, one in of.items()} for of in (self.before, self.after))
        return replace(self, steps=steps, before=before, after=after)

    def ids(self) -> frozenset[str]:
        """The memories that its steps change or speak of."""
        return frozenset(name for step in self.steps for name in (step.id, *step.others))


class Maintained(Record):
    """What was done in a space, or would be: the steps of `plan`. `skipped` are those whose memories somebody changed
    meanwhile; `run` is where the trash has what was changed, as it was."""

    space: str
    plan: UpkeepPlan
    skipped: tuple[UpkeepStep, ...] = ()
    run: str = ""


def plan(memories: Iterable[Memory], given: Given, tasks: Collection[str] = tuple(TASKS)) -> UpkeepPlan:
    """What these tasks make of the memories. The same for the same input, whatever the order of the memories."""
    before = {memory.id: memory for memory in sorted(memories, key=lambda memory: memory.order)}
    state, steps, undone = dict(before), list[UpkeepStep](), set[str]()
    for name, propose in TASKS.items():
        if name not in tasks or (given.is_derived and name not in OF_DERIVED):
            continue
        for step in propose(state, given):
            if any(memory.id in given.fixed for memory in step.memories):
                continue
            if name != USAGE_NAME and any(memory.id in given.undone for memory in step.memories):
                undone.update(memory.id for memory in step.memories if memory.id in given.undone)
                continue
            steps.append(replace(step, fields=_fields(state, step)))
            state.update((memory.id, memory) for memory in step.memories)
    after = {name: memory for name, memory in state.items() if memory != before[name]}
    return UpkeepPlan(tuple(steps), {name: before[name] for name in after}, after, len(undone))


def _fields(state: Mapping[str, Memory], step: UpkeepStep) -> dict[str, tuple[Json, Json]]:
    """What each field of the memory of a step was, and becomes; its version aside."""
    own = next((memory for memory in step.memories if memory.id == step.id), None)
    if own is None:
        return {}
    old, new = memory_to_json(state[step.id]), memory_to_json(own)
    names = sorted((old.keys() | new.keys()) - {"version"})
    was = {name: old.get(name, getattr(state[step.id], name, None)) for name in names}
    becomes = {name: new.get(name, getattr(own, name, None)) for name in names}
    return {name: (was[name], becomes[name]) for name in names if was[name] != becomes[name]}
