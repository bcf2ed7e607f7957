"""The protocol of a connection: uvicorn's, with a share of all connections for each token, a time limit for the head of a
request, and problem details."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from memcli.serve.headers import MAX_HEAD, SECURITY_HEADERS
from memcli.serve.problems import problem

HEAD_SECONDS = 10.0
MAX_CONNECTIONS = 512
MAX_KNOWN = 448
"""The most connections with a token: the others are for who has not shown one yet."""
MAX_OF_TOKEN = 64
STRANGER, HEALTH = "", "health"
SHARES = {STRANGER: 32, HEALTH: 4}
"""The most connections without a token, and the most of them that `/health` has for itself alone."""
PATIENCE = 1.0
"""For so many seconds a connection is not idle: its request may be under way."""
_WAITING = (h11.IDLE, h11.ERROR)


class LimitedProtocol(H11Protocol):
    """Closes a connection whose request does not come, and one too many."""

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
        """How long it has waited for a request; without a token, how long it is there, whatever it is doing."""
        is_idle = self._owner in SHARES or self.conn.their_state in _WAITING
        return self.loop.time() - self._since if is_idle else 0.0

    def claim(self, owner: str) -> bool:
        """Counts the connection among those of `owner`, a digest of a token or a name in SHARES. Where these are as many as
        may be, the one that has been idle for longest ends; False if none is idle."""
        if owner == self._owner:
            return True
        others = [one for one in self._all() if one is not self]
        own = [one for one in others if one._owner == owner]
        if len(own) >= SHARES.get(owner, MAX_OF_TOKEN) and not _end_idle(own):
            return False
        known = [one for one in others if one._owner not in SHARES]
        if owner not in SHARES and len(known) >= MAX_KNOWN and not _end_idle(known):
            return False
        self._owner = owner
        return True

    def end(self) -> None:
        """Closes the connection at once, whatever is under way."""
        self.connections.discard(self)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > MAX_CONNECTIONS:
            max(self._strangers(), key=lambda one: one.idle_seconds).end()
        self.loop.call_later(2 * PATIENCE, self._end_one_too_many)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state not in _WAITING:
            self._stop_waiting()
        elif self._deadline is None and not self.transport.is_closing():
            self._expect_head()

    def on_response_complete(self) -> None:
        self._stop_waiting()
        if self._owner not in SHARES:
            self._since = self.loop.time()
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:  # noqa: ARG002
        self._refuse(HTTPStatus.BAD_REQUEST, "this server has no WebSockets")

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - as uvicorn names it
        if self.conn.trailing_data[0][MAX_HEAD:] or len(self.conn.trailing_data[0]) >= MAX_HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"the headers are longer than {MAX_HEAD} bytes")
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, "not a request of HTTP/1.1")

    def _all(self) -> list[LimitedProtocol]:
        return [one for one in self.connections if isinstance(one, LimitedProtocol)]

    def _strangers(self) -> list[LimitedProtocol]:
        return [one for one in self._all() if one._owner == STRANGER]

    def _end_one_too_many(self) -> None:
        """Ends a connection without a token when there are more than may be; each connection calls it once."""
        strangers = self._strangers()
        if len(strangers) > SHARES[STRANGER]:
            _end_idle(strangers)

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

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
        response = problem(status, title, "usage")
        headers: list[Any] = [*response.raw_headers, *SECURITY_HEADERS, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=status, headers=headers, reason=status.phrase.encode()),
            h11.Data(data=bytes(response.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def _end_idle(crowd: Sequence[LimitedProtocol]) -> bool:
    """Ends the connection that has been idle for longest. False if none has been for PATIENCE."""
    found = max(crowd, key=lambda one: one.idle_seconds)
    if found.idle_seconds < PATIENCE:
        return False
    found.end()
    return True
