"""The pages of sessions: the list, and one with its messages and its arc."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from memcli.serve.backend import Backend
from memcli.serve.inspector import pages, scope, tree

_PAGE = 40
_MESSAGES = 50
_PARTS = ("beginning", "middle", "end")
Page = Annotated[int, Query(ge=1, le=100_000)]


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/sessions")
    async def sessions(request: Request, caller: scope.Reader, space: str = "", page: Page = 1) -> Response:
        home = scope.chosen(caller, space)
        found = await backend.call("session list", {"space": home, "limit": page * _PAGE + 1}, caller) or []
        shown = found[(page - 1) * _PAGE : page * _PAGE]
        return pages.render(
            request, "sessions.html", space=home, sessions=shown, page=page, has_more=len(found) > page * _PAGE,
            spaces=await tree.spaces(backend, caller),
        )  # fmt: skip

    @router.get("/sessions/{space}/{name}")
    async def session(request: Request, caller: scope.Reader, space: str, name: str, page: Page = 1) -> Response:
        scope.checked(caller, space)
        first = (page - 1) * _MESSAGES + 1
        options = {"id": name, "from_": first, "to": first + _MESSAGES - 1, "space": space}
        found = await backend.call("session show", options, caller)
        arc = await backend.call("session arc", {"id": name, "space": space}, caller)
        return pages.render(
            request, "session.html", space=space, session=found["session"], messages=found["messages"], page=page,
            has_more=found["session"]["messages"] > page * _MESSAGES, parts_of=_timeline(arc), key=arc["key_moments"],
        )  # fmt: skip


def _timeline(arc: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The episodes of each part of a session that has some."""
    defaults = {"valence": 0.0, "significance": 0.0, "kind": "", "title": "", "context": "", "outcome": "", "turns": []}
    return [(part, [{**defaults, **episode} for episode in arc[part]]) for part in _PARTS if arc.get(part)]
