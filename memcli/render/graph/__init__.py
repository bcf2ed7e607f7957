"""The formats of a graph. To add one: a file with `render` here and a line in GRAPH_FORMATS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from memcli.graph.elements import GraphView

GRAPH_FORMATS: Mapping[str, str] = {
    "dot": "as_dot", "html": "as_html", "json": "as_json", "mermaid": "as_mermaid", "text": "as_text",
}  # fmt: skip
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
    render: Callable[[GraphView], str] = import_module(f"{__name__}.{GRAPH_FORMATS[name]}").render
    return render
