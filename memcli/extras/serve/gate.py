"""The gate: the checks of every request before it reaches a route, and the headers of every response.

The protocol of a connection is that of uvicorn, with a limit on the connections of each token, a time limit for the head of a
request, and errors as problem details.
"""

from __future__ import annotations

import asyncio
import hmac
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

import h11
from starlette.responses import Response
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from memcli.errors import MemcliError
from memcli.extras.serve.bodies import (
    HOSTS,
    MAX_HEAD,
    SECURITY_HEADERS,
    Receive,
    check_body,
    head,
    is_from_elsewhere,
    read_body,
)
from memcli.extras.serve.inspector import pages
from memcli.extras.serve.problems import CLOSING, STORE_IS_GONE, Problem, problem_of, status_of
from memcli.extras.serve.tokens import Logins, Token, Tokens, csrf_of
from memcli.record import Record

# Longer than the pool waits for a verb, whose own error says more of what happened.
TOTAL_SECONDS = 60.0
"""The time limit of a request, from its head to the end of its response."""
_HEALTH = "/health"
_OPEN = (_HEALTH, "/login")
_STATIC = "/static/"
# Paths for programs: there are no forms and no pages, even for a browser.
_API = ("/api/", "/apps", "/mcp", "/metrics", _HEALTH, "/openapi.json")
_SAFE = ("GET", "HEAD", "OPTIONS")
_BEARER = "bearer "
_CACHE = b"private, no-cache"
_EVENTS = b"text/event-stream"
_TOO_MANY = Problem(503, "too many requests at once", "store", "try again", {**CLOSING, "Retry-After": "1"})
_NOT_OF_SESSION = Problem(HTTPStatus.FORBIDDEN, "the form is not of this session", "refused", "reload the page")

Send = Callable[[Any], Any]
App = Callable[[Any, Receive, Send], Any]


class Admission(Record, kw_only=True):
    """What a request is checked against: the tokens and logins of the store at `root`, which is served at `port`."""

    root: str
    port: int
    tokens: Tokens
    logins: Logins

    @property
    def cookie(self) -> str:
        """The name of the session cookie. It has the port, since a browser sends cookies to all ports of a host."""
        return f"memcli_session_{self.port}"

    def has_store(self) -> bool:
        """Whether the folder of the store still exists."""
        return os.path.isdir(self.root)


