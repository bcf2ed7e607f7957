"""Neighbourhood: what is at most so many steps away from some nodes, breadth first."""

from __future__ import annotations

from collections.abc import Iterable

from memcli.graph.elements import MEMORY, Edge, Graph
from memcli.record import replace

HUB = 25
"""A tag or a cluster with more members ties nothing together: the walk does not go through it."""


def neighbourhood(graph: Graph, starts: Iterable[str], depth: int) -> Graph:
    """The nodes within `depth` edges of the starts, and what ties them. An edge leads in both directions."""
    edges, nodes = graph.neighbours(), graph.by_id()
    roots = tuple(dict.fromkeys(name for name in starts if name in nodes))
    seen = dict.fromkeys(roots)
    frontier, cut = list(roots), set[str]()
    for _ in range(depth):
        if not frontier:
            break
        reached: dict[str, None] = {}
        for name in frontier:
            if nodes[name].type != MEMORY and nodes[name].members > HUB and name not in roots:
                cut.add(name)
                continue
            for edge in edges.get(name, ()):
                reached |= {end: None for end in (edge.start, edge.end) if end not in seen}
        seen |= reached
        frontier = list(reached)
    cut.update(name for name in frontier if _has_more(edges.get(name, ()), seen))
    return replace(graph, roots=roots, cut=frozenset(cut)).among(seen)


def _has_more(edges: Iterable[Edge], seen: dict[str, None]) -> bool:
    return any(end not in seen for edge in edges for end in (edge.start, edge.end))
