"""The formats of a graph. To add one: a function in `formats.py` and its name in GRAPH_FORMATS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.graph.elements import GraphView

GRAPH_FORMATS = ("dot", "html", "json", "mermaid", "text")
ENDINGS: Mapping[str, str] = {
    "dot": "dot",
    "gv": "dot",
    "html": "html",
    "json": "json",
    "mmd": "mermaid",
    "txt": "text",
}
"""The format that the end of a file's name asks for."""


def renderer(name: str) -> Callable[[GraphView], str]:
    """What writes a graph in the format of this name."""
    from memcli.render.graph import formats

    return {
        "dot": formats.render_dot, "html": formats.render_html, "json": formats.render_json,
        "mermaid": formats.render_mermaid, "text": formats.render_text,
    }[name]  # fmt: skip
