"""`review`: lists what contradicts or repeats itself, for somebody to decide. Changes nothing."""

from __future__ import annotations

from memcli.upkeep.step import Given, Memories, MemoryPair, UpkeepStep, is_current

NAME = "review"
CONTRADICTS, DUPLICATES = "contradicts", "duplicates"


def propose(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each pair of current memories, contradictions first."""
    linked = (
        MemoryPair(CONTRADICTS, memory.id, link["to"], str(link.get("reason") or "linked as a contradiction"))
        for memory in memories.values() for link in memory.links
        if link["relation"] == CONTRADICTS and not link.get("accepted")
    )  # fmt: skip
    pairs: dict[frozenset[str], MemoryPair] = {}
    for pair in (*given.pairs, *linked):
        ends = [memories.get(name) for name in (pair.first, pair.second)]
        if all(end is not None and is_current(end, given.now) for end in ends):
            pairs.setdefault(frozenset((pair.first, pair.second)), pair)
    order = sorted(pairs.values(), key=lambda p: (p.kind != CONTRADICTS, *sorted((p.first, p.second))))
    return [
        UpkeepStep(
            task=NAME, id=pair.first, path=memories[pair.first].path, action=pair.kind,
            reason=f"{memories[pair.second].path}: {pair.reason}", others=(pair.second,),
        )
        for pair in order
    ]  # fmt: skip
