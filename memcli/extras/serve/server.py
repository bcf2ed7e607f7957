"""The server: a socket on the loopback interface, the application that it serves, and how both stop.

The application has the routes of verbs, memories and the inspector, of health, one-time links and tokens, all behind the gate.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Annotated

import uvicorn
from fastapi import APIRouter, Body, Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp

from memcli import __version__
from memcli.clock import system_clock
from memcli.errors import MemcliError, RefusedError, StoreError, UsageError
from memcli.extras.serve import inspector
from memcli.extras.serve.access import Backend, Caller, needs
from memcli.extras.serve.bodies import MAX_HEAD
from memcli.extras.serve.gate import Admission, Gate, LimitedProtocol, wants_page
from memcli.extras.serve.operations import add_operations
from memcli.extras.serve.operations import make_router as memory_router
from memcli.extras.serve.pool import Pool
from memcli.extras.serve.problems import STORE_IS_GONE, answer, problem_of, problems
from memcli.extras.serve.tokens import SESSION_SECONDS, Logins, Tokens
from memcli.model.space import ADMIN, READER
from memcli.store.layout import Layout

# No other interface: without TLS, a token and every memory could be read on the network.
HOST = "127.0.0.1"
_BACKLOG = 512
_KEEP_ALIVE_SECONDS = 15
_GRACE_SECONDS = 1
_POOL_GRACE_SECONDS = 0.4


def listen(port: int) -> socket.socket:
    """A listening socket on the loopback interface; port 0 picks a free one. Raises UsageError, StoreError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A new server must not wait until the closed connections of the last one have timed out.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} is in use", "choose another --port; 0 is any free one") from None
        raise StoreError(f"cannot listen on port {port}: {error.strerror}", "choose another --port") from None
    return listening


class _Server(uvicorn.Server):
    """The server of uvicorn, which a signal only stops: uvicorn would raise it again at the end. Calls that wait for the
    pool are refused at once."""

    def __init__(self, config: uvicorn.Config, pool: Pool | None) -> None:
        super().__init__(config)
        self._pool = pool

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, self._end)
        yield

    def _end(self) -> None:
        self.should_exit = True
        if self._pool is not None:
            self._pool.refuse()


async def serve(listening: socket.socket, pool: Pool | None, app: Gate, ready: Callable[[], None]) -> None:
    """Serves until SIGINT or SIGTERM. Calls `ready` once the processes of the pool are ready. Raises StoreError."""
    # `Gate` has the log, without paths, which may quote a memory, and without tracebacks.
    logging.getLogger("uvicorn").disabled = True
    logging.getLogger("uvicorn.error").disabled = True
    # Without `proxy_headers=False`, uvicorn believes a client on this machine any address that it names.
    config = uvicorn.Config(
        app, http=LimitedProtocol, ws="none", lifespan="on", log_config=None, access_log=False,
        server_header=False, proxy_headers=False, h11_max_incomplete_event_size=MAX_HEAD, backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=_GRACE_SECONDS,
    )  # fmt: skip
    server = _Server(config, pool)
    try:
        if pool is not None:
            await pool.start()
        ready()  # the socket listens already: earlier requests wait in its backlog
        await server.serve([listening])
    finally:
        if pool is not None:
            pool.stop(_POOL_GRACE_SECONDS)


_Admin = Annotated[Caller, Depends(needs(ADMIN))]
_Reader = Annotated[Caller, Depends(needs(READER))]


class NewToken(BaseModel):
    """The body of a request for a new token."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=40)
    role: str = Field(max_length=10)
    spaces: list[str] = Field(default=[], max_length=100)


def link_to(access: Admission, code: str) -> str:
    """The address at which a browser begins a session with a one-time code."""
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
        # Not `secure`, since the loopback interface has no TLS. `strict` hides the session from requests of other sites.
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
        # In a thread, since it waits for a lock and writes to the disk.
        text = await run_in_threadpool(tokens.create, Caller(new.name, new.role, tuple(new.spaces)), system_clock())
        return answer({"name": new.name, "role": new.role, "spaces": new.spaces, "token": text}, 201)

    @router.delete("/api/tokens/{name}", summary="Revoke a token", responses=problems(200), tags=["tokens"])
    async def revoke(name: Annotated[str, Path(max_length=40)], caller: _Admin) -> Response:
        _check_unbound(caller)
        await run_in_threadpool(tokens.revoke, name)
        return answer({"success": True})


def _check_unbound(caller: Caller) -> None:
    """Raises RefusedError for a token that is bound to spaces: tokens of other spaces are not for its owner."""
    if caller.spaces:
        raise RefusedError("this token is for some spaces only", "use one for all spaces")


def make_app(
    backend: Backend,
    access: Admission,
    log: Callable[[str], None] = lambda _: None,
    *,
    logs_all: bool = False,
) -> Gate:
    """The application that serves a store, behind its gate; see `Gate` for `log` and `logs_all`."""
    # Without the pages that FastAPI has for the description of the API: they load scripts from elsewhere.
    app = FastAPI(title="memcli", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    router = APIRouter(default_response_class=Response)
    _add_logins(router, access)
    _add_tokens(router, access)
    app.include_router(router)
    app.include_router(memory_router(backend))
    add_operations(app.router, backend)
    app.include_router(inspector.make_router(backend), include_in_schema=False)

    async def on_error(request: Request, error: Exception) -> Response:
        # Whatever a verb reports without the folder of the store, the missing folder is its cause.
        found = problem_of(error) if access.has_store() else STORE_IS_GONE
        if wants_page(request.url.path, request.headers):
            return inspector.pages.failure(found.status, found.title, found.hint)
        return found.response()

    for kind in (MemcliError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, on_error)
    return Gate(app, access, log, logs_all=logs_all, has_pages=True)


def serve_guarded(
    root: str,
    port: int,
    make_app: Callable[[], ASGIApp],
    note: Callable[[str], None],
    ready: Callable[[str, str], None],
) -> None:
    """Serves an application on the loopback interface until SIGINT or SIGTERM, to clients with a token of the store at `root`.

    The first use creates a token that allows everything. `make_app` is called once the port is open; 0 picks a free one.
    `ready` receives the address and the path of the file with that token. Raises UsageError, StoreError.
    """
    tokens = Tokens(Layout(root))
    tokens.make_first()
    listening = listen(port)
    access = Admission(root=root, port=listening.getsockname()[1], tokens=tokens, logins=Logins())
    app = Gate(make_app(), access, note)
    asyncio.run(serve(listening, None, app, lambda: ready(f"http://{HOST}:{access.port}", tokens.first_file)))
