"""`html`: one page that holds the graph, how it looks and what it does, and loads nothing.

A policy in the page allows the one script and the one style that are in it, by their hashes. All that was stored is in a
block of JSON that nothing in it can close, and gets into the page as text alone.
"""

from __future__ import annotations

import base64
import os
from functools import cache

from memcli.codec.canonical import encode_line
from memcli.digests import sha256
from memcli.graph.elements import GraphView
from memcli.render.clean import escape
from memcli.render.graph.as_json import graph_json

_FOLDER = os.path.join(os.path.dirname(__file__), "page")
_SCRIPTS = ("layout.js", "draw.js", "page.js", "controls.js")
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
"""What could end a block of JSON in HTML, or begin something in it: as JSON escapes, which mean the same."""


def render(graph: GraphView) -> str:
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
