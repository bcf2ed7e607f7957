"""The protocol of a connection: uvicorn's, with a time limit for the head of a request, and problem details."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from memcli.serve.headers import MAX_HEAD, SECURITY_HEADERS
from memcli.serve.problems import problem

HEAD_SECONDS = 10.0
MAX_CONNECTIONS = 512
_WAITING = (h11.IDLE, h11.ERROR)


class LimitedProtocol(H11Protocol):
    """Closes a connection whose request does not come, and one too many."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        self._expect_head()

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
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:  # noqa: ARG002
        self._refuse(HTTPStatus.BAD_REQUEST, "this server has no WebSockets")

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - as uvicorn names it
        if self.conn.trailing_data[0][MAX_HEAD:] or len(self.conn.trailing_data[0]) >= MAX_HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"the headers are longer than {MAX_HEAD} bytes")
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, "not a request of HTTP/1.1")

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
