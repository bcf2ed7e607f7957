"""The server of one client whose messages are lines. Requests that need the memory are answered one at a time."""

from __future__ import annotations

from collections import deque
from queue import Empty, SimpleQueue
from threading import Condition, Thread
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from memcli.mcp.messages import (
    INTERNAL_ERROR,
    PARSE_ERROR,
    Id,
    Incoming,
    RequestError,
    encode_message,
    parse_message,
)
from memcli.mcp.methods import Methods, Requested
from memcli.mcp.results import Results
from memcli.mcp.tools import Offer

MOST_BYTES = 1 << 24
"""The most that a line has."""
_ANSWER_SECONDS = 60.0
"""So long what was asked is still answered after the end of the input."""
_WRITE_SECONDS = 5.0
_ROOTS_SECONDS = 2.0
_ROOTS_ID = "memcli-roots"


class LineServer:
    """Reads requests and writes answers.

    The caller's thread reads, and answers what takes no time. A second one does the rest in order, so that a request can be
    cancelled and a list asked for meanwhile. A third one writes: a client that does not read stops no one from reading.
    """

    def __init__(self, offer: Offer, source: BinaryIO, target: BinaryIO) -> None:
        self._offer = offer
        self._source, self._target = source, target
        self._methods = Methods(Results(offer), offer.instructions)
        self._changed = Condition()
        self._waiting: deque[tuple[Id, Requested]] = deque()
        self._current: tuple[Id, Requested] | None = None
        self._is_at_work = False
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._replies: SimpleQueue[Any] = SimpleQueue()
        self._has_roots = False
        self._has_project = False

    def run(self) -> None:
        """Serves until the input ends and what came by it is answered."""
        writer = Thread(target=self._write, daemon=True, name="answers")
        writer.start()
        while line := self._source.readline(MOST_BYTES + 1):
            if len(line) > MOST_BYTES:
                self._skip(line)
                error = RequestError(PARSE_ERROR, f"parse error: a line of more than {MOST_BYTES:,} bytes")
                self._send(error.answer(None))
            elif not line.isspace():
                self._take(line)
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and self._current is None, _ANSWER_SECONDS)
        self._lines.put(None)
        writer.join(_WRITE_SECONDS)

    def _skip(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._source.readline(MOST_BYTES)

    def _take(self, line: bytes) -> None:
        request_id: Id | None = None
        try:
            message = parse_message(line)
            request_id = message.id
            if not message.method:
                if request_id == _ROOTS_ID:
                    self._replies.put(message.result)
            elif request_id is None:
                self._notice(message)
            else:
                self._ask(request_id, message)
        except RequestError as error:
            self._send(error.answer(error.request_id if request_id is None else request_id))

    def _notice(self, message: Incoming) -> None:
        """Handles a notification; those that nobody knows are ignored."""
        if message.method == "notifications/cancelled":
            self._cancel(message.params.get("requestId"))
        elif message.method == "notifications/roots/list_changed":
            self._has_project = False

    def _ask(self, request_id: Id, message: Incoming) -> None:
        """Answers a request, or puts it behind the others. Raises RequestError."""
        asked = self._methods.find(message)
        if not asked.is_long:
            self._send({"jsonrpc": "2.0", "id": request_id, "result": asked.run()})
            if message.method == "initialize":
                self._has_roots = message.params["capabilities"].get("roots") is not None
            return
        with self._changed:
            self._waiting.append((request_id, asked))
            self._changed.notify_all()
            self._go_on()

    def _cancel(self, request_id: Any) -> None:
        """Cancels a request, which is then never answered. Left to itself, it keeps no other waiting."""
        with self._changed:
            self._waiting = deque(one for one in self._waiting if one[0] != request_id)
            if self._current is not None and self._current[0] == request_id:
                self._offer.abandon()
                self._current = None
                self._is_at_work = False
                self._go_on()

    def _go_on(self) -> None:
        """Starts a thread for what waits, if none is at work."""
        if self._waiting and not self._is_at_work:
            self._is_at_work = True
            Thread(target=self._work, daemon=True, name="requests").start()

    def _work(self) -> None:
        """Answers what waits, until nothing does or the current request is cancelled: then another thread goes on."""
        while True:
            with self._changed:
                if not self._waiting:
                    self._is_at_work = False
                    return
                one = self._current = self._waiting.popleft()
            answer = self._answer(one)
            with self._changed:
                if self._current is not one:
                    return
                self._send(answer)
                self._current = None
                self._changed.notify_all()

    def _answer(self, one: tuple[Id, Requested]) -> dict[str, Any]:
        request_id, asked = one
        try:
            self._find_project(one)
            return {"jsonrpc": "2.0", "id": request_id, "result": asked.run()}
        except RequestError as error:
            return error.answer(request_id)
        except BaseException as error:  # noqa: BLE001 - every request is answered
            return RequestError(INTERNAL_ERROR, f"internal error: {type(error).__name__}").answer(request_id)

    def _find_project(self, one: tuple[Id, Requested]) -> None:
        """Asks the client for its roots, before the first work of a session and when they have changed."""
        if self._offer.find_project is None or self._has_project:
            return
        self._has_project = True
        roots = self._roots() if self._has_roots and one[1].has_handshake else None
        if self._current is one:
            self._offer.find_project(roots)
        else:  # cancelled: the next request asks again
            self._has_project = False

    def _roots(self) -> list[str] | None:
        """The folders that the client works in, by its word; None if it does not say."""
        self._send({"jsonrpc": "2.0", "id": _ROOTS_ID, "method": "roots/list"})
        try:
            found = self._replies.get(timeout=_ROOTS_SECONDS)
            uris = [str(one["uri"]) for one in found["roots"]]
        except (Empty, KeyError, TypeError):
            return None
        return [unquote(urlsplit(uri).path) for uri in uris if uri.startswith("file:")]

    def _send(self, message: dict[str, Any]) -> None:
        self._lines.put(encode_message(message))

    def _write(self) -> None:
        """Writes lines. Once the first answer is written, what later ones need is loaded."""
        is_first = True
        while (line := self._lines.get()) is not None:
            try:
                self._target.write(line)
                self._target.flush()
            except (OSError, ValueError):  # nobody reads any more
                return
            if is_first:
                self._offer.prepare()
                is_first = False
