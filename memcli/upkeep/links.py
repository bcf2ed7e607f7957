"""`links`: memories that were recalled together and judged helpful relate to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from memcli.model.memory import Memory
from memcli.model.usage import HELPFUL, Use
from memcli.record import replace
from memcli.upkeep.step import Given, Memories, UpkeepStep, is_current, judged_bundles

NAME = "links"
RELATION = "relates_to"
MOST_LINKS = 8
"""A memory with so many links gets no more: what relates to everything says nothing."""
_FIRST_WEIGHT, _MORE_WEIGHT, _MOST_WEIGHT = 0.5, 0.1, 0.9


def propose(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory that gets links, to those that are older: one end of a relation has its link."""
    known = {frozenset((memory.id, link["to"])) for memory in memories.values() for link in memory.links}
    sizes = {memory.id: len(memory.links) for memory in memories.values()}
    found: dict[str, list[tuple[str, int]]] = {}
    for pair, times in sorted(_together(given.uses).items(), key=lambda one: (-one[1], one[0])):
        if not all(_may_link(memories.get(name), given) for name in pair) or frozenset(pair) in known:
            continue
        newer, older = sorted(pair, key=lambda name: (memories[name].created_at, name), reverse=True)
        if sizes[newer] < MOST_LINKS:
            sizes[newer] += 1
            found.setdefault(newer, []).append((older, times))
    return [_step(memories[name], to, memories, given.now) for name, to in sorted(found.items())]


def _may_link(memory: Memory | None, given: Given) -> bool:
    return memory is not None and memory.id not in given.fixed and is_current(memory, given.now)


def _together(uses: Sequence[Use]) -> Counter[tuple[str, str]]:
    """How many bundles each pair was judged helpful in."""
    helpful = ([name for name, act in judged.items() if act == HELPFUL] for judged in judged_bundles(uses))
    return Counter(pair for names in helpful for pair in combinations(sorted(names), 2))


def _step(memory: Memory, to: Sequence[tuple[str, int]], memories: Memories, now: str) -> UpkeepStep:
    added = tuple({"to": name, "relation": RELATION, "weight": _weight(times), "created_at": now} for name, times in to)
    paths = ", ".join(memories[name].path for name, _ in to)
    return UpkeepStep(
        task=NAME, id=memory.id, path=memory.path, action="link", reason=f"recalled and judged helpful with {paths}",
        memories=(replace(memory, links=(*memory.links, *added)),), others=tuple(name for name, _ in to),
    )  # fmt: skip


def _weight(times: int) -> float:
    return round(min(_MOST_WEIGHT, _FIRST_WEIGHT + _MORE_WEIGHT * (times - 1)), 2)
