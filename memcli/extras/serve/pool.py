"""The pool: verbs run in processes of their own, so that a long one keeps nobody from being answered.

The protocol of a connection: uvicorn's, with a share of all connections for each token, a time limit for the head of a
request, and problem details.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import h11
import orjson
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from memcli.codec.canonical import encode_line
from memcli.errors import ChangedError, MemcliError, error_of
from memcli.extras.serve.access import Caller
from memcli.extras.serve.bodies import MAX_HEAD, SECURITY_HEADERS
from memcli.extras.serve.problems import LateError, LostError, problem
from memcli.record import Record

_LENGTH = 4
_MAX_ANSWER = 256 << 20
_READY_SECONDS = 60.0
_PAUSE_SECONDS = 1.0
_UNKNOWN = "whether it was done is unknown: read before you try again"


class Job(Record, frozen=False, kw_only=True):
    """A call that waits for a process, or is with one."""

    frame: bytes
    is_read: bool
    answer: asyncio.Future[Any]
    is_repeated: bool = False
    is_begun: bool = False


class Pool:
    """`size` processes of `command`, each of which runs one verb at a time. A process that dies is replaced.

    A frame is a length of four bytes and that much JSON, in both directions; a process says `{}` when it is ready.
    """

    def __init__(
        self, command: Sequence[str], size: int, reads: Callable[[str, Mapping[str, Any]], bool], seconds: float
    ) -> None:
        """`reads` says whether a call changes nothing, so that it can be made twice; one takes at most `seconds`."""
        self._command = list(command)
        self._size = size
        self._reads = reads
        self._seconds = seconds
        self._waiting: deque[Job] = deque()
        self._arrived = asyncio.Condition()
        self._members: list[asyncio.Task[None]] = []
        self._processes: set[asyncio.subprocess.Process] = set()
        self._is_stopping = False

    async def start(self) -> None:
        """Starts the processes; returns when all are ready. Raises LostError if one is not."""
        first = [await self._spawn() for _ in range(self._size)]
        self._members = [asyncio.create_task(self._serve(process)) for process in first]

    async def call(self, verb: str, options: Mapping[str, Any], caller: Caller) -> Any:
        """As `Backend.call`. Raises also LateError, LostError."""
        request = {
            "verb": verb, "options": dict(options), "user": f"serve:{caller.name}", "is_bound": bool(caller.spaces),
        }  # fmt: skip
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        job = Job(frame=encode_line(request), is_read=self._reads(verb, options), answer=answer)
        async with self._arrived:
            if self._is_stopping:
                raise _stopping()
            self._waiting.append(job)
            self._arrived.notify()
        try:
            async with asyncio.timeout(self._seconds):
                return await answer
        except TimeoutError:
            hint = _UNKNOWN if job.is_begun and not job.is_read else "try again later"
            raise LateError(f"no answer within {self._seconds:g} s", hint) from None

    async def refuse(self) -> None:
        """Takes no more calls, and refuses those that no process has begun."""
        async with self._arrived:
            self._is_stopping = True
            while self._waiting:
                _fail(self._waiting.popleft(), _stopping())

    async def stop(self, seconds: float) -> None:
        """Ends the processes: what waits is refused, what is at work has `seconds` to end."""
        await self.refuse()
        for process in self._processes:
            if process.stdin is not None:
                process.stdin.close()  # it reads the end of its input when it is done with what it does
        ends = [asyncio.create_task(process.wait()) for process in self._processes]
        if ends:
            await asyncio.wait(ends, timeout=seconds)
        for process in self._processes:
            _kill(process)  # a write that is cut off is whole or not there
        for member in self._members:
            member.cancel()
        await asyncio.gather(*self._members, *ends, return_exceptions=True)

    async def _serve(self, process: asyncio.subprocess.Process) -> None:
        """Gives jobs to a process, and to the one after it when it has died."""
        while not self._is_stopping:
            if process.returncode is not None or not await self._serve_one(process):
                self._processes.discard(process)
                found = await self._respawn()
                if found is None:
                    return
                process = found

    async def _serve_one(self, process: asyncio.subprocess.Process) -> bool:
        """Takes the next job to the process; whether that still runs."""
        job = await self._next(process)
        if job is None:
            return False
        job.is_begun = True
        try:
            reply = await self._ask(process, job)
        except (EOFError, OSError, orjson.JSONDecodeError):
            await self._lose(job)
            reply = None
        if reply is None:
            _kill(process)
            await process.wait()
            return False
        if not job.answer.done():
            _settle(job.answer, reply)
        return True

    async def _next(self, process: asyncio.subprocess.Process) -> Job | None:
        """The next job that somebody still waits for; None when the process dies meanwhile, or all stop."""
        dies = asyncio.create_task(process.wait())
        takes = asyncio.create_task(self._take())
        try:
            await asyncio.wait({dies, takes}, return_when=asyncio.FIRST_COMPLETED)
            return takes.result() if takes.done() else None
        finally:
            takes.cancel()
            dies.cancel()

    async def _take(self) -> Job | None:
        async with self._arrived:
            while not self._is_stopping:
                while self._waiting:
                    job = self._waiting.popleft()
                    if not job.answer.done():
                        return job
                await self._arrived.wait()
        return None

    async def _ask(self, process: asyncio.subprocess.Process, job: Job) -> dict[str, Any] | None:
        """What the process says; None when nobody waits for it any more. Raises EOFError, OSError when it dies."""
        _send(process, job.frame)
        reading = asyncio.create_task(_receive(process))
        await asyncio.wait({reading, job.answer}, return_when=asyncio.FIRST_COMPLETED)
        if reading.done():
            return reading.result()
        reading.cancel()
        return None

    async def _lose(self, job: Job) -> None:
        """Has a job whose process died done again, if nothing speaks against that."""
        if job.is_read and not job.is_repeated and not self._is_stopping:
            job.is_repeated = True
            async with self._arrived:
                self._waiting.appendleft(job)
                self._arrived.notify()
            return
        _fail(job, LostError("the process at work has ended", "try again" if job.is_read else _UNKNOWN))

    async def _respawn(self) -> asyncio.subprocess.Process | None:
        while not self._is_stopping:
            with contextlib.suppress(LostError):
                return await self._spawn()
            await asyncio.sleep(_PAUSE_SECONDS)
        return None

    async def _spawn(self) -> asyncio.subprocess.Process:
        """A process that is ready. One that does not get so far is ended. Raises LostError."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, start_new_session=True, limit=1 << 20
            )
        except OSError as error:
            raise _unstartable(error) from None
        self._processes.add(process)
        try:
            async with asyncio.timeout(_READY_SECONDS):
                await _receive(process)
        except (TimeoutError, EOFError, OSError, orjson.JSONDecodeError) as error:
            _kill(process)
            await process.wait()
            self._processes.discard(process)
            raise _unstartable(error) from None
        return process


def _send(process: asyncio.subprocess.Process, frame: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(len(frame).to_bytes(_LENGTH) + frame)


async def _receive(process: asyncio.subprocess.Process) -> dict[str, Any]:
    assert process.stdout is not None
    length = int.from_bytes(await process.stdout.readexactly(_LENGTH))
    if length > _MAX_ANSWER:
        raise EOFError
    found: dict[str, Any] = orjson.loads(await process.stdout.readexactly(length))
    return found


def _settle(answer: asyncio.Future[Any], reply: Mapping[str, Any]) -> None:
    error = reply.get("error")
    if error is None:
        answer.set_result(reply.get("value"))
        return
    if error["is_changed"]:
        answer.set_exception(ChangedError(error["message"], error["hint"]))
    else:
        answer.set_exception(error_of(error["code"], error["message"], error["hint"]))


def _fail(job: Job, error: MemcliError) -> None:
    if not job.answer.done():
        job.answer.set_exception(error)


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        if process.returncode is None:
            process.kill()


def _unstartable(error: Exception) -> LostError:
    return LostError(f"cannot start a worker process ({type(error).__name__})", "`memcli doctor` checks the store")


def _stopping() -> LostError:
    return LostError("the server is stopping", "nothing was done; try again when it runs")


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
