"""The page Gaps: questions that recall could not answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from memcli.serve.backend import Backend
from memcli.serve.inspector import addresses, pages, scope, tree


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/gaps")
    async def gaps(request: Request, caller: scope.Reader, space: str = "") -> Response:
        home = scope.chosen(caller, space)
        spaces = await tree.spaces(backend, caller)
        found = await backend.call("feedback gaps", {"space": home}, caller)
        shown = [gap for gap in found["gaps"] if scope.sees(caller, gap["space"])]
        is_kept = any(one["space"] == home and one["policy"].get("gaps") for one in spaces)
        return pages.render(request, "gaps.html", space=home, spaces=spaces, gaps=shown, is_kept=is_kept)

    @router.post("/gaps/close")
    async def close(caller: scope.Writer, space: Annotated[str, Form()], topic: Annotated[str, Form()]) -> Response:
        scope.checked(caller, space)
        await backend.call("feedback gaps", {"refs": [topic], "close": True, "space": space}, caller)
        return pages.see(addresses.query("/gaps", {"space": space, "done": "closed"}))