class Gate:
    """An ASGI application that checks requests and passes them on to `app`.

    `log` receives a line for each request that fails, with `logs_all` for every request. With `has_pages`, browsers receive
    errors as HTML pages instead of problem details.
    """

    def __init__(
        self,
        app: App,
        access: Admission,
        log: Callable[[str], None],
        *,
        logs_all: bool = False,
        has_pages: bool = False,
    ) -> None:
        self._app = app
        self._access = access
        self._hosts = frozenset(f"{host}:{access.port}" for host in HOSTS)
        self._log = log
        self._logs_all = logs_all
        self._has_pages = has_pages

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # `lifespan`: the start and the end of the server
            await self._app(scope, receive, send)
            return
        deadline = asyncio.timeout(TOTAL_SECONDS)
        is_page_wanted = self._has_pages and wants_page(scope["path"], head(scope["headers"]))
        answer = _HeaderSender(send, deadline, is_page_wanted)
        try:
            async with deadline:
                await self._pass(scope, receive, answer)
        except TimeoutError:
            late = Problem(504, f"not done within {TOTAL_SECONDS:g} s", "store", "try again later")
            await answer.end(late.response())
        except asyncio.CancelledError:  # only the server cancels this task, when it stops
            stopping = Problem(503, "the server is stopping", "store", "try again when it runs")
            await answer.end(stopping.response())
        except Exception as error:  # noqa: BLE001 - the log gets the type of an unexpected error, the client no detail
            # Its message may quote a memory.
            answer.note = type(error).__name__
            await answer.end(problem_of(error).response())
        finally:
            if answer.status >= 400 or self._logs_all:
                route = getattr(scope.get("route"), "path", "") or "-"  # not the path: it may quote a memory
                note = f" {answer.note}" if answer.note else ""
                self._log(f"{scope['method'][:16]} {route} {answer.status}{note}")

    async def _pass(self, scope: Any, receive: Receive, answer: _HeaderSender) -> None:
        headers = head(scope["headers"])
        refused = self._refusal(scope, headers)
        if refused is not None:
            await answer.refuse(refused)
            return
        path, method = scope["path"], scope["method"]
        # No token is needed for health, for a one-time link, and for the files of the page that explains how to get a link.
        is_open = path in _OPEN or path.startswith(_STATIC)
        token, session, error = None, "", None
        try:
            token, session = (None, "") if is_open else self._authenticated(headers)
        except MemcliError as unread:
            error = unread
        # Connections are counted by token, so that one client cannot take those of all others. Health has a few of its own:
        # it answers even where clients without a token have taken all of theirs. It is done before the body is read, since a
        # client may send that slowly.
        claim: Callable[[str], bool] = scope["state"]["connection"].claim
        if not ((path == _HEALTH and claim(HEALTH)) or claim(STRANGER if token is None else token.digest)):
            await answer.refuse(_TOO_MANY)
            return
        if not is_open and token is None:
            answer.note = error.message if error is not None else ""
            await answer.end(self._unauthorized(answer.is_page_wanted, headers, error))
            return
        body = await read_body(headers, receive)
        if isinstance(body, Problem):
            await answer.refuse(body)
            return
        wrong = check_body(body, headers.get("content-type", ""), takes_form=not path.startswith(_API))
        if wrong is not None:
            await answer.refuse(wrong)
            return
        if token is not None:
            if method not in _SAFE and session and not _has_csrf(session, headers, body):
                await answer.refuse(_NOT_OF_SESSION)
                return
            # Routes read the caller from the state of the request.
            state = {"caller": token.caller, "token": token, "session": session}
            scope["state"] = {**scope.get("state", {}), **state, "csrf": csrf_of(session) if session else ""}
        events = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Any:  # the body that was read, and then further events of the connection
            return events.pop() if events else await receive()

        await self._app(scope, replay, answer)

    def _refusal(self, scope: Any, headers: Mapping[str, str]) -> Problem | None:
        """Why a request is refused before its body is read."""
        fields = sum(len(name) + len(value) for name, value in scope["headers"])
        if fields + len(scope["raw_path"]) + len(scope["query_string"]) > MAX_HEAD:
            title = f"the headers are longer than {MAX_HEAD} bytes"
            return Problem(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, title, "usage", headers=CLOSING)
        # A page of another site can make a browser send requests here under a name of its own (DNS rebinding).
        host = headers.get("host", "")
        if host not in self._hosts or sum(name == b"host" for name, _ in scope["headers"]) != 1:
            title = "the header Host names another server"
            return Problem(HTTPStatus.MISDIRECTED_REQUEST, title, "usage", headers=CLOSING)
        if is_from_elsewhere(headers, host, scope["method"]):
            return Problem(HTTPStatus.FORBIDDEN, "a page of another origin sent this", "refused", headers=CLOSING)
        return None

    def _authenticated(self, headers: Mapping[str, str]) -> tuple[Token | None, str]:
        """The token that authenticates a request, None if there is none, and the session of a browser, empty for other
        clients. Raises StoreError, CorruptError."""
        if given := headers.get("authorization", ""):
            is_bearer = given.lower().startswith(_BEARER)
            return self._access.tokens.find(given[len(_BEARER) :].strip()) if is_bearer else None, ""
        cookies = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        session = next((value for name, _, value in cookies if name == self._access.cookie), "")
        digest = self._access.logins.token_of(session) if session else None
        known = (token for token in self._access.tokens.all() if token.digest == digest)
        token = next(known, None) if digest else None
        return token, session if token is not None else ""

    def _unauthorized(self, is_page_wanted: bool, headers: Mapping[str, str], error: MemcliError | None) -> Response:
        """The response to a request without a valid token. It closes the connection if a body follows, which is not read."""
        wrong = None
        # The message of the error names the file of the tokens, which strangers need not know: only the log has it.
        if error is not None:
            wrong_hint = "the log of the server says why, and `memcli serve token list` too"
            wrong = Problem(status_of(error), "the tokens cannot be read", error.code, wrong_hint)
        if not self._access.has_store():
            wrong = STORE_IS_GONE
        if wrong is None and is_page_wanted:
            return pages.signed_out()
        if wrong is None:
            hint = "send `Authorization: Bearer TOKEN`; `serve-token` in the private state holds one (`memcli doctor` says where)"
            wrong = Problem(401, "no token, or none that is known", "refused", hint, {"WWW-Authenticate": "Bearer"})
        found = pages.failure(wrong.status, wrong.title, wrong.hint) if is_page_wanted else wrong.response()
        if {"content-length", "transfer-encoding"} & headers.keys():
            found.headers["Connection"] = "close"
        return found


class _HeaderSender:
    """Sends a response with the headers that all responses have, and records its status."""

    def __init__(self, send: Send, deadline: asyncio.Timeout, is_page_wanted: bool) -> None:
        self._send = send
        self._deadline = deadline
        self.is_page_wanted = is_page_wanted
        self.status = 0
        self.note = ""

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = {name.lower(): value for name, value in message["headers"]}
            if own.get(b"content-type", b"").startswith(_EVENTS):  # a stream lasts as long as its client wants
                self._deadline.reschedule(None)
            more = [pair for pair in [*SECURITY_HEADERS, (b"cache-control", _CACHE)] if pair[0] not in own]
            message = {**message, "headers": [*message["headers"], *more]}
        await self._send(message)

    async def refuse(self, refusal: Problem) -> None:
        """Sends the reason of a refusal, as a page to a browser that expects one."""
        if not self.is_page_wanted:
            await self.end(refusal.response())
            return
        page = pages.failure(refusal.status, refusal.title, refusal.hint)
        page.headers.update(refusal.headers)
        await self.end(page)

    async def end(self, response: Response) -> None:
        """Sends a whole response, unless another one has begun."""

        async def receive() -> Any:
            return {"type": "http.disconnect"}

        if not self.status:
            await response({"type": "http"}, receive, self)


