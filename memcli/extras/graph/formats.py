"""The formats of a graph: `dot` of Graphviz; `html`, a page that holds the graph and its scripts and loads nothing; `json`; a
`mermaid` flowchart as Markdown documents show it; and `text`, a tree of what surrounds each memory that was asked for.

A policy in the page allows the one script and the one style that are in it, by their hashes. All that was stored is in a
block of JSON that nothing in it can close, and gets into the page as text alone.
"""

from __future__ import annotations

import base64
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from memcli.codec.canonical import encode, encode_line
from memcli.digests import sha256
from memcli.graph.elements import CLUSTER, HAS_TAG, IN_CLUSTER, MEMORY, TAG, Edge, Graph, GraphView, Node
from memcli.model.links import MUTUAL
from memcli.model.memory import Json
from memcli.model.names import counted
from memcli.present.links import BOTH, IN, OUT, direction, edge_rank, first_edges, relation_words
from memcli.present.memory import state_marks
from memcli.render.clean import clean_line, cut, escape

_SHAPES = {MEMORY: "box, style=rounded", TAG: "plaintext", CLUSTER: "hexagon"}


def render_dot(graph: GraphView) -> str:
    lines = ["digraph memory {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for node in graph.nodes:
        name = f"#{node.label}" if node.type == TAG else node.label
        is_over = node.shown is not None and (node.shown.superseded_by or not node.shown.active)
        bold = ", penwidth=2" if node.id in graph.roots else ""
        pale = ", color=gray, fontcolor=gray" if is_over else ""
        lines.append(f"  {_quoted(node.id)} [label={_quoted(name)}, shape={_SHAPES[node.type]}{bold}{pale}];")
    for edge in graph.edges:
        style = "style=dotted, arrowhead=none"
        if edge.relation not in (HAS_TAG, IN_CLUSTER):
            ends = ", dir=none" if edge.relation in MUTUAL else ""
            red = ", color=red" if edge.relation == "contradicts" else ""
            style = f"label={_quoted(edge.relation)}{ends}{red}"
        lines.append(f"  {_quoted(edge.start)} -> {_quoted(edge.end)} [{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A text as a quoted string, in which a backslash escapes: it stands for itself only when doubled."""
    escaped = clean_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def render_json(graph: GraphView) -> str:
    return escape(encode(graph_json(graph)).decode()) + "\n"


def graph_json(graph: GraphView) -> dict[str, Json]:
    """The graph as JSON values; `roots` only where some were asked for."""
    nodes = []
    for node in graph.nodes:
        label = node.label.removesuffix(node.shown.mark) if node.shown else node.label  # programs see `untrusted`
        data: dict[str, Json] = {"id": node.id, "type": node.type, "label": label}
        if node.shown is None:
            data["members"] = node.members
        else:
            memory = node.shown
            states = {
                "pinned": memory.pinned, "forgotten": not memory.active, "superseded": memory.superseded_by is not None,
                "untrusted": list(memory.untrusted),
            }  # fmt: skip
            # The text of one that carries instructions is for those who open it.
            data |= {
                "memory": memory.id, "path": memory.path, "kind": memory.kind, "summary": memory.summary,
                "tags": list(memory.tags), "updated_at": memory.updated_at,
                **{name: value for name, value in states.items() if value}, "space": node.space,
            }  # fmt: skip
        nodes.append({**data, "has_more": True} if node.id in graph.cut else data)
    edges = [
        {"start": edge.start, "end": edge.end, "relation": edge.relation}
        | ({} if edge.weight == 1.0 else {"weight": edge.weight})
        for edge in graph.edges
    ]
    return {"nodes": nodes, "edges": edges, **({"roots": list(graph.roots)} if graph.roots else {})}


_FOLDER = os.path.join(os.path.dirname(__file__), "page")
_SCRIPTS = ("layout.js", "draw.js", "page.js", "controls.js")
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
"""What could end a block of JSON in HTML, or begin something in it: as JSON escapes, which mean the same."""


def render_html(graph: GraphView) -> str:
    script = '"use strict";\n' + "\n".join(_read(name) for name in _SCRIPTS)
    style = _read("page.css")
    parts = {
        "SCRIPT_HASH": _hash(script), "STYLE_HASH": _hash(style), "STYLE": style, "SCRIPT": script,
        "DATA": escape(encode_line(graph_json(graph)).decode()).translate(_UNSAFE),
    }  # fmt: skip
    first, *rest = _read("page.html").split("@")  # in one pass: what is put in is not looked at again
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return first + "".join(parts[name] + text for name, text in pairs)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _read(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


_MERMAID_SHAPES = {MEMORY: ("(", ")"), TAG: ("([", "])"), CLUSTER: ("{{", "}}")}
_MERMAID_UNSAFE = re.compile(r"[^\w ./:,+-]")
"""Everything that Mermaid or Markdown could take for markup."""


def render_mermaid(graph: GraphView) -> str:
    names = {node.id: f"n{n}" for n, node in enumerate(graph.nodes, 1)}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        first, last = _MERMAID_SHAPES[node.type]
        name = f"#{node.label}" if node.type == TAG else node.label
        mark = node.shown.mark if node.shown else ""
        escaped = _MERMAID_UNSAFE.sub(lambda match: f"#{ord(match[0])};", clean_line(name.removesuffix(mark))) or " "
        lines.append(f'  {names[node.id]}{first}"{escaped}{mark and ", untrusted"}"{last}')
    for edge in graph.edges:
        tie = f"{'---' if edge.relation in MUTUAL else '-->'}|{edge.relation}|"
        tie = "-.-" if edge.relation in (HAS_TAG, IN_CLUSTER) else tie
        lines.append(f"  {names[edge.start]} {tie} {names[edge.end]}")
    if graph.roots:
        lines.append(f"  style {','.join(names[name] for name in graph.roots)} stroke-width:3px")
    return "\n".join(lines) + "\n"


_WIDTH = 100
_ARROWS = {BOTH: "──", OUT: "─▶", IN: "◀─"}


def render_text(graph: GraphView) -> str:
    memories = sum(node.type == MEMORY for node in graph.nodes)
    links = sum(edge.relation not in (HAS_TAG, IN_CLUSTER) for edge in graph.edges)
    tags = sum(node.type == TAG for node in graph.nodes)
    counts = [counted(memories, "memory", "memories"), counted(links, "link"), counted(tags, "tag")]
    return "\n".join([*_Trees(graph).lines(), ", ".join(counts)]) + "\n"


class _Trees:
    """The graph as trees: each node has its ties below it where it is first seen, and is only named elsewhere."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes = {node.id: node for node in graph.nodes}
        self._edges = graph.neighbours()
        starts = [list(graph.roots)] if graph.roots else [[node.id] for node in graph.nodes]
        self._parents = first_edges(graph, starts, through_tags=bool(graph.roots))

    def lines(self) -> Iterator[str]:
        for name, parent in list(self._parents.items()):
            if parent is not None:
                continue
            is_tied = any(edge.relation != HAS_TAG for edge in self._edges.get(name, ()))
            if not self._graph.roots and not (is_tied and self._nodes[name].type == MEMORY):
                continue
            yield _described(self._nodes[name])
            waiting = self._below(name, "")
            while waiting:  # no recursion: a chain may be longer than the stack
                indent, is_last, edge, below = waiting.pop()
                yield f"{indent}{'└─' if is_last else '├─'} {self._tie(edge, below)}"
                if self._parents.get(below) == edge:
                    waiting += self._below(below, indent + ("   " if is_last else "│  "))
            yield ""

    def _below(self, name: str, indent: str) -> list[tuple[str, bool, Edge, str]]:
        """The ties of a node, last first, but for the one that leads to it from above. A tag is shown below one node alone,
        and only where it ties others to it."""
        shown = []
        for edge in self._edges.get(name, ()):
            is_first = self._parents.get(edge.end) == edge and len(self._edges[edge.end]) > 1
            is_shown = edge.relation != HAS_TAG or name == edge.end or is_first
            if is_shown and edge != self._parents.get(name):
                shown.append(edge)
        ends = [(edge, edge.end if edge.start == name else edge.start) for edge in sorted(shown, key=edge_rank)]
        return [(indent, n == len(ends) - 1, edge, end) for n, (edge, end) in enumerate(ends)][::-1]

    def _tie(self, edge: Edge, name: str) -> str:
        node = self._nodes[name]
        words = _described(node) if self._parents.get(name) == edge else _name(node)
        is_cut = node.type != MEMORY and node.id in self._graph.cut and node.members > len(self._edges[name])
        more = f"  (and {node.members - len(self._edges[name])} more)" if is_cut else ""
        if edge.relation in (HAS_TAG, IN_CLUSTER):
            return f"{words}{more}"
        arrow = _ARROWS[direction(edge.relation, is_out=name == edge.end)]
        return f"{relation_words(edge.relation)} {arrow} {words}"


def _described(node: Node) -> str:
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


GRAPH_FORMATS: Mapping[str, Callable[[GraphView], str]] = {
    "dot": render_dot, "html": render_html, "json": render_json, "mermaid": render_mermaid, "text": render_text,
}  # fmt: skip
"""What writes a graph in the format of a name."""
ENDINGS: Mapping[str, str] = {
    "dot": "dot", "gv": "dot", "html": "html", "json": "json", "mmd": "mermaid", "txt": "text",
}  # fmt: skip
"""The format that the end of a file's name asks for."""
