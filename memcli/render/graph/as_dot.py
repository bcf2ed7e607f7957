"""`dot`: the language of Graphviz."""

from __future__ import annotations

from memcli.graph.elements import CLUSTER, HAS_TAG, IN_CLUSTER, MEMORY, TAG, Edge, Graph, GraphView, Node
from memcli.model.references import MUTUAL
from memcli.render.clean import clean_line

_SHAPES = {MEMORY: "box, style=rounded", TAG: "plaintext", CLUSTER: "hexagon"}


def render(graph: GraphView) -> str:
    lines = ["digraph memory {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    lines += [f"  {_quoted(node.id)} [{_look(node, graph)}];" for node in graph.nodes]
    lines += [f"  {_quoted(edge.start)} -> {_quoted(edge.end)} [{_tie(edge)}];" for edge in graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _look(node: Node, graph: Graph) -> str:
    name = f"#{node.label}" if node.type == TAG else node.label
    bold = ", penwidth=2" if node.id in graph.roots else ""
    pale = ", color=gray, fontcolor=gray" if node.shown and (node.shown.superseded_by or not node.shown.active) else ""
    return f"label={_quoted(name)}, shape={_SHAPES[node.type]}{bold}{pale}"


def _tie(edge: Edge) -> str:
    if edge.relation in (HAS_TAG, IN_CLUSTER):
        return "style=dotted, arrowhead=none"
    ends = ", dir=none" if edge.relation in MUTUAL else ""
    red = ", color=red" if edge.relation == "contradicts" else ""
    return f"label={_quoted(edge.relation)}{ends}{red}"


def _quoted(text: str) -> str:
    """A text as a quoted string, in which a backslash escapes: it stands for itself only when doubled."""
    escaped = clean_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
