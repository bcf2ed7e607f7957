"""`clusters`: names the clusters of a space. They are kept in the cache, and change no memory."""

from __future__ import annotations

from memcli.upkeep.step import Given, Memories, UpkeepStep

NAME = "clusters"


def propose(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each cluster that was just found, the largest first."""
    known = [(cluster, [name for name in cluster.ids if name in memories]) for cluster in given.clusters]
    return [
        UpkeepStep(
            task=NAME, id=ids[0], path=cluster.name, action="name", reason=f"{len(ids)} {'memory' if len(ids) == 1 else 'memories'}", others=tuple(ids[1:])
        )
        for cluster, ids in sorted(known, key=lambda one: (-len(one[1]), one[0].name)) if ids
    ]  # fmt: skip
