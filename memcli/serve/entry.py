"""Coming and going: health, one-time links, and the tokens themselves."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from memcli.clock import system_clock
from memcli.errors import RefusedError
from memcli.model.roles import ADMIN, READER
from memcli.serve.access import Caller, needs
from memcli.serve.answers import answer, problems
from memcli.serve.gate import Admission
from memcli.serve.logins import SESSION_SECONDS

_Admin = Annotated[Caller, Depends(needs(ADMIN))]
_Reader = Annotated[Caller, Depends(needs(READER))]


class NewToken(BaseModel):
    """What a token is to be."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=40)
    role: str = Field(max_length=10)
    spaces: list[str] = Field(default=[], max_length=100)


def make_router(access: Admission) -> APIRouter:
    """The routes."""
    router = APIRouter(default_response_class=Response)
    _add_logins(router, access)
    _add_tokens(router, access)
    return router


def link_to(access: Admission, code: str) -> str:
    """The address at which a code begins a session."""
    return f"http://127.0.0.1:{access.port}/login?code={code}"


def _add_logins(router: APIRouter, access: Admission) -> None:
    @router.get("/health", summary="Say that the server runs", tags=["server"])
    async def health() -> Response:
        return answer({"status": "ok"})

    @router.get("/login", include_in_schema=False)
    async def login(code: Annotated[str, Query(max_length=200)] = "") -> Response:
        session = access.logins.begin(code)
        if session is None:
            hint = "`memcli serve` prints one, and POST /api/login makes one"
            raise RefusedError("the link was used already, or is too old", hint)
        response = RedirectResponse("/", 303)
        response.set_cookie(
            access.cookie, session, max_age=int(SESSION_SECONDS), path="/", httponly=True, samesite="strict"
        )
        return response

    @router.post(
        "/api/login", summary="Make a one-time link to the inspector", responses=problems(201), tags=["server"]
    )
    async def make_link(request: Request, _: _Reader) -> Response:
        if request.state.session:
            raise RefusedError("a link is made for a token, not for a session of a browser", "send the token")
        return answer({"url": link_to(access, access.logins.make_code(request.state.token.digest))}, 201)

    @router.post("/logout", include_in_schema=False)
    async def logout(request: Request) -> Response:
        access.logins.end(request.state.session)
        response = RedirectResponse("/", 303)
        response.delete_cookie(access.cookie, path="/", httponly=True, samesite="strict")
        return response


def _add_tokens(router: APIRouter, access: Admission) -> None:
    tokens = access.tokens

    @router.get("/api/tokens", summary="List tokens", responses=problems(200), tags=["tokens"])
    async def list_tokens(caller: _Admin) -> Response:
        _check_unbound(caller)
        return answer({"tokens": [token.to_json() for token in tokens.all()]})

    @router.post("/api/tokens", summary="Create a token, which is shown once", responses=problems(201), tags=["tokens"])
    async def create(new: Annotated[NewToken, Body()], caller: _Admin) -> Response:
        _check_unbound(caller)
        wanted = Caller(new.name, new.role, tuple(new.spaces))
        text = await run_in_threadpool(tokens.create, wanted, system_clock())
        told: dict[str, Any] = {"name": new.name, "role": new.role, "spaces": new.spaces, "token": text}
        return answer(told, 201)

    @router.delete("/api/tokens/{name}", summary="Revoke a token", responses=problems(200), tags=["tokens"])
    async def revoke(name: Annotated[str, Path(max_length=40)], caller: _Admin) -> Response:
        _check_unbound(caller)
        await run_in_threadpool(tokens.revoke, name)
        return answer({"success": True})


def _check_unbound(caller: Caller) -> None:
    """A token that is bound to spaces gives no others away."""
    if caller.spaces:
        raise RefusedError("this token is for some spaces only", "use one for all spaces")
