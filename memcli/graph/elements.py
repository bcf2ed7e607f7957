"""The graph as a value: memories, tags and clusters, and how they are tied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memcli.model.memory import Memory
from memcli.record import Record, replace
from memcli.safety.injection.screening import Overview

MEMORY, TAG, CLUSTER = "memory", "tag", "cluster"
HAS_TAG, IN_CLUSTER = "has_tag", "in_cluster"


class Node(Record):
    """A memory, a tag or a cluster. `id` is its own among all nodes; `members` is how many memories the whole graph
    has with a tag or in a cluster. What is to be rendered has `shown` in the place of `memory`."""

    id: str
    type: str
    label: str
    memory: Memory | None = None
    space: str = ""
    members: int = 0
    shown: Overview | None = None


class Edge(Record):
    """A tie between two nodes, by their ids. `weight` is 0..1."""

    start: str
    end: str
    relation: str
    weight: float = 1.0

    @property
    def order(self) -> tuple[str, str, str]:
        return self.start, self.relation, self.end


class Graph(Record):
    """Nodes and edges in a total order. `roots` are the ids of the nodes that were asked for; of `cut` there are more
    neighbours than are shown."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    roots: tuple[str, ...] = ()
    cut: frozenset[str] = frozenset()

    def among(self, ids: Iterable[str]) -> Graph:
        """The nodes of these ids, and the edges between them."""
        kept = frozenset(ids)
        return replace(
            self,
            nodes=tuple(node for node in self.nodes if node.id in kept),
            edges=tuple(edge for edge in self.edges if edge.start in kept and edge.end in kept),
            cut=self.cut & kept,
        )

    def by_id(self) -> Mapping[str, Node]:
        return {node.id: node for node in self.nodes}

    def neighbours(self) -> dict[str, list[Edge]]:
        """The edges of each node that has any, in order."""
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.start, []).append(edge)
            if edge.end != edge.start:
                found.setdefault(edge.end, []).append(edge)
        return found


class GraphView(Graph):
    """A graph whose memories were screened, which is what renderers take; `graph.build.overview` makes one."""


def in_order(nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    """The graph of these, memories by path before tags before clusters."""
    types = (MEMORY, TAG, CLUSTER)
    ordered = sorted(nodes, key=lambda node: (types.index(node.type), node.label, node.id))
    return Graph(tuple(ordered), tuple(sorted(edges, key=lambda edge: edge.order)))
