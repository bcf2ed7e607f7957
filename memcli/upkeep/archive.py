"""`archive`: what is old, worth little and not in use no longer takes part in recall. It is kept, and can be restored."""

from __future__ import annotations

from memcli.clock import days_between
from memcli.model.memory import Memory
from memcli.model.tokens import count_tokens
from memcli.record import replace
from memcli.upkeep.step import Given, Memories, Step, as_edit
from memcli.upkeep.worth import Worth

NAME = "archive"
LEAST_WORTH = 0.3


def propose(memories: Memories, given: Given) -> list[Step]:
    """A step for each memory that is to go out of recall, in order of id."""
    worth = Worth(memories, given)
    going = (
        memory
        for _, memory in sorted(memories.items())
        if not worth.is_spared(memory) and not worth.is_reason(memory) and worth.of(memory) < LEAST_WORTH
    )
    return [_step(memory, worth, memories, given.now) for memory in going]


def _step(memory: Memory, worth: Worth, memories: Memories, now: str) -> Step:
    factors = f"importance {memory.effective_importance():g} x confidence {worth.confidence(memory):.2f}"
    rival = worth.rival(memory)
    beside = f", not helpful where {memories[rival].path} was" if rival else ""
    age = days_between(memory.updated_at, now)
    return Step(
        task=NAME,
        id=memory.id,
        path=memory.path,
        action="archive",
        reason=f"worth {worth.of(memory):.2f} ({factors}{beside}), {age:.0f} days old",
        memories=(as_edit(replace(memory, active=False)),),
        tokens=count_tokens(memory.raw),
    )
