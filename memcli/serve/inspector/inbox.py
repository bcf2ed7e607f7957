"""The page Inbox: proposed memories, and memories that contradict each other."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from memcli.errors import UsageError
from memcli.serve.access import Caller
from memcli.serve.backend import Backend
from memcli.serve.inspector import addresses, pages, scope, tree

_PAGE = 30


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/inbox")
    async def inbox(request: Request, caller: scope.Reader, space: str = "", show: str = "", page: int = 1) -> Response:
        home = scope.chosen(caller, space)
        if show == "contradictions":
            found = await _contradictions(backend, caller, home)
            return pages.render(request, "contradictions.html", space=home, steps=found)
        listed = await backend.call("inbox", {"action": "list", "space": home}, caller) or []
        first = (max(1, page) - 1) * _PAGE
        return pages.render(
            request, "inbox.html", space=home, spaces=await tree.spaces(backend, caller), page=max(1, page),
            proposals=await _whole(backend, caller, home, listed[first : first + _PAGE]), count=len(listed),
            has_more=len(listed) > first + _PAGE,
        )  # fmt: skip

    @router.post("/inbox/{action}")
    async def decide(
        caller: scope.Writer,
        action: str,
        space: Annotated[str, Form()],
        name: Annotated[str, Form()],
        text: Annotated[str, Form()] = "",
        path: Annotated[str, Form()] = "",
    ) -> Response:
        scope.checked(caller, space)
        if action not in ("accept", "reject", "edit"):
            raise UsageError(f"no action {action[:40]!r}", "choose accept, reject or edit")
        options: dict[str, Any] = {"action": action, "refs": [name], "space": space}
        if action == "edit":
            fields = {"raw": text.replace("\r\n", "\n"), "path": path.strip()}
            options["set"] = {field: value for field, value in fields.items() if value.strip()}
        await backend.call("inbox", options, caller)
        done = {"accept": "accepted", "reject": "rejected", "edit": "saved"}[action]
        return pages.see(addresses.query("/inbox", {"space": space, "done": done}))


async def _whole(backend: Backend, caller: Caller, space: str, listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The proposals of a page with their texts and what they contradict or repeat."""
    if not listed:
        return []
    ids = [one["id"] for one in listed]
    whole = await backend.call("inbox", {"action": "show", "refs": ids, "space": space}, caller)
    texts = {one["id"]: one for one in whole}
    blank: dict[str, Any] = {"contradicts": [], "duplicates": [], "untrusted": [], "provenance": {}, "raw": ""}
    return [{**blank, **texts.get(one["id"], {}), **one} for one in listed]


async def _contradictions(backend: Backend, caller: Caller, space: str) -> list[dict[str, Any]]:
    """The pairs of memories in a space that contradict or repeat each other."""
    found = await backend.call("store maintain", {"only": ["review"], "dry_run": True, "space": space}, caller)
    return [step for one in found["spaces"] if one["space"] == space for step in one["steps"]]
