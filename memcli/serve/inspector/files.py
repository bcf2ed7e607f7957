"""Static files: the style and the scripts of the pages, at addresses that change with their content."""

from __future__ import annotations

import os
from functools import cache

from fastapi import APIRouter
from fastapi.responses import Response

from memcli.digests import sha256
from memcli.errors import NotFoundError

_OWN = os.path.join(os.path.dirname(__file__), "static")
_GRAPH = os.path.join(os.path.dirname(__file__), "..", "..", "render", "graph", "page")
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_FILES = {
    **{name: (_OWN, name) for name in ("inspector.css", "theme.js", "inspector.js", "search.js", "graph.js", "icon.svg")},
    **{f"graph-{name}": (_GRAPH, name) for name in ("layout.js", "draw.js", "page.js", "controls.js", "page.css")},
}  # fmt: skip
"""The files by name; those of the graph are those that `memcli graph` puts into its page."""
_FOR_EVER = "public, max-age=31536000, immutable"


def address(name: str) -> str:
    """Where a file is served."""
    return f"/static/{_version()}/{name}"


def add_routes(router: APIRouter) -> None:
    @router.get("/static/{version}/{name}")
    def static(version: str, name: str) -> Response:
        if name not in _FILES or version != _version():
            raise NotFoundError(f"no file {name[:80]!r}", "load the page again")
        kind = _TYPES[os.path.splitext(name)[1]]
        return Response(_read(name), media_type=kind, headers={"Cache-Control": _FOR_EVER})


@cache
def _version() -> str:
    told = b"".join(_read(name) for name in sorted(_FILES))
    return sha256(told).hexdigest()[:12]


@cache
def _read(name: str) -> bytes:
    with open(os.path.join(*_FILES[name]), "rb") as file:
        return file.read()
