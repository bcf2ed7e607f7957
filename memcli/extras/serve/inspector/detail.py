"""The page of a memory, its links and its history.

The versions of a memory: as commits have it, and as it is now, each with what changed since the one before.

The page Graph: memories, tags and links, drawn by the scripts of `memcli graph`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from memcli.codec.canonical import encode_line
from memcli.errors import MemcliError, NotFoundError
from memcli.extras.serve.access import Backend, Caller
from memcli.extras.serve.inspector import catalogue, pages
from memcli.record import Record
from memcli.render.clean import escape

_MOST = 12
_COMPARED = (
    "path", "kind", "tags", "pinned", "active", "superseded_by", "importance", "confidence", "relevance", "valid_from",
    "valid_until",
)  # fmt: skip


class MemoryVersion(Record):
    """A memory at a commit, or in the work tree if `commit` is empty, with the text before and the fields that changed."""

    commit: Mapping[str, Any]
    text: str
    before: str | None
    changes: tuple[tuple[str, Any, Any], ...]


def commits(blame: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The commits that a memory as it is now comes from, oldest first; of many only the newest."""
    found = {one["commit"]: one for one in (blame["added"], *blame["fields"].values()) if one}
    return sorted(found.values(), key=lambda one: (one["date"], one["commit"]))[-_MOST:]


def compared(
    read: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], now: Mapping[str, Any]
) -> list[MemoryVersion]:
    """The versions, newest first; that of now only where it differs from the last commit."""
    found: list[MemoryVersion] = []
    before: Mapping[str, Any] | None = None
    for commit, memory in [*read, ({}, now)]:
        version = _version(commit, memory, before)
        if commit or version.changes or version.text != version.before:
            found.append(version)
        before = memory
    return found[::-1]


def _version(commit: Mapping[str, Any], memory: Mapping[str, Any], before: Mapping[str, Any] | None) -> MemoryVersion:
    if before is None:
        return MemoryVersion(commit, memory["raw"], None, ())
    changes = [(name, before.get(name), memory.get(name)) for name in _COMPARED if before.get(name) != memory.get(name)]
    return MemoryVersion(commit, memory["raw"], before["raw"], tuple(changes))


_NAMED = 8
"""Memories that are named on top of a page because they contradict it or took its place."""
_ELSEWHERE = frozenset(
    "id path kind raw content summary_micro summary_short summary_long tags pinned created_at updated_at version usage "
    "active superseded_by links anchors metadata relevance importance confidence trust strength valid_from valid_until "
    "provenance context chunks digest".split()
)
"""Fields that have their places on the page; the others are listed as they are."""


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/memory/{space}/{name:path}")
    async def memory(request: Request, caller: pages.Reader, space: str, name: str, show: str = "") -> Response:
        found = await one(backend, caller, space, name, is_noted=not show)
        if show == "links":
            return pages.render(request, "links.html", **await _links(backend, caller, space, found))
        if show == "history":
            return pages.render(request, "history.html", **await _history(backend, caller, space, found))
        if show == "anchors":
            return pages.render(request, "anchors.html", **await _anchors(backend, caller, space, found))
        return pages.render(
            request, "memory.html", space=space, memory=found, others=await _named(backend, caller, space, found),
            rest={name: value for name, value in found.items() if name not in _ELSEWHERE},
        )  # fmt: skip


async def one(
    backend: Backend, caller: Caller, space: str, name: str, *, is_noted: bool = False, rev: str | None = None
) -> dict[str, Any]:
    """A memory with the fields that a page needs, defaults included. Raises NotFoundError."""
    pages.checked(caller, space)
    options = {
        "refs": [name], "space": space, "digest": True, "no_usage": not is_noted, **({"rev": rev} if rev else {}),
    }  # fmt: skip
    found = await backend.call("get", options, caller)
    defaults: dict[str, Any] = {
        "version": 1, "active": True, "superseded_by": None, "links": [], "anchors": [], "tags": [], "metadata": {},
        "usage": {}, "raw": "", "content": None, "importance": None, "confidence": 1.0, "trust": 1.0, "strength": 1,
        "valid_from": None, "valid_until": None, "provenance": {}, "context": [], "chunks": [], "relevance": "medium",
    }  # fmt: skip
    return {**defaults, **found}


