"""The page Audit: who changed what, and whether the log is intact."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from memcli.errors import CorruptError
from memcli.serve.access import Caller
from memcli.serve.backend import Backend
from memcli.serve.inspector import pages, scope, tree

_FIRST, _MOST = 50, 5_000


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/audit")
    async def audit(
        request: Request,
        caller: scope.Reader,
        space: str = "",
        about: str = "",
        since: str = "",
        limit: Annotated[int, Query(ge=1, le=_MOST)] = _FIRST,
        verify: bool = False,
    ) -> Response:
        home = scope.chosen(caller, space)
        filters = {name: text.strip() for name, text in (("id", about), ("since", since)) if text.strip()}
        acts = await backend.call("store audit", {"limit": limit + 1, "space": home, **filters}, caller) or []
        return pages.render(
            request, "audit.html", space=home, spaces=await tree.spaces(backend, caller), about=about, since=since,
            acts=acts[::-1][:limit], limit=limit, more=min(_MOST, limit * 4) if len(acts) > limit else 0,
            checked=await _verified(backend, caller, home) if verify else None,
        )  # fmt: skip


async def _verified(backend: Backend, caller: Caller, space: str) -> dict[str, Any]:
    """What the check of the log found; a log that was tampered with is an answer too."""
    try:
        return {
            "problem": "",
            "hint": "",
            **await backend.call("store audit", {"verify": True, "space": space}, caller),
        }
    except CorruptError as error:
        return {"problem": error.message, "hint": error.hint}
