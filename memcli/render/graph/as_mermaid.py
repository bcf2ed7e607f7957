"""`mermaid`: a flowchart, as Markdown documents show it."""

from __future__ import annotations

import re

from memcli.graph.elements import CLUSTER, HAS_TAG, IN_CLUSTER, MEMORY, TAG, Edge, GraphView, Node
from memcli.model.references import MUTUAL
from memcli.render.clean import clean_line

_SHAPES = {MEMORY: ("(", ")"), TAG: ("([", "])"), CLUSTER: ("{{", "}}")}
_UNSAFE = re.compile(r"[^\w ./:,+-]")
"""Everything that Mermaid or Markdown could take for markup."""


def render(graph: GraphView) -> str:
    names = {node.id: f"n{n}" for n, node in enumerate(graph.nodes, 1)}
    lines = ["flowchart LR"]
    lines += [f"  {names[node.id]}{_label(node)}" for node in graph.nodes]
    lines += [f"  {names[edge.start]} {_tie(edge)} {names[edge.end]}" for edge in graph.edges]
    roots = ",".join(names[name] for name in graph.roots)
    return "\n".join([*lines, *([f"  style {roots} stroke-width:3px"] if roots else [])]) + "\n"


def _label(node: Node) -> str:
    first, last = _SHAPES[node.type]
    name = f"#{node.label}" if node.type == TAG else node.label
    mark = node.shown.mark if node.shown else ""
    return f'{first}"{_escaped(name.removesuffix(mark))}{mark and ", untrusted"}"{last}'


def _escaped(text: str) -> str:
    """A text in which what could be markup is written as an entity of Mermaid's."""
    return _UNSAFE.sub(lambda match: f"#{ord(match[0])};", clean_line(text)) or " "


def _tie(edge: Edge) -> str:
    if edge.relation in (HAS_TAG, IN_CLUSTER):
        return "-.-"
    return f"{'---' if edge.relation in MUTUAL else '-->'}|{edge.relation}|"
