"""`usage`: what somebody judged helpful or not becomes confidence and strength."""

from __future__ import annotations

from collections import Counter

from memcli.model.memory import increased
from memcli.model.usage import HELPFUL, REJECTED, UNHELPFUL
from memcli.record import replace
from memcli.upkeep.step import Given, Memories, UpkeepStep

NAME = "usage"
GAINS = {HELPFUL: 0.05, UNHELPFUL: -0.1, REJECTED: -0.02}
"""What one judgement adds to the confidence, which stays between 0 and 1."""
_DIGITS = 4


def propose(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory that was judged and changes by it."""
    confidence: dict[str, float] = {}
    counts: dict[str, Counter[str]] = {}
    for name, use in given.judgements():
        if name in memories:
            before = confidence.get(name, memories[name].confidence)
            confidence[name] = round(min(1.0, max(0.0, before + GAINS[use.act])), _DIGITS)
            counts.setdefault(name, Counter())[use.act] += 1
    steps = []
    for name in sorted(counts):
        memory = memories[name]
        judged = replace(
            memory, confidence=confidence[name], strength=increased(memory.strength, counts[name][HELPFUL])
        )
        if judged != memory:
            told = ", ".join(f"{counts[name][act]} {act}" for act in GAINS if counts[name][act])
            steps.append(
                UpkeepStep(
                    task=NAME, id=name, path=memory.path, action="judge", reason=f"judged {told}", memories=(judged,)
                )
            )
    return steps
