"""`text`: a tree of what surrounds each memory that was asked for, for people."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from memcli.graph.elements import HAS_TAG, IN_CLUSTER, MEMORY, TAG, Edge, Graph, GraphView, Node
from memcli.model.references import MUTUAL
from memcli.render.clean import clean_line, cut
from memcli.render.memory import state_marks

_WIDTH = 100


def render(graph: GraphView) -> str:
    return "\n".join([*_Trees(graph).lines(), _counts(graph)]) + "\n"


class _Trees:
    """The graph as trees: each node has its ties below it where it is first seen, and is only named elsewhere."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes = graph.by_id()
        self._edges = graph.neighbours()
        self._parents = _breadth_first(graph, self._edges)

    def lines(self) -> Iterator[str]:
        for name, parent in list(self._parents.items()):
            if parent is None and (self._graph.roots or self._is_tied(name)):
                yield from self._branch(name)
                yield ""

    def _is_tied(self, name: str) -> bool:
        return self._nodes[name].type == MEMORY and any(edge.relation != HAS_TAG for edge in self._edges.get(name, ()))

    def _branch(self, root: str) -> Iterator[str]:
        yield _told(self._nodes[root])
        waiting = self._below(root, "")
        while waiting:  # no recursion: a chain may be longer than the stack
            indent, is_last, edge, name = waiting.pop()
            yield f"{indent}{'└─' if is_last else '├─'} {self._tie(edge, name)}"
            if self._parents.get(name) == edge:
                waiting += self._below(name, indent + ("   " if is_last else "│  "))

    def _below(self, name: str, indent: str) -> list[tuple[str, bool, Edge, str]]:
        """The ties of a node, last first, but for the one that leads to it from above."""
        above = self._parents.get(name)
        ties = [edge for edge in self._edges.get(name, ()) if edge != above]
        shown = [edge for edge in ties if edge.relation != HAS_TAG or self._has_more_than_a_tag(edge, name)]
        ends = [(edge, edge.end if edge.start == name else edge.start) for edge in sorted(shown, key=_rank)]
        return [(indent, n == len(ends) - 1, edge, end) for n, (edge, end) in enumerate(ends)][::-1]

    def _has_more_than_a_tag(self, edge: Edge, name: str) -> bool:
        """Whether a tag is told below this node: below one alone, and not where it ties nothing to it."""
        return name == edge.end or (self._parents.get(edge.end) == edge and len(self._edges[edge.end]) > 1)

    def _tie(self, edge: Edge, name: str) -> str:
        node = self._nodes[name]
        told = _told(node) if self._parents.get(name) == edge else _name(node)
        more = f"  (and {node.members - len(self._edges[name])} more)" if self._hides(node) else ""
        if edge.relation in (HAS_TAG, IN_CLUSTER):
            return f"{told}{more}"
        arrow = "──" if edge.relation in MUTUAL else "─▶" if name == edge.end else "◀─"
        return f"{edge.relation.replace('_', ' ')} {arrow} {told}"

    def _hides(self, node: Node) -> bool:
        return node.type != MEMORY and node.id in self._graph.cut and node.members > len(self._edges[node.id])


def _breadth_first(graph: Graph, edges: dict[str, list[Edge]]) -> dict[str, Edge | None]:
    """By which edge each node is first reached from the roots, or, without any, from each memory in turn."""
    parents: dict[str, Edge | None] = {}
    starts = [[name] for name in [node.id for node in graph.nodes]] if not graph.roots else [list(graph.roots)]
    for start in starts:
        frontier = [name for name in start if name not in parents]
        parents.update(dict.fromkeys(frontier))
        while frontier:
            reached = []
            for name in frontier:
                for edge in sorted(edges.get(name, ()), key=_rank):
                    if not graph.roots and edge.relation == HAS_TAG:
                        continue
                    other = edge.end if edge.start == name else edge.start
                    if other not in parents:
                        parents[other] = edge
                        reached.append(other)
            frontier = reached
    return parents


def _rank(edge: Edge) -> tuple[int, str, str, str]:
    return (IN_CLUSTER, HAS_TAG).index(edge.relation) + 1 if edge.relation in (IN_CLUSTER, HAS_TAG) else 0, *edge.order


def _told(node: Node) -> str:
    if node.shown is None:
        return _name(node)
    tags = "".join(f" #{tag}" for tag in node.shown.tags)
    line = clean_line(f"{_name(node)} {node.shown.kind}{tags}  {node.shown.summary}")
    return cut(line, _WIDTH) if sys.stdout.isatty() else line


def _name(node: Node) -> str:
    if node.shown is None:
        return clean_line(f"#{node.label}" if node.type == TAG else f"cluster {node.label}")
    mark = state_marks(node.shown)
    return clean_line(f"{node.label}{f' [{mark}]' if mark else ''}")


def _counts(graph: Graph) -> str:
    memories = sum(node.type == MEMORY for node in graph.nodes)
    links = sum(edge.relation not in (HAS_TAG, IN_CLUSTER) for edge in graph.edges)
    tags = sum(node.type == TAG for node in graph.nodes)
    counts = ((memories, "memory", "memories"), (links, "link", "links"), (tags, "tag", "tags"))
    return ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts)
