"""The inspector: pages that show what is remembered and let writers change it. Rendered here, with a little JavaScript."""

from __future__ import annotations

from fastapi import APIRouter

from memcli.serve.backend import Backend
from memcli.serve.inspector import audit, catalogue, changes, detail, files, gaps, graph, inbox, sessions, usage


def make_router(backend: Backend) -> APIRouter:
    """The pages on a store. What they need of a request: `state.caller`, and `state.csrf` for forms."""
    router = APIRouter(include_in_schema=False)
    files.add_routes(router)
    for part in (catalogue, detail, changes, graph, sessions, usage, gaps, inbox, audit):
        part.add_routes(router, backend)
    return router
