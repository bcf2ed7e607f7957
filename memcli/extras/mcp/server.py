"""The transports of the MCP server: HTTP with the official SDK, and standard input and output for one client."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from queue import Empty, SimpleQueue
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import unquote, urlsplit

from memcli import __version__
from memcli.extras.mcp.methods import (
    INTERNAL_ERROR,
    PARSE_ERROR,
    Id,
    Requested,
    RequestError,
    Result,
    Results,
    encode_message,
    find_request,
    parse_message,
)
from memcli.extras.mcp.offer import INSTRUCTIONS, Offer

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server import Server


_R = TypeVar("_R", bound="types.Result")


def sdk_server(offer: Offer, admit: Callable[[Any, bool], None] = lambda _request, _writes: None) -> Server[Any]:
    """A server of the official SDK, which runs one call at a time.

    `admit` is called before each call, with its HTTP request and whether it may write. It raises MemcliError for a call that
    its caller may not make.
    """
    # Imported here: on standard input, the import of the SDK would take most of the time until the first answer.
    import anyio
    import anyio.to_thread
    import mcp_types as types
    from mcp.server import Server
    from mcp.shared.exceptions import MCPError

    results = Results(offer)
    lock = anyio.Lock()  # calls share the environment of the process, and what they keep open of the store

    def lists(kind: type[_R], make: Callable[[], Result]) -> Callable[[Any, Any], Awaitable[_R]]:
        async def answer(_: Any, _params: Any) -> _R:
            return kind.model_validate(make())

        return answer

    def answers(
        kind: type[_R], work: Callable[..., Result], values: Callable[[Any], tuple[Any, ...]]
    ) -> Callable[[Any, Any], Awaitable[_R]]:
        """A handler of requests, which runs `work` in a thread with the `values` of their parameters."""

        async def answer(context: Any, params: Any) -> _R:
            async with lock:
                admitted = partial(work, *values(params), partial(admit, context.request))
                try:
                    made = await anyio.to_thread.run_sync(admitted, abandon_on_cancel=True)
                except anyio.get_cancelled_exc_class():
                    offer.calls.abandon()  # a thread cannot be ended: it stops before its next write, and holds nobody up
                    raise
                except RequestError as error:
                    raise MCPError(code=error.code, message=error.message) from None
            return kind.model_validate(made)

        return answer

    def named(params: Any) -> tuple[Any, ...]:
        return params.name, params.arguments or {}

    return Server(
        "memcli", version=__version__, instructions=INSTRUCTIONS,
        on_list_tools=lists(types.ListToolsResult, results.tools),
        on_list_resources=lists(types.ListResourcesResult, results.resources),
        on_list_resource_templates=lists(types.ListResourceTemplatesResult, partial(results.resources, templates=True)),
        on_list_prompts=lists(types.ListPromptsResult, results.prompts),
        on_call_tool=answers(types.CallToolResult, results.call_tool, named),
        on_read_resource=answers(types.ReadResourceResult, results.read_resource, lambda params: (str(params.uri),)),
        on_get_prompt=answers(types.GetPromptResult, results.get_prompt, named),
    )  # fmt: skip


MOST_BYTES = 1 << 24
"""The most bytes in a line."""
# A client may close standard input behind its last request and wait for the answer; the SDK would cancel the call.
_ANSWER_SECONDS = 60.0
"""How long requests are still answered after the end of the input."""
_WRITE_SECONDS = 5.0
_ROOTS_SECONDS = 2.0
_ROOTS_ID = "memcli-roots"


class LineServer:
    """Serves one client, whose messages are lines.

    The thread of the caller reads, and answers requests that take no time. A second thread runs the others in order, so that
    they can be cancelled, and lists requested meanwhile. A third thread writes: a client that reads no responses cannot stop
    the server from reading requests.
    """

    def __init__(
        self, offer: Offer, source: BinaryIO, target: BinaryIO, ready: Callable[[], object] = lambda: None
    ) -> None:
        """`ready` is called once, after the first answer is written."""
        self._offer, self._ready = offer, ready
        self._source, self._target = source, target
        self._results = Results(offer)
        self._changed = Condition()
        self._waiting: deque[tuple[Id, Requested]] = deque()
        self._current: tuple[Id, Requested] | None = None
        self._is_at_work = False
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._replies: SimpleQueue[Any] = SimpleQueue()
        self._has_roots = False
        self._has_project = False

    def run(self) -> None:
        """Serves until the input ends and its requests are answered."""
        writer = Thread(target=self._write, daemon=True, name="answers")
        writer.start()
        # A line is read in pieces of bounded size, since a client may never send its end.
        while line := self._source.readline(MOST_BYTES + 1):
            if len(line) > MOST_BYTES:
                while line and not line.endswith(b"\n"):
                    line = self._source.readline(MOST_BYTES)
                error = RequestError(PARSE_ERROR, f"parse error: a line of more than {MOST_BYTES:,} bytes")
                self._send(error.answer(None))
            elif not line.isspace():
                self._take(line)
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and self._current is None, _ANSWER_SECONDS)
        self._lines.put(None)
        writer.join(_WRITE_SECONDS)

    def _take(self, line: bytes) -> None:
        """Handles a message: answers a request that takes no time, and queues any other."""
        request_id: Id | None = None
        try:
            message = parse_message(line)
            request_id = message.id
            if not message.method:
                if request_id == _ROOTS_ID:  # the server sends no other request
                    self._replies.put(message.result)
                return
            if request_id is None:
                if message.method == "notifications/cancelled":
                    self._cancel(message.params.get("requestId"))
                elif message.method == "notifications/roots/list_changed":
                    self._has_project = False
                return
            request = find_request(self._results, message)
            if not request.is_long:
                self._send({"jsonrpc": "2.0", "id": request_id, "result": request.run()})
                if message.method == "initialize":
                    self._has_roots = message.params["capabilities"].get("roots") is not None
                return
            with self._changed:
                self._waiting.append((request_id, request))
                self._changed.notify_all()
                self._start_work()
        except RequestError as error:
            self._send(error.answer(error.request_id if request_id is None else request_id))

    def _cancel(self, request_id: Any) -> None:
        """Cancels a request, which is then never answered. If it runs, its thread is abandoned, and others need not wait for it."""
        with self._changed:
            self._waiting = deque(one for one in self._waiting if one[0] != request_id)
            if self._current is not None and self._current[0] == request_id:
                self._offer.calls.abandon()
                self._current = None
                self._is_at_work = False
                self._start_work()

    def _start_work(self) -> None:
        """Starts a thread for the queue, unless one runs. The caller holds the lock."""
        if self._waiting and not self._is_at_work:
            self._is_at_work = True
            Thread(target=self._work, daemon=True, name="requests").start()

    def _work(self) -> None:
        """Answers the queue until it is empty, or until the current request is cancelled: then another thread continues."""
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
                # Sent while the lock is held: a request that `_cancel` has ended must have no answer.
                self._send(answer)
                self._current = None
                self._changed.notify_all()

    def _answer(self, one: tuple[Id, Requested]) -> dict[str, Any]:
        request_id, request = one
        try:
            # The client's roots are requested before the first call of a session, and again when they have changed.
            if not (self._offer.find_project is None or self._has_project):
                self._has_project = True
                roots = self._roots() if self._has_roots and request.has_handshake else None
                if self._current is one:
                    self._offer.find_project(roots)
                else:  # the request was cancelled meanwhile: the next one requests them again
                    self._has_project = False
            return {"jsonrpc": "2.0", "id": request_id, "result": request.run()}
        except RequestError as error:
            return error.answer(request_id)
        except BaseException as error:  # noqa: BLE001 - every request is answered
            return RequestError(INTERNAL_ERROR, f"internal error: {type(error).__name__}").answer(request_id)

    def _roots(self) -> list[str] | None:
        """The folders that the client works in; None if it does not answer in time or as the protocol wants."""
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
        """Writes lines. After the first one, which the client waits for, it loads what later requests need."""
        is_first = True
        while (line := self._lines.get()) is not None:
            try:
                self._target.write(line)
                self._target.flush()
            except (OSError, ValueError):  # the client has closed the pipe
                return
            if is_first:
                # Not before the first answer: clients wait only so long for that to `initialize`, Cline for three
                # seconds.
                self._offer.calls.load()
                self._ready()
                is_first = False


_LOOK_SECONDS = 1.0


def serve_stdio(offer: Offer, ready: Callable[[], object]) -> None:
    """Serves one client, until standard input ends and its requests are answered, or the parent process has ended. `ready` is
    called once, after the first answer."""
    # Without its parent this process ends even while a tool runs: writes are all or nothing.
    # Agents are known to leave behind the servers that they have started, so that the end of the parent is looked for,
    # too.
    parent = os.getppid()

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(0)

    threading.Thread(target=look, daemon=True, name="parent").start()
    # A handler of Python would run only after the next line of input. The system ends the process at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    source, target = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    # Libraries and child processes that read standard input or print must not touch the messages.
    os.dup2(nothing, sys.stdin.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    os.close(nothing)
    LineServer(offer, os.fdopen(source, "rb"), os.fdopen(target, "wb"), ready).run()


async def check_bodies(app: Any, scope: Any, receive: Any, send: Any) -> None:
    """An ASGI application, once `app` is bound: it refuses a body that is not a message, and passes others on to `app`."""
    if scope["type"] != "http" or scope["method"] != "POST":
        await app(scope, receive, send)
        return
    body, is_whole = b"", False
    while not is_whole:
        event = await receive()
        if event["type"] != "http.request":
            return  # the client has gone
        body += event.get("body", b"")
        is_whole = not event.get("more_body", False)
    # Checked before the SDK reads it, whose errors quote what it could not read.
    try:
        parse_message(body)
    except RequestError as error:
        line = encode_message(error.answer(error.request_id))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(line)).encode())]
        await send({"type": "http.response.start", "status": 400, "headers": headers})
        await send({"type": "http.response.body", "body": line})
        return
    events = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return events.pop() if events else await receive()

    await app(scope, replay, send)
