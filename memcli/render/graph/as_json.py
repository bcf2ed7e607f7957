"""`json`: nodes and edges as two lists."""

from __future__ import annotations

from memcli.codec.canonical import encode
from memcli.graph.elements import Edge, Graph, GraphView, Node
from memcli.model.memory import Json
from memcli.render.clean import escape
from memcli.safety.injection.screening import Overview


def render(graph: GraphView) -> str:
    return escape(encode(graph_json(graph)).decode()) + "\n"


def graph_json(graph: GraphView) -> dict[str, Json]:
    """The graph as JSON values; `roots` only where some were asked for."""
    data: dict[str, Json] = {
        "nodes": [_node(node, graph) for node in graph.nodes], "edges": [_edge(edge) for edge in graph.edges],
    }  # fmt: skip
    return {**data, "roots": list(graph.roots)} if graph.roots else data


def _node(node: Node, graph: Graph) -> dict[str, Json]:
    label = node.label.removesuffix(node.shown.mark) if node.shown else node.label  # `untrusted` says it to programs
    data: dict[str, Json] = {"id": node.id, "type": node.type, "label": label}
    if node.shown is None:
        data["members"] = node.members
    else:
        data |= _memory(node.shown) | {"space": node.space}
    return {**data, "has_more": True} if node.id in graph.cut else data


def _memory(memory: Overview) -> dict[str, Json]:
    """What is shown of a memory. The text of one that carries instructions is for those who open it."""
    data: dict[str, Json] = {
        "memory": memory.id, "path": memory.path, "kind": memory.kind, "summary": memory.summary,
        "tags": list(memory.tags), "updated_at": memory.updated_at,
    }  # fmt: skip
    states = {
        "pinned": memory.pinned, "forgotten": not memory.active, "superseded": memory.superseded_by is not None,
        "untrusted": list(memory.untrusted),
    }  # fmt: skip
    return {**data, **{name: value for name, value in states.items() if value}}


def _edge(edge: Edge) -> dict[str, Json]:
    data: dict[str, Json] = {"start": edge.start, "end": edge.end, "relation": edge.relation}
    return data if edge.weight == 1.0 else {**data, "weight": edge.weight}
