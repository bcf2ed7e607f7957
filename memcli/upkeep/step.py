"""The step of a plan, and what the tasks are given to propose steps from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.model.memory import Json, Memory, holds, increased
from memcli.model.recall import Cluster
from memcli.model.references import SUPERSEDES
from memcli.model.space import Policy
from memcli.model.usage import INJECT, JUDGEMENTS, RECALL, Access, Use
from memcli.record import Record, field, replace

REASONS = ("derived_from", "depends_on", SUPERSEDES)
"""The relations whose ends explain each other: what such a link leads to must stay."""


class UpkeepStep(Record, kw_only=True):
    """One thing that a task proposes for the memory `id`, and why.

    `memories` are those that it changes, as they become; a step without any changes nothing. `others` are the ids beside its
    own that it speaks of. `fields` has what each changed field of its own memory was and becomes. `tokens`: how many it
    takes out of recall.
    """

    task: str
    id: str
    path: str
    action: str
    reason: str
    memories: tuple[Memory, ...] = ()
    others: tuple[str, ...] = ()
    fields: Mapping[str, tuple[Json, Json]] = field(default_factory=dict)
    tokens: int = 0


class MemoryPair(Record):
    """Two memories that a check found to contradict or to repeat each other."""

    kind: str
    first: str
    second: str
    reason: str


class Given(Record, kw_only=True):
    """What the tasks look at beside the memories: the uses of the space that were not folded yet, in order of time, its
    accesses, the clusters that were just found in it, and the pairs that a check found. `fixed` are ids that no step may change or
    newly refer to; `undone` those that somebody restored after upkeep had changed them. `watched_since`: from when on uses
    are known; empty where none ever was. `reasons` are the ids that memories of other spaces rest on. `policy` is what is
    in force of that of the space.
    """

    now: str
    policy: Policy = field(default_factory=Policy)
    is_derived: bool = False
    uses: Sequence[Use] = ()
    accesses: Mapping[str, Access] = field(default_factory=dict)
    clusters: Sequence[Cluster] = ()
    pairs: Sequence[MemoryPair] = ()
    watched_since: str = ""
    reasons: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    undone: frozenset[str] = frozenset()

    def judgements(self) -> list[tuple[str, Use]]:
        """Each judgement of a memory, by its id, in order of time."""
        return [(name, use) for use in self.uses if use.act in JUDGEMENTS for name in use.ids]


Memories = Mapping[str, Memory]
"""The memories of a space by id, as the tasks before have left them, in the order of the file."""
Task = Callable[[Memories, Given], list[UpkeepStep]]
"""Proposes steps, at most one of which changes a memory."""


def is_current(memory: Memory, now: str) -> bool:
    """Whether the memory is active and holds."""
    return memory.active and holds(memory, now)


def as_edit(memory: Memory) -> Memory:
    """The memory as its next version. Its date stays: upkeep makes nothing newer."""
    return replace(memory, version=increased(memory.version))


def judged_bundles(uses: Sequence[Use]) -> list[dict[str, str]]:
    """For each bundle that was judged, the last judgement of each memory. It speaks of the last bundle that showed the
    memory."""
    last: dict[str, int] = {}
    judged: dict[int, dict[str, str]] = {}
    for number, use in enumerate(uses):
        if use.act in (RECALL, INJECT):
            last.update(dict.fromkeys(use.ids, number))
        elif use.act in JUDGEMENTS:
            for name in use.ids:
                if name in last:
                    judged.setdefault(last[name], {})[name] = use.act
    return list(judged.values())
