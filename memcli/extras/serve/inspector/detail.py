"""The page of a memory, with its links, its anchors and its history; and the page Graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from memcli.clock import system_clock
from memcli.codec.canonical import encode_line
from memcli.codec.memory import memory_from_json
from memcli.errors import MemcliError, NotFoundError
from memcli.extras.serve.access import Backend, Caller
from memcli.extras.serve.inspector import catalogue, pages
from memcli.model.changes import HistoryCommit
from memcli.model.links import elsewhere, target
from memcli.model.memory import Memory
from memcli.present.changes import NOT_COMMITTED, FieldView, field_view, memory_change, shown_fields
from memcli.present.links import BOTH, IN, OUT, direction, relation_words
from memcli.present.memory import context_pieces, detail_of
from memcli.record import Record
from memcli.render.clean import escape

_NAMED = 8
"""The most memories that are named on top of a page because they contradict or supersede it, or are superseded by it."""
_PLACED = (
    "links", "anchors", "importance", "confidence", "trust", "strength", "valid_from", "valid_until", "provenance",
    "procedure", "version",
)  # fmt: skip
"""Fields that have a place of their own on the page."""
_ARROWS = {BOTH: ("", ""), OUT: ("→", "from this"), IN: ("←", "to this")}
"""The sign between a relation and the other memory, and its text for screen readers."""

_READABLE = 2_000
"""In a space of more memories, the page Graph first asks for a part of it."""
_LISTED = 300
Depth = Annotated[int, Query(ge=0, le=6)]


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/memory/{space}/{name:path}")
    async def memory(request: Request, caller: pages.Reader, space: str, name: str, show: str = "") -> Response:
        # A visit counts once: the parts of a page, such as its links, are requested on their own.
        found, digest, usage = await read_memory(backend, caller, space, name, is_noted=not show)
        read = {"links": _links, "history": _history, "anchors": _anchors}.get(show)
        if read is not None:
            values = await read(backend, caller, space, found)
            return pages.render(request, f"{show}.html", space=space, memory=found, **values)
        detail = detail_of(found, system_clock(), usage=usage, placed=_PLACED)
        return pages.render(
            request, "memory.html", space=space, memory=found, digest=digest, detail=detail,
            context=context_pieces(found), others=await _named(backend, caller, space, found),
        )  # fmt: skip

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
        # `Backend` has removed what is of other spaces than the caller may see.
        found = await backend.call("graph", {"ref": ref, "depth": depth, "space": pages.checked(caller, space)}, caller)
        # `clean` would change the JSON, so characters that hide or reverse text are escaped instead of removed.
        return Response(escape(encode_line(found).decode()), media_type="application/json")

    @router.get("/graph/list")
    async def listed(request: Request, caller: pages.Reader, space: str, ref: str = "", depth: Depth = 2) -> Response:
        found = await backend.call("graph", {"ref": ref, "depth": depth, "space": pages.checked(caller, space)}, caller)
        return pages.render(request, "graph_list.html", space=space, ref=ref, **_rows(found))


async def read_memory(
    backend: Backend, caller: Caller, space: str, name: str, *, is_noted: bool = False, rev: str | None = None
) -> tuple[Memory, str, Mapping[str, Any]]:
    """Reads a memory as it is now, or as it was at the commit `rev`; returns it, the digest that the forms of a page send, and
    its use as JSON. `is_noted` counts it as used. Raises NotFoundError."""
    pages.checked(caller, space)
    options = {
        "refs": [name], "space": space, "digest": True, "no_usage": not is_noted, **({"rev": rev} if rev else {}),
    }  # fmt: skip
    found = dict(await backend.call("get", options, caller))
    digest, usage = found.pop("digest", ""), found.pop("usage", {})
    return memory_from_json(found, name), digest, usage


async def _named(backend: Backend, caller: Caller, space: str, memory: Memory) -> list[dict[str, Any]]:
    """The memories that a reader should know before the text: what supersedes it, contradicts it, or is superseded by it."""
    wanted: list[Mapping[str, Any]] = []
    if memory.superseded_by:
        wanted.append({"relation": "superseded by", "to": memory.superseded_by})
    wanted += [link for link in memory.links if target(link) and link.get("relation") in ("contradicts", "supersedes")]
    found = []
    for link in wanted[:_NAMED]:
        where, name = elsewhere(link["to"]) or (space, link["to"])
        if not pages.sees(caller, where):
            continue
        other = {"space": where, "id": name, "path": "", "summary": ""}
        with suppress(MemcliError):  # a memory that cannot be read is named by its id alone
            read, _, _ = await read_memory(backend, caller, where, name)
            summary = "" if read.metadata.get("untrusted") else read.summary_micro
            other |= {"id": read.id, "path": read.path, "summary": summary}
        found.append({**other, "relation": link["relation"], "holds": link.get("holds")})
    return found


async def _links(backend: Backend, caller: Caller, space: str, memory: Memory) -> dict[str, Any]:
    """All links from and to a memory, by relation."""
    options = {"ref": memory.id, "depth": 1, "all": True, "space": space}
    graph = await backend.call("graph", options, caller)
    nodes = {node["id"]: node for node in graph["nodes"] if node["type"] == "memory"}
    own = next((name for name, node in nodes.items() if node["memory"] == memory.id and node["space"] == space), "")
    links = []
    for edge in graph["edges"]:
        is_out = edge["start"] == own
        other = nodes.get(edge["end" if is_out else "start"])
        if own in (edge["start"], edge["end"]) and other is not None and pages.sees(caller, other["space"]):
            links.append((edge["relation"], is_out, other, edge.get("weight", 1.0)))
    links.sort(key=lambda link: (link[0], not link[1], link[2]["path"], link[2]["id"]))
    return {"links": [(*_relation(relation, is_out), other, weight) for relation, is_out, other, weight in links]}


def _relation(relation: str, is_out: bool) -> tuple[str, tuple[str, str]]:
    """The words of a relation, and its arrow."""
    return relation_words(relation), _ARROWS[direction(relation, is_out=is_out)]


async def _anchors(backend: Backend, caller: Caller, space: str, memory: Memory) -> dict[str, Any]:
    """The anchors of a memory with the state of the code; if that cannot be checked, the problem."""
    states: dict[tuple[str, str], str] = {}
    problem = ""
    try:
        checked = await backend.call("check code", {"space": space}, caller)
        for found in checked["found"]:
            if found["id"] == memory.id:
                states[found["file"], found.get("symbol", "")] = found["state"]
    except MemcliError as error:
        problem = error.message
    anchors = [
        {**anchor, "state": "" if problem else states.get((anchor.get("file", ""), anchor.get("symbol", "")), "fresh")}
        for anchor in memory.anchors
        if isinstance(anchor, Mapping)
    ]
    return {"anchors": anchors, "problem": problem}


# The most commits whose versions are shown: each costs a call of a verb.
_MOST = 12


class MemoryVersion(Record):
    """A memory at a commit, or as it is now without one, and the fields that changed since the version before."""

    commit: HistoryCommit | None
    memory: Memory
    status: str
    fields: tuple[FieldView, ...]


async def _history(backend: Backend, caller: Caller, space: str, memory: Memory) -> dict[str, Any]:
    """The acts of the audit log and the versions in git, newest first; if git cannot be read, the problem."""
    acts = await backend.call("store audit", {"id": memory.id, "limit": 100, "space": space}, caller) or []
    read, problem = [], ""
    try:
        blame = await backend.call("blame", {"ref": memory.id, "space": space}, caller)
        for commit in commits(blame):
            with suppress(NotFoundError):
                found, _, _ = await read_memory(backend, caller, space, memory.id, rev=commit.hash)
                read.append((commit, found))
        versions = versions_of(read, memory)
    except MemcliError as error:
        versions, problem = [], error.message
    return {"acts": acts[::-1], "versions": versions, "problem": problem, "not_committed": NOT_COMMITTED}


def commits(blame: Mapping[str, Any]) -> list[HistoryCommit]:
    """The commits that last changed a field of a memory, oldest first, and of many only the newest."""
    found = {one["commit"]: one for one in (blame["added"], *blame["fields"].values()) if one}
    ordered = sorted(found.values(), key=lambda one: (one["date"], one["commit"]))[-_MOST:]
    return [HistoryCommit(one["commit"], (), one["author"], one["date"], one["subject"]) for one in ordered]


def versions_of(read: Sequence[tuple[HistoryCommit, Memory]], now: Memory) -> list[MemoryVersion]:
    """The versions, newest first. The one of now is left out if it equals that of the last commit."""
    found: list[MemoryVersion] = []
    before: Memory | None = None
    for commit, memory in [*read, (None, now)]:
        change = memory_change(before, memory)
        if change is not None or commit is not None:
            fields = tuple(map(field_view, shown_fields(change))) if change else ()
            found.append(MemoryVersion(commit, memory, change.status if change else "", fields))
        before = memory
    return found[::-1]


def _rows(graph: dict[str, Any]) -> dict[str, Any]:
    """The memories with links, each with its links; how many memories there are, and how many with links are left out."""
    nodes = {node["id"]: node for node in graph["nodes"] if node["type"] == "memory"}
    links: dict[str, list[tuple[str, tuple[str, str], dict[str, Any]]]] = {name: [] for name in nodes}
    for edge in graph["edges"]:
        start, end = nodes.get(edge["start"]), nodes.get(edge["end"])
        if start is not None and end is not None:
            links[edge["start"]].append((*_relation(edge["relation"], True), end))
            links[edge["end"]].append((*_relation(edge["relation"], False), start))
    tied = sorted((node for name, node in nodes.items() if links[name]), key=lambda node: (node["path"], node["id"]))
    rows = [(node, links[node["id"]]) for node in tied[:_LISTED]]
    return {"rows": rows, "count": len(nodes), "left_out": len(tied) - len(rows)}