async def _named(backend: Backend, caller: Caller, space: str, memory: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What to see before the text: the memory that took its place, those that contradict it, those it replaces."""
    by: list[Mapping[str, Any]] = [{"relation": "superseded by", "to": memory["superseded_by"]}]
    wanted = by if memory["superseded_by"] else []
    links = [link for link in memory["links"] if isinstance(link, Mapping) and isinstance(link.get("to"), str)]
    wanted += [link for link in links if link.get("relation") in ("contradicts", "supersedes")]
    found = []
    for link in wanted[:_NAMED]:
        where, name = pages.target(link["to"], space)
        if pages.sees(caller, where):
            other = await _brief(backend, caller, where, name)
            found.append({**other, "relation": link["relation"], "holds": link.get("holds")})
    return found


async def _brief(backend: Backend, caller: Caller, space: str, name: str) -> dict[str, Any]:
    """A memory by its path and summary; by its id alone if it cannot be read."""
    try:
        memory = await one(backend, caller, space, name)
    except MemcliError:
        return {"space": space, "id": name, "path": "", "summary": "", "updated_at": ""}
    summary = "" if memory["metadata"].get("untrusted") else memory["summary_micro"]
    about = {name: memory[name] for name in ("id", "path", "updated_at")}
    return {"space": space, "summary": summary, **about}


async def _links(backend: Backend, caller: Caller, space: str, memory: Mapping[str, Any]) -> dict[str, Any]:
    """All links from and to a memory, by relation."""
    options = {"ref": memory["id"], "depth": 1, "all": True, "space": space}
    graph = await backend.call("graph", options, caller)
    nodes = {node["id"]: node for node in graph["nodes"] if node["type"] == "memory"}
    own = next((name for name, node in nodes.items() if node["memory"] == memory["id"] and node["space"] == space), "")
    links = []
    for edge in graph["edges"]:
        if own not in (edge["start"], edge["end"]) or edge["relation"] in ("has_tag", "in_cluster"):
            continue
        is_out = edge["start"] == own
        other = nodes.get(edge["end" if is_out else "start"])
        if other is not None and pages.sees(caller, other["space"]):
            links.append({**edge, "is_out": is_out, "other": other, "weight": edge.get("weight", 1.0)})
    links.sort(key=lambda link: (link["relation"], not link["is_out"], link["other"]["path"], link["other"]["id"]))
    return {"space": space, "memory": memory, "links": links}


async def _anchors(backend: Backend, caller: Caller, space: str, memory: Mapping[str, Any]) -> dict[str, Any]:
    """The anchors of a memory with the state of the code; without it if the code cannot be read."""
    states: dict[tuple[str, str], str] = {}
    problem = ""
    try:
        checked = await backend.call("check code", {"space": space}, caller)
        for found in checked["found"]:
            if found["id"] == memory["id"]:
                states[found["file"], found.get("symbol", "")] = found["state"]
    except MemcliError as error:
        problem = error.message
    anchors = [
        {**anchor, "state": "" if problem else states.get((anchor.get("file", ""), anchor.get("symbol", "")), "fresh")}
        for anchor in memory["anchors"]
        if isinstance(anchor, Mapping)
    ]
    return {"space": space, "memory": memory, "anchors": anchors, "problem": problem}


async def _history(backend: Backend, caller: Caller, space: str, memory: Mapping[str, Any]) -> dict[str, Any]:
    """The acts of the audit log, and the versions that git has, with what changed between them."""
    acts = await backend.call("store audit", {"id": memory["id"], "limit": 100, "space": space}, caller) or []
    found, problem = await _versions(backend, caller, space, memory)
    return {"space": space, "memory": memory, "acts": acts[::-1], "versions": found, "problem": problem}


async def _versions(
    backend: Backend, caller: Caller, space: str, memory: Mapping[str, Any]
) -> tuple[list[MemoryVersion], str]:
    """The versions, newest first, and why there are none."""
    try:
        blame = await backend.call("blame", {"ref": memory["id"], "space": space}, caller)
    except MemcliError as error:
        return [], error.message
    read = []
    for commit in commits(blame):
        try:
            read.append((commit, await one(backend, caller, space, memory["id"], rev=commit["commit"])))
        except NotFoundError:
            continue
    return compared(read, memory), ""


_READABLE = 2_000
"""From so many memories on, a part of the space is asked for first."""
_LISTED = 300
_REVERSED = {"supersedes": "superseded by", "depends on": "needed by", "derived from": "source of"}
Depth = Annotated[int, Query(ge=0, le=6)]


def add_graph_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/graph")
    async def graph(
        request: Request, caller: pages.Reader, space: str = "", ref: str = "", depth: Depth = 2, whole: bool = False
    ) -> Response:
        home = pages.chosen(caller, space)
        spaces = await catalogue.spaces(backend, caller)
        size = next((one["objects"] for one in spaces if one["space"] == home), 0)
        values: dict[str, Any] = {"space": home, "spaces": spaces, "ref": ref, "depth": depth, "size": size}
        if size > _READABLE and not ref and not whole:
            top = await catalogue.below(backend, caller, home, "")
            return pages.render(request, "graph_parts.html", top=top, **values)
        return pages.render(request, "graph.html", **values)

    @router.get("/graph.json")
    async def data(caller: pages.Reader, space: str, ref: str = "", depth: Depth = 2) -> Response:
        found = await _graph(backend, caller, pages.checked(caller, space), ref, depth)
        return Response(escape(encode_line(found).decode()), media_type="application/json")

    @router.get("/graph/list")
    async def listed(request: Request, caller: pages.Reader, space: str, ref: str = "", depth: Depth = 2) -> Response:
        found = await _graph(backend, caller, pages.checked(caller, space), ref, depth)
        return pages.render(request, "graph_list.html", space=space, ref=ref, **_rows(found))


async def _graph(backend: Backend, caller: Caller, space: str, ref: str, depth: int) -> dict[str, Any]:
    """The graph without what the caller does not see."""
    found: dict[str, Any] = await backend.call("graph", {"ref": ref, "depth": depth, "space": space}, caller)
    nodes = [node for node in found["nodes"] if pages.sees(caller, node.get("space", space))]
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
