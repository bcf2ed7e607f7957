"""What a memory is worth now, whether it is in use, and which ones their age alone must not touch."""

from __future__ import annotations

import math
from collections import Counter

from memcli.clock import days_between
from memcli.model.memory import Memory
from memcli.model.usage import HELPFUL, Access
from memcli.policy.ageing import effective_confidence
from memcli.upkeep.step import REASONS, Given, Memories, is_current, judged_bundles
from memcli.upkeep.usage import GAINS

_DIGITS = 9  # the last digits differ between machines, and must decide nothing
USED_DAYS = 90.0
"""What was shown within so many days is in use, longer the more often it was shown. Before uses are known for so long,
nothing is known to be out of use."""


OUTDONE_CONFIDENCE = 0.8
OUTDONE_SHARE = 0.5
"""What was judged unhelpful more than once is worth so much less where something else answered the same question."""


class Worth:
    """What `archive` and `decay` ask of the memories of a space."""

    def __init__(self, memories: Memories, given: Given) -> None:
        self._given = given
        self._reasons = (
            given.reasons
            | {link["to"] for memory in memories.values() for link in memory.links if link["relation"] in REASONS}
            | {memory.superseded_by for memory in memories.values()}
        )
        self._judged: Counter[str] = Counter()
        for name, use in given.judgements():
            self._judged[name] += round(100 * GAINS[use.act])
        self._rivals = _rivals(memories, given)

    def of(self, memory: Memory) -> float:
        """Importance times confidence, less where a rival does better; 0..1."""
        share = OUTDONE_SHARE if self.rival(memory) else 1.0
        return round(memory.effective_importance() * self.confidence(memory) * share, _DIGITS)

    def rival(self, memory: Memory) -> str:
        """The memory that answered a question for which this one was not helpful, not for the first time; "" for none."""
        return self._rivals.get(memory.id, "") if memory.confidence <= OUTDONE_CONFIDENCE else ""

    def confidence(self, memory: Memory) -> float:
        """The confidence now: faded by age as recall reads it, or, of what is in use, as it was judged."""
        if self._is_in_use(memory):
            return memory.confidence * memory.trust
        return effective_confidence(memory, self._given.now, self._access(memory).count)

    def is_spared(self, memory: Memory) -> bool:
        """Whether age does nothing to the memory: it is pinned, young, not current, comes up in its season or by its
        triggers, or is in use and nobody has found otherwise of late."""
        now = self._given.now
        return (
            memory.pinned
            or not is_current(memory, now)
            or (memory.valid_from or "") > now
            or bool(memory.triggers or memory.enforce or memory.season)
            or days_between(memory.updated_at, now) <= self._given.policy.archive_days
            or (self._is_in_use(memory) and self._judged[memory.id] >= 0)
        )

    def is_reason(self, memory: Memory) -> bool:
        """Whether others rest on the memory, or it has taken the place of another."""
        return memory.id in self._reasons

    def _is_in_use(self, memory: Memory) -> bool:
        given = self._given
        if not given.watched_since:
            return False
        access = self._access(memory)
        last = max(access.last_at, given.watched_since)
        return days_between(last, given.now) <= USED_DAYS * (1 + math.log(access.count + 1))

    def _access(self, memory: Memory) -> Access:
        return self._given.accesses.get(memory.id, Access())


def _rivals(memories: Memories, given: Given) -> dict[str, str]:
    """For what was judged of no use in a bundle, the memory there that was judged helpful and is trusted most."""
    found: dict[str, str] = {}
    for judged in judged_bundles(given.uses):
        helpful = [name for name, act in judged.items() if act == HELPFUL and name in memories]
        best = max(helpful, key=lambda name: (memories[name].confidence, memories[name].strength, name), default="")
        for name, act in judged.items():
            if best and act != HELPFUL and name in memories and memories[best].confidence > memories[name].confidence:
                found[name] = best
    return found
