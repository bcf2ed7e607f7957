"""The pages Audit, Gaps, Sessions with that of one session, and Usage."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response

from memcli.errors import CorruptError
from memcli.extras.serve.access import Backend
from memcli.extras.serve.inspector import catalogue, pages

_FIRST, _MOST = 50, 5_000


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/audit")
    async def audit(
        request: Request,
        caller: pages.Reader,
        space: str = "",
        about: str = "",
        since: str = "",
        limit: Annotated[int, Query(ge=1, le=_MOST)] = _FIRST,
        verify: bool = False,
    ) -> Response:
        home = pages.chosen(caller, space)
        filters = {name: text.strip() for name, text in (("id", about), ("since", since)) if text.strip()}
        acts = await backend.call("store audit", {"limit": limit + 1, "space": home, **filters}, caller) or []
        checked = None
        if verify:
            try:
                checked = {
                    "problem": "",
                    "hint": "",
                    **await backend.call("store audit", {"verify": True, "space": home}, caller),
                }
            except CorruptError as error:  # the page reports a log that was tampered with as a result
                checked = {"problem": error.message, "hint": error.hint}
        return pages.render(
            request, "audit.html", space=home, spaces=await catalogue.spaces(backend, caller), about=about, since=since,
            acts=acts[::-1][:limit], limit=limit, more=min(_MOST, limit * 4) if len(acts) > limit else 0,
            checked=checked,
        )  # fmt: skip

    @router.get("/gaps")
    async def gaps(request: Request, caller: pages.Reader, space: str = "") -> Response:
        home = pages.chosen(caller, space)
        spaces = await catalogue.spaces(backend, caller)
        found = await backend.call("feedback gaps", {"space": home}, caller)
        shown = [gap for gap in found["gaps"] if pages.sees(caller, gap["space"])]
        is_recorded = any(one["space"] == home and one["policy"].get("gaps") for one in spaces)
        return pages.render(request, "gaps.html", space=home, spaces=spaces, gaps=shown, is_recorded=is_recorded)

    @router.post("/gaps/close")
    async def close(caller: pages.Writer, space: Annotated[str, Form()], topic: Annotated[str, Form()]) -> Response:
        pages.checked(caller, space)
        await backend.call("feedback gaps", {"refs": [topic], "close": True, "space": space}, caller)
        return pages.see(pages.query("/gaps", {"space": space, "done": "closed"}))


_PAGE = 40
_MESSAGES = 50
_PARTS = ("beginning", "middle", "end")
# The defaults of the fields of an episode that the page shows: the JSON of an arc leaves them out.
_EPISODE: dict[str, Any] = {
    "valence": 0.0, "significance": 0.0, "kind": "", "title": "", "context": "", "outcome": "", "turns": [],
}  # fmt: skip
Page = Annotated[int, Query(ge=1, le=100_000)]


def add_sessions_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/sessions")
    async def sessions(request: Request, caller: pages.Reader, space: str = "", page: Page = 1) -> Response:
        home = pages.chosen(caller, space)
        found = await backend.call("session list", {"space": home, "limit": page * _PAGE + 1}, caller) or []
        shown = found[(page - 1) * _PAGE : page * _PAGE]
        return pages.render(
            request, "sessions.html", space=home, sessions=shown, page=page, has_more=len(found) > page * _PAGE,
            spaces=await catalogue.spaces(backend, caller),
        )  # fmt: skip

    @router.get("/sessions/{space}/{name}")
    async def session(request: Request, caller: pages.Reader, space: str, name: str, page: Page = 1) -> Response:
        pages.checked(caller, space)
        first = (page - 1) * _MESSAGES + 1
        options = {"id": name, "from_": first, "to": first + _MESSAGES - 1, "space": space}
        found = await backend.call("session show", options, caller)
        arc = await backend.call("session arc", {"id": name, "space": space}, caller)
        parts = [(part, [{**_EPISODE, **episode} for episode in arc[part]]) for part in _PARTS if arc.get(part)]
        return pages.render(
            request, "session.html", space=space, session=found["session"], messages=found["messages"], page=page,
            has_more=found["session"]["messages"] > page * _MESSAGES, parts_of=parts,
        )  # fmt: skip

    @router.get("/usage")
    async def usage(request: Request, caller: pages.Reader, space: str = "") -> Response:
        home = pages.chosen(caller, space)
        counts = await backend.call("status", {"stats": True, "space": home, "usage": True}, caller)
        return pages.render(
            request, "usage.html", space=home, spaces=await catalogue.spaces(backend, caller), counts=counts,
            usage=counts["usage"],
        )  # fmt: skip
