"""Build: the graph of the memories of some spaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from memcli.graph.elements import CLUSTER, HAS_TAG, IN_CLUSTER, MEMORY, TAG, Edge, Graph, GraphView, Node, in_order
from memcli.model.memory import Json, Memory
from memcli.model.references import MUTUAL, SUPERSEDES, elsewhere, target
from memcli.model.shapes import RELATIONS
from memcli.record import replace
from memcli.safety.injection.screening import Overview


def node_id(space: str, name: str, main: str) -> str:
    """An id or a path among all spaces: its own in the space `main`, else with the space, as links name it."""
    return name if space == main else f"{space}:{name}"


def build(
    spaces: Mapping[str, Sequence[Memory]], main: str, clusters: Mapping[str, Sequence[str]] | None = None
) -> Graph:
    """The graph of these memories, by space. `clusters` are the ids of the nodes in each; a tie to what is not among the
    memories is left out. What holds in both directions is one edge."""
    memories = {
        node_id(space, memory.id, main): Node(
            node_id(space, memory.id, main), MEMORY, node_id(space, memory.path, main), memory, space
        )
        for space, objects in spaces.items()
        for memory in objects
    }
    edges: dict[tuple[str, str, str], Edge] = {}
    for _, node in sorted(memories.items()):
        for edge in (*_links(node, main), *_tags(node)):
            if edge.relation == HAS_TAG or edge.end in memories:
                edges.setdefault(_place(edge), edge)
    groups = [
        (f"cluster:{name}", [one for one in members if one in memories])
        for name, members in sorted((clusters or {}).items())
    ]
    for name, members in groups:
        edges |= {edge.order: edge for edge in (Edge(member, name, IN_CLUSTER) for member in members)}
    nodes = [Node(name, CLUSTER, name.removeprefix("cluster:"), members=len(members)) for name, members in groups]
    return in_order([*memories.values(), *_tag_nodes(edges.values()), *nodes], edges.values())


def overview(graph: Graph, show: Callable[[str, Memory], Overview], main: str) -> GraphView:
    """The graph as it is rendered, with what is shown of its memories, by space, which keep their ids: what they are called
    and tagged with may change."""
    nodes, tags = dict[str, Node](), dict[str, str]()
    for node in graph.nodes:
        if node.memory is None:
            nodes[node.id] = node
            continue
        shown = show(node.space, node.memory)
        label = f"{node_id(node.space, shown.path, main)}{shown.mark}"
        nodes[node.id] = replace(node, memory=None, shown=shown, label=label)
        tags |= {
            f"tag:{old}": f"tag:{new}" for old, new in zip(node.memory.tags, shown.tags, strict=False) if old != new
        }
    for old, new in tags.items():
        if old in nodes:
            nodes[old] = replace(nodes[old], id=new, label=new.removeprefix("tag:"))
    edges = (replace(edge, end=tags[edge.end]) if edge.end in tags else edge for edge in graph.edges)
    changed = in_order({node.id: node for node in nodes.values()}.values(), edges)
    cut = frozenset(tags.get(name, name) for name in graph.cut)
    return GraphView(changed.nodes, changed.edges, graph.roots, cut)


def _place(edge: Edge) -> tuple[str, str, str]:
    """What an edge is known by: a mutual one by its ends in either order."""
    first, second = sorted((edge.start, edge.end)) if edge.relation in MUTUAL else (edge.start, edge.end)
    return first, edge.relation, second


def _links(node: Node, main: str) -> Iterator[Edge]:
    assert node.memory is not None
    for link in node.memory.links:
        end = target(link)
        if end and link.get("relation") in RELATIONS:
            far = elsewhere(end)
            name = node_id(*far, main) if far else node_id(node.space, end, main)
            yield Edge(node.id, name, link["relation"], _weight(link.get("weight", 1.0)))
    if node.memory.superseded_by:
        yield Edge(node_id(node.space, node.memory.superseded_by, main), node.id, SUPERSEDES)


def _weight(given: Json) -> float:
    return min(1.0, max(0.0, float(given))) if isinstance(given, int | float) else 1.0


def _tags(node: Node) -> Iterator[Edge]:
    assert node.memory is not None
    for tag in node.memory.tags:
        yield Edge(node.id, f"tag:{tag}", HAS_TAG)


def _tag_nodes(edges: Iterable[Edge]) -> Iterator[Node]:
    members: dict[str, int] = {}
    for edge in edges:
        if edge.relation == HAS_TAG:
            members[edge.end] = members.get(edge.end, 0) + 1
    for name, count in members.items():
        yield Node(name, TAG, name.removeprefix("tag:"), members=count)
