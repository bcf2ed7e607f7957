"""The application: its routes, behind the checks that every request passes."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Sequence
from importlib.util import find_spec
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memcli import __version__
from memcli.errors import MemcliError
from memcli.serve import entry, memories
from memcli.serve.backend import Backend
from memcli.serve.gate import Access, Gate
from memcli.serve.operations import Operation, add_operations
from memcli.serve.problems import on_error, on_http_error, on_wrong_values

Handler = Callable[[Request, Exception], Awaitable[Response]]
_INSPECTOR = "memcli.serve.inspector"


def make_app(
    backend: Backend,
    access: Access,
    operations: Sequence[Operation] = (),
    log: Callable[[str], None] = lambda _: None,
    *,
    logs_all: bool = False,
) -> Gate:
    """The application on a store."""
    app = FastAPI(title="memcli", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    handlers: dict[Any, Handler] = {
        MemcliError: on_error, RequestValidationError: on_wrong_values, HTTPException: on_http_error,
    }  # fmt: skip
    app.include_router(entry.make_router(access))
    app.include_router(memories.make_router(backend))
    add_operations(app.router, operations, backend)
    gate = Gate(app, access, log, logs_all=logs_all)
    if find_spec(_INSPECTOR) is not None:
        _add_inspector(app, backend, gate)
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
    return gate


def _add_inspector(app: FastAPI, backend: Backend, gate: Gate) -> None:
    app.include_router(importlib.import_module(_INSPECTOR).make_router(backend), include_in_schema=False)
    gate.signed_out = importlib.import_module(f"{_INSPECTOR}.pages").signed_out
