"""The page Usage: what a space holds, and what of it is recalled."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from memcli.serve.backend import Backend
from memcli.serve.inspector import pages, scope, tree


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/usage")
    async def usage(request: Request, caller: scope.Reader, space: str = "") -> Response:
        home = scope.chosen(caller, space)
        counts = await backend.call("status", {"stats": True, "space": home, "usage": True}, caller)
        return pages.render(
            request, "usage.html", space=home, spaces=await tree.spaces(backend, caller), counts=counts,
            usage=counts["usage"],
        )  # fmt: skip
