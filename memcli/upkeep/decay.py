"""`decay`: what nobody confirmed for long is no longer of high relevance.

Recall lets confidence fade when it reads it, so that nothing needs to be written for it: a faded confidence that was
stored would fade twice. What recall cannot read is that a relevance was given while the memory was new. So this task
lowers it, by as much as the confidence has faded; it does so once for each level, whenever it runs.
"""

from __future__ import annotations

from memcli.model.memory import Memory
from memcli.record import replace
from memcli.upkeep.step import Given, Memories, UpkeepStep
from memcli.upkeep.worth import Worth

NAME = "decay"
LEVELS = (("high", 0.5), ("medium", 0.25), ("low", 0.0))
"""The levels of relevance, each with the confidence that it takes."""


def propose(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory whose relevance is more than its confidence bears."""
    worth = Worth(memories, given)
    return [
        step
        for name in sorted(memories)
        if not worth.is_spared(memories[name]) and (step := _step(memories[name], worth)) is not None
    ]


def _step(memory: Memory, worth: Worth) -> UpkeepStep | None:
    names = [name for name, _ in LEVELS]
    confidence = worth.confidence(memory)
    bears = next(n for n, (_, least) in enumerate(LEVELS) if confidence >= least)
    if memory.relevance not in names or names.index(memory.relevance) >= bears:
        return None
    reason = f"its confidence has faded to {confidence:.2f} since {memory.updated_at[:10]}"
    lowered = replace(memory, relevance=names[bears])
    return UpkeepStep(task=NAME, id=memory.id, path=memory.path, action="lower", reason=reason, memories=(lowered,))
