"""Links as values to display: those from and to a memory, and the neighbourhood of a memory as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memcli.graph.elements import HAS_TAG, IN_CLUSTER, Edge, Graph
from memcli.model.links import MUTUAL
from memcli.model.memory import Memory
from memcli.record import Record, replace

OUT, IN, BOTH = "out", "in", "both"
"""The direction of a link as seen from one of its ends: from it, to it, or both ways."""


class MemoryLink(Record):
    """A link as seen from one of its ends; `other` is the id of the other end."""

    relation: str
    other: str
    is_out: bool = True


def direction(relation: str, *, is_out: bool) -> str:
    """One of OUT, IN and BOTH."""
    return BOTH if relation in MUTUAL else OUT if is_out else IN


def relation_words(relation: str) -> str:
    """The relation in words: `depends_on` as `depends on`."""
    return relation.replace("_", " ")


def links_by_target(memories: Iterable[Memory]) -> dict[str, list[MemoryLink]]:
    """The links to each memory, by its id."""
    found: dict[str, list[MemoryLink]] = {}
    for memory in memories:
        for link in _stored(memory):
            found.setdefault(link.other, []).append(MemoryLink(link.relation, memory.id, is_out=False))
    return found


def links_of(memory: Memory, incoming: Mapping[str, Sequence[MemoryLink]]) -> list[MemoryLink]:
    """The links of a memory, each once: those it stores, then those of `incoming` that lead to it.

    A mutual link that both ends store, and a link with the memory that supersedes this one, count as stored.
    """
    own = _stored(memory)
    own += [MemoryLink("superseded by", memory.superseded_by)] if memory.superseded_by else []
    known = {MemoryLink("supersedes", memory.superseded_by or "", is_out=False)}
    known |= {replace(link, is_out=False) for link in own if link.relation in MUTUAL}
    return list(dict.fromkeys([*own, *(link for link in incoming.get(memory.id, ()) if link not in known)]))


def _stored(memory: Memory) -> list[MemoryLink]:
    links = [link for link in memory.links if isinstance(link, Mapping) and "relation" in link and "to" in link]
    return [MemoryLink(str(link["relation"]), str(link["to"])) for link in links]


def edge_rank(edge: Edge) -> tuple[int, str, str, str]:
    """A sort key for the edges of a node: links, then clusters, then tags."""
    return (IN_CLUSTER, HAS_TAG).index(edge.relation) + 1 if edge.relation in (IN_CLUSTER, HAS_TAG) else 0, *edge.order


def first_edges(graph: Graph, starts: Iterable[Sequence[str]], *, through_tags: bool = True) -> dict[str, Edge | None]:
    """The nodes of a graph in breadth-first order from each group of starts in turn, each with the edge that first reaches it;
    None for the starts."""
    edges = graph.neighbours()
    found: dict[str, Edge | None] = {}
    for group in starts:
        frontier = [name for name in group if name not in found]
        found.update(dict.fromkeys(frontier))
        while frontier:
            reached = []
            for name in frontier:
                for edge in sorted(edges.get(name, ()), key=edge_rank):
                    other = edge.end if edge.start == name else edge.start
                    if other not in found and (through_tags or edge.relation != HAS_TAG):
                        found[other] = edge
                        reached.append(other)
            frontier = reached
    return found


class LinkStep(Record):
    """A node of a tree of links, `depth` steps from its root; `edge` links it with the node above it."""

    depth: int
    edge: Edge
    name: str


def link_steps(graph: Graph, root: str) -> list[LinkStep]:
    """The neighbourhood of a node as a tree, in depth-first order: a node is below the first one that reaches it."""
    below: dict[str, list[tuple[str, Edge]]] = {}
    for name, edge in first_edges(graph, [[root]]).items():
        if edge is not None:
            below.setdefault(edge.start if edge.end == name else edge.end, []).append((name, edge))
    found: list[LinkStep] = []
    waiting = [(1, *one) for one in reversed(below.get(root, []))]
    while waiting:  # no recursion: a chain may be longer than the stack
        depth, name, edge = waiting.pop()
        found.append(LinkStep(depth, edge, name))
        waiting += [(depth + 1, *one) for one in reversed(below.get(name, []))]
    return found
