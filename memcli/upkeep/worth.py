"""What a memory is worth now, and which ones their age alone must not touch."""

from __future__ import annotations

from collections import Counter

from memcli.clock import days_between
from memcli.model.memory import Memory
from memcli.model.usage import Access
from memcli.policy.decay import effective_confidence
from memcli.upkeep.step import REASONS, Given, Memories, is_current
from memcli.upkeep.usage import GAINS

LEAST_AGE_DAYS = 30.0
USED_DAYS = 90.0
"""What was shown within so many days is in use, unless it was judged to be of no use."""


def confidence_now(memory: Memory, given: Given) -> float:
    """The confidence of a memory, faded by its age as recall reads it."""
    return effective_confidence(memory, given.now, given.accesses.get(memory.id, Access()))


class Spared:
    """Which memories `decay` and `archive` leave as they are."""

    def __init__(self, memories: Memories, given: Given) -> None:
        self._given = given
        self._reasons = {
            link["to"] for memory in memories.values() for link in memory.links if link["relation"] in REASONS
        } | {memory.superseded_by for memory in memories.values()}
        self._judged: Counter[str] = Counter()
        for name, use in given.judgements():
            self._judged[name] += round(100 * GAINS[use.act])

    def from_age(self, memory: Memory) -> bool:
        """Whether the memory is pinned, young, in use, not current, or comes up in its season or by its triggers."""
        given = self._given
        return (
            memory.id in given.fixed
            or memory.pinned
            or not is_current(memory, given.now)
            or (memory.valid_from or "") > given.now
            or bool(memory.triggers or memory.enforce)
            or days_between(memory.updated_at, given.now) <= LEAST_AGE_DAYS
            or self._is_used(memory)
        )

    def is_reason(self, memory: Memory) -> bool:
        """Whether others rest on the memory, or it has taken the place of another."""
        return memory.id in self._reasons

    def _is_used(self, memory: Memory) -> bool:
        last = self._given.accesses.get(memory.id, Access()).last_at
        if not last or self._judged[memory.id] < 0:
            return False
        return days_between(last, self._given.now) <= USED_DAYS
