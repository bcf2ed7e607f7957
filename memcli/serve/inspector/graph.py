"""The page Graph: memories, tags and links, drawn by the scripts of `memcli graph`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from memcli.codec.canonical import encode_line
from memcli.render.clean import escape
from memcli.serve.access import Caller
from memcli.serve.backend import Backend
from memcli.serve.inspector import pages, scope, tree

_READABLE = 2_000
"""From so many memories on, a part of the space is asked for first."""
_LISTED = 300
_REVERSED = {"supersedes": "superseded by", "depends on": "needed by", "derived from": "source of"}
Depth = Annotated[int, Query(ge=0, le=6)]


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/graph")
    async def graph(
        request: Request, caller: scope.Reader, space: str = "", ref: str = "", depth: Depth = 2, whole: bool = False
    ) -> Response:
        home = scope.chosen(caller, space)
        spaces = await tree.spaces(backend, caller)
        size = next((one["objects"] for one in spaces if one["space"] == home), 0)
        values: dict[str, Any] = {"space": home, "spaces": spaces, "ref": ref, "depth": depth, "size": size}
        if size > _READABLE and not ref and not whole:
            top = await tree.below(backend, caller, home, "")
            return pages.render(request, "graph_parts.html", top=top, **values)
        return pages.render(request, "graph.html", **values)

    @router.get("/graph.json")
    async def data(caller: scope.Reader, space: str, ref: str = "", depth: Depth = 2) -> Response:
        found = await _graph(backend, caller, scope.checked(caller, space), ref, depth)
        return Response(escape(encode_line(found).decode()), media_type="application/json")

    @router.get("/graph/list")
    async def listed(request: Request, caller: scope.Reader, space: str, ref: str = "", depth: Depth = 2) -> Response:
        found = await _graph(backend, caller, scope.checked(caller, space), ref, depth)
        return pages.render(request, "graph_list.html", space=space, ref=ref, **_rows(found))


async def _graph(backend: Backend, caller: Caller, space: str, ref: str, depth: int) -> dict[str, Any]:
    """The graph without what the caller does not see."""
    found: dict[str, Any] = await backend.call("graph", {"ref": ref, "depth": depth, "space": space}, caller)
    nodes = [node for node in found["nodes"] if scope.sees(caller, node.get("space", space))]
    if len(nodes) == len(found["nodes"]):
        return found
    left = {node["id"] for node in nodes}
    edges = [edge for edge in found["edges"] if edge["start"] in left and edge["end"] in left]
    used = {end for edge in edges for end in (edge["start"], edge["end"])}
    return {
        **found,
        "edges": edges,
        "nodes": [node for node in nodes if node["type"] == "memory" or node["id"] in used],
    }


def _rows(graph: dict[str, Any]) -> dict[str, Any]:
    """The memories that have links, each with these; and how many there are in all."""
    nodes = {node["id"]: node for node in graph["nodes"] if node["type"] == "memory"}
    links: dict[str, list[tuple[str, dict[str, Any]]]] = {name: [] for name in nodes}
    for edge in graph["edges"]:
        start, end = nodes.get(edge["start"]), nodes.get(edge["end"])
        if start is not None and end is not None:
            relation = edge["relation"].replace("_", " ")
            links[edge["start"]].append((relation, end))
            links[edge["end"]].append((_REVERSED.get(relation, relation), start))
    tied = sorted((node for name, node in nodes.items() if links[name]), key=lambda node: (node["path"], node["id"]))
    rows = [(node, links[node["id"]]) for node in tied[:_LISTED]]
    return {"rows": rows, "count": len(nodes), "left_out": len(tied) - len(rows)}
