"""The application: its routes, behind the checks that every request passes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, FastAPI

from memcli import __version__
from memcli.errors import MemcliError
from memcli.model.memory import Json
from memcli.serve.access import READER, Caller, needs
from memcli.serve.backend import Backend
from memcli.serve.problems import on_error


def make_app(backend: Backend) -> FastAPI:
    """The application on a store."""
    app = FastAPI(title="memcli", version=__version__, docs_url=None, redoc_url=None)
    app.add_exception_handler(MemcliError, on_error)

    @app.get("/apps")
    async def spaces(caller: Annotated[Caller, Depends(needs(READER))]) -> Json:
        return {"spaces": await backend.call("space list", {}, caller)}

    return app
