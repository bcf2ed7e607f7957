"""`archive`: what is old, worth little and not in use no longer takes part in recall. It is kept, and can be restored."""

from __future__ import annotations

from memcli.clock import days_between
from memcli.model.tokens import count_tokens
from memcli.record import replace
from memcli.upkeep.step import Given, Memories, Step, as_edit
from memcli.upkeep.worth import Spared, confidence_now

NAME = "archive"
LEAST_WORTH = 0.3
_DIGITS = 9  # the last digits differ between machines, and must decide nothing


def propose(memories: Memories, given: Given) -> list[Step]:
    """A step for each memory that is to go out of recall, in order of id."""
    spared = Spared(memories, given)
    steps = []
    for name in sorted(memories):
        memory = memories[name]
        if spared.from_age(memory) or spared.is_reason(memory):
            continue
        importance, confidence = memory.effective_importance(), confidence_now(memory, given)
        if round(importance * confidence, _DIGITS) >= LEAST_WORTH:
            continue
        age = days_between(memory.updated_at, given.now)
        steps.append(
            Step(
                task=NAME,
                id=name,
                path=memory.path,
                action="archive",
                reason=f"worth {importance * confidence:.2f} (importance {importance:g} x confidence {confidence:.2f}), "
                f"{age:.0f} days old, not in use",
                memories=(as_edit(replace(memory, active=False)),),
                tokens=count_tokens(memory.raw),
            )
        )
    return steps
