"""The application: its routes, behind the checks that every request passes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memcli import __version__
from memcli.errors import MemcliError
from memcli.serve import entry, memories
from memcli.serve.backend import Backend
from memcli.serve.gate import Admission, Gate, store_is_gone, wants_page
from memcli.serve.operations import Operation, add_operations
from memcli.serve.problems import problem_of


def make_app(
    backend: Backend,
    access: Admission,
    operations: Sequence[Operation] = (),
    log: Callable[[str], None] = lambda _: None,
    *,
    logs_all: bool = False,
) -> Gate:
    """The application on a store."""
    app = FastAPI(title="memcli", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.include_router(entry.make_router(access))
    app.include_router(memories.make_router(backend))
    add_operations(app.router, operations, backend)
    gate = Gate(app, access, log, logs_all=logs_all)
    if find_spec("memcli.serve.inspector") is not None:
        inspector = importlib.import_module("memcli.serve.inspector")
        app.include_router(inspector.make_router(backend), include_in_schema=False)
        gate.pages = importlib.import_module("memcli.serve.inspector.pages")

    async def on_error(request: Request, error: Exception) -> Response:
        found = store_is_gone() if not access.has_store() else problem_of(error)
        if gate.pages is not None and wants_page(request.url.path, request.headers):
            return gate.pages.failure(found.status, found.title, found.hint)
        return found.response()

    for kind in (MemcliError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, on_error)
    return gate
