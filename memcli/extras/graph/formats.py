"""The formats of a graph: `dot` of Graphviz; `html`, a page that holds the graph and its scripts and loads nothing; `json`; a
`mermaid` flowchart for Markdown documents; and `text`, a tree of the neighbours of each requested memory.

The page has a content security policy that permits only its own script and style, by their hashes. Stored text is in a block
of JSON, in which it is escaped so that it cannot end the block; the script inserts it as text, never as HTML.
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
    """A text as a quoted string of DOT, with backslashes and quotes escaped."""
    escaped = clean_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def render_json(graph: GraphView) -> str:
    return escape(encode(graph_json(graph)).decode()) + "\n"


def graph_json(graph: GraphView) -> dict[str, Json]:
    """The graph as JSON values; `roots` are the requested memories, if any."""
    nodes = []
    for node in graph.nodes:
        label = node.label.removesuffix(node.shown.mark) if node.shown else node.label  # programs read `untrusted`
        data: dict[str, Json] = {"id": node.id, "type": node.type, "label": label}
        if node.shown is None:
            data["members"] = node.members
        else:
            memory = node.shown
            states = {
                "pinned": memory.pinned, "forgotten": not memory.active, "superseded": memory.superseded_by is not None,
                "untrusted": list(memory.untrusted),
            }  # fmt: skip
            # The summary is empty for a memory that carries instructions (see `Overview`).
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
"""Characters that could end a script block in HTML or begin markup, as JSON escapes."""


def render_html(graph: GraphView) -> str:
    script = '"use strict";\n' + "\n".join(_read(name) for name in _SCRIPTS)
    style = _read("page.css")
    parts = {
        "SCRIPT_HASH": _hash(script), "STYLE_HASH": _hash(style), "STYLE": style, "SCRIPT": script,
        "DATA": escape(encode_line(graph_json(graph)).decode()).translate(_UNSAFE),
    }  # fmt: skip
    # In one pass: a placeholder that occurs in inserted text must not be replaced.
    first, *rest = _read("page.html").split("@")
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
"""Characters that Mermaid or Markdown could read as markup."""


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
    return "\n".join([*_trees(graph), ", ".join(counts)]) + "\n"


def _trees(graph: Graph) -> Iterator[str]:
    """The graph as lines of trees: a node has its edges below it where it occurs first, and only its name elsewhere."""
    nodes = {node.id: node for node in graph.nodes}
    edges = graph.neighbours()
    starts = [list(graph.roots)] if graph.roots else [[node.id] for node in graph.nodes]
    parents = first_edges(graph, starts, through_tags=bool(graph.roots))

    def below(name: str, indent: str) -> list[tuple[str, bool, Edge, str]]:
        """The edges of a node except the one from its parent, last first, each with its indent, whether it is the last, and
        its other end. A tag is shown below one node alone, and only if it has other memories."""
        shown = []
        for edge in edges.get(name, ()):
            is_first = parents.get(edge.end) == edge and len(edges[edge.end]) > 1
            is_shown = edge.relation != HAS_TAG or name == edge.end or is_first
            if is_shown and edge != parents.get(name):
                shown.append(edge)
        ends = [(edge, edge.end if edge.start == name else edge.start) for edge in sorted(shown, key=edge_rank)]
        return [(indent, n == len(ends) - 1, edge, end) for n, (edge, end) in enumerate(ends)][::-1]

    def edge_text(edge: Edge, name: str) -> str:
        node = nodes[name]
        words = _described(node) if parents.get(name) == edge else _name(node)
        is_cut = node.type != MEMORY and node.id in graph.cut and node.members > len(edges[name])
        more = f"  (and {node.members - len(edges[name])} more)" if is_cut else ""
        if edge.relation in (HAS_TAG, IN_CLUSTER):
            return f"{words}{more}"
        arrow = _ARROWS[direction(edge.relation, is_out=name == edge.end)]
        return f"{relation_words(edge.relation)} {arrow} {words}"

    for name, parent in parents.items():
        if parent is not None:
            continue
        is_tied = any(edge.relation != HAS_TAG for edge in edges.get(name, ()))
        if not graph.roots and not (is_tied and nodes[name].type == MEMORY):
            continue
        yield _described(nodes[name])
        waiting = below(name, "")
        while waiting:  # no recursion: a chain may be longer than the stack
            indent, is_last, edge, end = waiting.pop()
            yield f"{indent}{'└─' if is_last else '├─'} {edge_text(edge, end)}"
            if parents.get(end) == edge:
                waiting += below(end, indent + ("   " if is_last else "│  "))
        yield ""


def _described(node: Node) -> str:
    """The line about a node: of a memory its name, kind, tags and summary, cut to a width on a terminal."""
    if node.shown is None:
        return _name(node)
    tags = "".join(f" #{tag}" for tag in node.shown.tags)
    line = clean_line(f"{_name(node)} {node.shown.kind}{tags}  {node.shown.summary}")
    # In a pipe nothing is cut: a program may read it.
    return cut(line, _WIDTH) if sys.stdout.isatty() else line


def _name(node: Node) -> str:
    """The name of a node: of a memory its label with marks of its state, such as `superseded`."""
    if node.shown is None:
        return clean_line(f"#{node.label}" if node.type == TAG else f"cluster {node.label}")
    mark = state_marks(node.shown)
    return clean_line(f"{node.label}{f' [{mark}]' if mark else ''}")


# All take a view that is screened when it is made, so that no format can show what recall withholds.
GRAPH_FORMATS: Mapping[str, Callable[[GraphView], str]] = {
    "dot": render_dot, "html": render_html, "json": render_json, "mermaid": render_mermaid, "text": render_text,
}  # fmt: skip
"""The renderers by the name of their format."""
ENDINGS: Mapping[str, str] = {
    "dot": "dot", "gv": "dot", "html": "html", "json": "json", "mmd": "mermaid", "txt": "text",
}  # fmt: skip
"""The names of formats by the extension of a file."""
