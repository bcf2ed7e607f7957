"""The inspector: HTML pages that show memories and let writers change them, rendered on the server."""

from __future__ import annotations

from fastapi import APIRouter

from memcli.extras.serve.access import Backend
from memcli.extras.serve.inspector import catalogue, changes, detail, pages, reports


def make_router(backend: Backend) -> APIRouter:
    """The routes of the pages. They read `state.caller` of a request, and `state.csrf` for forms, which `Gate` sets."""
    router = APIRouter(include_in_schema=False)
    pages.add_routes(router)
    for add_routes in (
        catalogue.add_routes, detail.add_routes, changes.add_routes, changes.add_inbox_routes, reports.add_routes,
        reports.add_sessions_routes,
    ):  # fmt: skip
        add_routes(router, backend)
    return router
