"""The page Memories: the tree of paths, opened along the path that the list shows, the search, and its results."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from memcli.extras.serve.access import Backend, Caller
from memcli.extras.serve.inspector import pages
from memcli.record import Record, replace

_MOST = 400
"""The most branches that are shown below one; a search finds the others."""


class Branch(Record):
    """A segment of a path in the tree: its whole path, the id of its memory, if any, and the branches below if it is open."""

    name: str
    path: str
    id: str = ""
    has_more: bool = False
    count: int = 0
    is_open: bool = False
    children: tuple[Branch, ...] = ()
    left_out: int = 0


async def spaces(backend: Backend, caller: Caller) -> list[Mapping[str, Any]]:
    """The spaces that the caller may see, with their counts."""
    return pages.seen(caller, await backend.call("space list", {}, caller))


async def below(backend: Backend, caller: Caller, space: str, path: str) -> Branch:
    """A path as an open branch, with the branches directly below it; none for a path without memories."""
    node: Mapping[str, Any] = await backend.call(
        "list", {"tree": True, "space": space, "path": path, "depth": 1}, caller
    )
    for step in filter(None, path.split("/")):  # the result begins at the root, whatever its `path`
        node = next((child for child in node.get("children", ()) if child["name"] == step), {"name": step})
    start = f"{path}/" if path else ""
    children = [
        Branch(
            child["name"], start + child["name"], child.get("id", ""),
            bool(child.get("has_more") or child.get("children")), child.get("count", 0),
        )
        for child in node.get("children", ())
    ]  # fmt: skip
    shown = tuple(children[:_MOST])
    return Branch(node["name"], path, children=shown, is_open=True, left_out=len(children) - len(shown))


async def opened(backend: Backend, caller: Caller, space: str, branch: Branch, steps: list[str]) -> Branch:
    """A branch with those below it opened along the segments `steps` of a path."""
    if not steps:
        return branch
    children = []
    for child in branch.children:
        if child.name == steps[0] and child.has_more:
            inner = await below(backend, caller, space, child.path)
            grown = replace(child, is_open=True, children=inner.children, left_out=inner.left_out)
            children.append(await opened(backend, caller, space, grown, steps[1:]))
        else:
            children.append(child)
    return replace(branch, children=tuple(children))


PAGE = 50
"""Memories on a page of a list."""
_FOUND, _MOST_FOUND = 20, 200
"""Results of a search: on the first page, and the most."""
_LONGEST_QUERY = 1_000
ALL = "all"
"""The state in which forgotten and superseded memories are shown too."""


class PageRequest(Record):
    """The parameters of the page, as in its address. `q` is the query of the search, `why` shows the parts of scores."""

    q: str = ""
    space: str = ""
    under: str = ""
    kind: str = ""
    tag: str = ""
    state: str = ""
    page: int = 1
    more: int = 0
    why: bool = False

    @property
    def is_search(self) -> bool:
        """Whether the page shows the results of a search."""
        return bool(self.q.strip())

    @property
    def is_narrowed(self) -> bool:
        """Whether the page shows a part of the memories."""
        return bool(self.space or self.under or self.kind or self.tag or self.state)

    def values(self) -> dict[str, Any]:
        """The parameters of an address of the page; those with their defaults are empty."""
        page = self.page if self.page > 1 else 0
        return {
            "q": self.q, "space": self.space, "under": self.under, "kind": self.kind, "tag": self.tag,
            "state": self.state, "why": self.why, "page": page, "more": self.more,
        }  # fmt: skip


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/")
    async def memories(
        request: Request,
        caller: pages.Reader,
        q: Annotated[str, Query(max_length=_LONGEST_QUERY)] = "",
        space: str = "",
        under: str = "",
        kind: str = "",
        tag: str = "",
        state: str = "",
        page: Annotated[int, Query(ge=1, le=100_000)] = 1,
        more: Annotated[int, Query(ge=0, le=_MOST_FOUND)] = 0,
        why: bool = False,
    ) -> Response:
        if space:
            pages.checked(caller, space)
        wanted = PageRequest(q, space, under.strip("/"), kind, tag, ALL if state == ALL else "", page, more, why)
        found = await _found(backend, caller, wanted)
        if request.query_params.get("part") == "1":
            return pages.render(request, "results.html", wanted=wanted, **found)
        known, counts = await asyncio.gather(
            spaces(backend, caller), backend.call("status", {"stats": True, **_in(caller, space)}, caller)
        )
        names = [one["space"] for one in known]
        shown = space or (names[0] if names else "")
        root = await below(backend, caller, shown, "") if shown else None
        steps = [step for step in wanted.under.split("/") if step]
        return pages.render(
            request, "memories.html", wanted=wanted, spaces=known, opened_space=shown,
            opened=await opened(backend, caller, shown, root, steps) if root else None,
            kinds=sorted(counts["kinds"]), tags=sorted(counts["tags"]), **found,
        )  # fmt: skip

    @router.get("/tree")
    async def branch(request: Request, caller: pages.Reader, space: str, path: str = "") -> Response:
        pages.checked(caller, space)
        found = await below(backend, caller, space, path.strip("/"))
        return pages.render(request, "branch.html", space=space, branch=found, under="")


def _in(caller: Caller, space: str) -> dict[str, Any]:
    """The option that names the space, if one is named or the caller is bound to some."""
    named = pages.chosen(caller, space) if caller.spaces else space
    return {"space": named} if named else {}


async def _found(backend: Backend, caller: Caller, wanted: PageRequest) -> dict[str, Any]:
    """The values of the list: results of a search, a page of the memories, or the newest if no parameter is given."""
    if wanted.is_search:
        return await _searched(backend, caller, wanted)
    options: dict[str, Any]
    if wanted.is_narrowed:
        home = pages.chosen(caller, wanted.space)
        options = {
            "space": home, "path": wanted.under, "kind": _some(wanted.kind), "tag": _some(wanted.tag),
            "all": wanted.state == ALL, "limit": PAGE + 1, "offset": (wanted.page - 1) * PAGE,
        }  # fmt: skip
        # One memory more than a page has shows whether there is another page.
        found = await backend.call("list", options, caller) or []
        items = [_row(one, home) for one in found[:PAGE]]
        return {"listing": "list", "items": items, "has_more": len(found) > PAGE, "home": home}
    # Reading a page is no recall by an agent: it is not counted as use of the memories.
    options = {"under": "", "limit": _FOUND, "no_global": True, "no_usage": True, **_in(caller, "")}
    newest = (await backend.call("recall", options, caller))["sections"]
    home = pages.chosen(caller, "")
    return {"listing": "newest", "items": [_row(one, home) for one in newest], "has_more": False, "home": home}


async def _searched(backend: Backend, caller: Caller, wanted: PageRequest) -> dict[str, Any]:
    """The best results in a space, or in all spaces that the caller may see."""
    limit = wanted.more or _FOUND
    query = {
        "topic": wanted.q, "limit": limit, "under": wanted.under, "kind": _some(wanted.kind), "tag": _some(wanted.tag),
        "include_inactive": wanted.state == ALL, "include_untrusted": True, "explain": True, "no_global": True,
        "no_usage": True,
    }  # fmt: skip
    # A caller that is bound to several spaces may not search all, so that each of its spaces is searched by a call.
    searched: tuple[str, ...] = (wanted.space,) if wanted.space else caller.spaces or ("",)
    bundles = [
        await backend.call("recall", {**query, **({"space": space} if space else {"all_spaces": True})}, caller)
        for space in searched
    ]
    items = [
        _result(section, bundle["space"])
        for bundle in bundles
        for section in bundle["sections"]
        if pages.sees(caller, section.get("space", bundle["space"]))
    ]
    # Results of several bundles are merged by score; the rest of the key makes the order total.
    items.sort(key=lambda item: (-item["score"], item["space"], item["id"]))
    matched = sum(bundle.get("matched", 0) for bundle in bundles)
    return {
        "listing": "search", "items": items[:limit], "matched": max(matched, len(items)),
        "has_more": len(items) > limit or (matched > limit and limit < _MOST_FOUND),
        "next": min(_MOST_FOUND, limit + _FOUND * 2), "home": bundles[0]["space"],
        "weak": bool(items) and all(bundle.get("weak") or not bundle["sections"] for bundle in bundles),
        "degraded": next((bundle["degraded"] for bundle in bundles if bundle.get("degraded")), ""),
    }  # fmt: skip


def _some(text: str) -> list[str]:
    return [text] if text.strip() else []


def _row(one: Mapping[str, Any], home: str) -> dict[str, Any]:
    """A memory of a list, with the fields that the JSON leaves out where they have their defaults."""
    return {
        **one, "space": one.get("space", home), "active": one.get("active", True),
        "superseded_by": one.get("superseded_by"), "untrusted": one.get("untrusted") or [],
    }  # fmt: skip


def _result(section: Mapping[str, Any], home: str) -> dict[str, Any]:
    """A result of a search, with the passage that matches best."""
    passage = section.get("passage") or {}
    reasons = sorted((section.get("why") or {}).items(), key=lambda item: (-abs(item[1]), item[0]))
    return {
        **_row({"tags": [], "pinned": False, "created_at": "", **section}, home),
        "passage": passage.get("text") or section.get("summary_micro", ""), "heading": passage.get("heading", ""),
        "score": section.get("score", 0.0), "why": reasons, "contradicts": section.get("contradicts", []),
        "anchors": section.get("anchors", []),
    }  # fmt: skip