def wants_page(path: str, headers: Mapping[str, str]) -> bool:
    """Whether the client is a browser that expects a page."""
    return not path.startswith(_API) and "text/html" in headers.get("accept", "")


def _has_csrf(session: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether a request has the token against forgery of its session, in a header or in a form."""
    given = headers.get("x-memcli-csrf")
    if given is None and headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        with suppress(ValueError):  # raised for too many fields
            given = parse_qs(body.decode("utf-8", "replace"), max_num_fields=1000).get("csrf", [""])[-1]
    return hmac.compare_digest((given or "").encode(), csrf_of(session).encode())


HEAD_SECONDS = 10.0
# Each owner has a share: without shares, heads that were never completed filled all connections, and slow bodies of one
# token had the requests of all others refused, `/health` included.
MAX_CONNECTIONS = 512
# The most connections with a token: the others are for clients that have not sent one yet.
MAX_KNOWN = 448
MAX_OF_TOKEN = 64
STRANGER, HEALTH = "", "health"
SHARES = {STRANGER: 32, HEALTH: 4}
"""The most connections without a token, and the most on which `/health` alone was requested."""
# A connection counts as idle after so many seconds without a request: one may be on its way.
PATIENCE = 1.0
_WAITING = (h11.IDLE, h11.ERROR)


class LimitedProtocol(H11Protocol):
    """Closes a connection whose request does not arrive in time, and the one that is idle for longest where there are too many."""

    _deadline: asyncio.TimerHandle | None = None

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "connection": self}, _loop)
        self._owner = STRANGER
        self._since = self.loop.time()

    @property
    def idle_seconds(self) -> float:
        """For how long it has waited for a request; without a token its age, whatever it does."""
        is_idle = self._owner in SHARES or self.conn.their_state in _WAITING
        return self.loop.time() - self._since if is_idle else 0.0

    def claim(self, owner: str) -> bool:
        """Counts the connection among those of `owner`, the digest of a token or a key of SHARES. Where the owner has as many
        as it may have, closes the one that has been idle for longest. Returns False if none is idle."""
        if owner == self._owner:
            return True
        # A connection that is kept open may send another token with its next request.
        others = [one for one in self._connections() if one is not self]
        own = [one for one in others if one._owner == owner]
        if len(own) >= SHARES.get(owner, MAX_OF_TOKEN) and not _end_idle(own):
            return False
        known = [one for one in others if one._owner not in SHARES]
        if owner not in SHARES and len(known) >= MAX_KNOWN and not _end_idle(known):
            return False
        self._owner = owner
        return True

    def end(self) -> None:
        """Closes the connection at once, even while it answers."""
        # uvicorn would do so only once the loop reports the loss, and until then the connection would be counted.
        self.connections.discard(self)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)
        if len(self.connections) > MAX_CONNECTIONS:
            max(self._connections(STRANGER), key=lambda one: one.idle_seconds).end()
        self.loop.call_later(2 * PATIENCE, self._end_one_too_many)  # a connection younger than PATIENCE is never closed

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state not in _WAITING:
            self._stop_waiting()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def on_response_complete(self) -> None:
        self._stop_waiting()
        # Without a token the age counts: a connection must not stay open by repeating requests.
        if self._owner not in SHARES:
            self._since = self.loop.time()
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:  # noqa: ARG002
        self._refuse(HTTPStatus.BAD_REQUEST, "this server has no WebSockets")

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - as uvicorn names it
        # h11 reports a head that is too long as it reports any other that it cannot read.
        if self.conn.trailing_data[0][MAX_HEAD:] or len(self.conn.trailing_data[0]) >= MAX_HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"the headers are longer than {MAX_HEAD} bytes")
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, "not a request of HTTP/1.1")

    def _connections(self, owner: str | None = None) -> list[LimitedProtocol]:
        """The open connections of the server, or those of one owner."""
        found = [one for one in self.connections if isinstance(one, LimitedProtocol)]
        return found if owner is None else [one for one in found if one._owner == owner]

    def _end_one_too_many(self) -> None:
        """Closes a connection without a token where there are too many; each connection calls it once."""
        strangers = self._connections(STRANGER)
        if len(strangers) > SHARES[STRANGER]:
            _end_idle(strangers)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.conn.our_state is h11.IDLE:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, f"no request within {HEAD_SECONDS:g} s")
        elif not self.transport.is_closing():
            self.transport.abort()

    def _refuse(self, status: HTTPStatus, title: str) -> None:
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        response = Problem(status, title, "usage").response()
        headers: list[Any] = [*response.raw_headers, *SECURITY_HEADERS, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=status, headers=headers, reason=status.phrase.encode()),
            h11.Data(data=bytes(response.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def _end_idle(crowd: Sequence[LimitedProtocol]) -> bool:
    """Closes the connection that has been idle for longest. Returns False if none has been idle for PATIENCE."""
    found = max(crowd, key=lambda one: one.idle_seconds)
    if found.idle_seconds < PATIENCE:
        return False
    found.end()
    return True
