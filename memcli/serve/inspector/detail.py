"""The page of a memory, its links and its history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from memcli.errors import MemcliError, NotFoundError
from memcli.serve.access import Caller
from memcli.serve.backend import Backend
from memcli.serve.inspector import pages, scope, versions

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
    async def memory(request: Request, caller: scope.Reader, space: str, name: str, show: str = "") -> Response:
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
    scope.checked(caller, space)
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
        where, name = scope.target(link["to"], space)
        if scope.sees(caller, where):
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
        if other is not None and scope.sees(caller, other["space"]):
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
) -> tuple[list[versions.MemoryVersion], str]:
    """The versions, newest first, and why there are none."""
    try:
        blame = await backend.call("blame", {"ref": memory["id"], "space": space}, caller)
    except MemcliError as error:
        return [], error.message
    read = []
    for commit in versions.commits(blame):
        try:
            read.append((commit, await one(backend, caller, space, memory["id"], rev=commit["commit"])))
        except NotFoundError:
            continue
    return versions.compared(read, memory), ""
