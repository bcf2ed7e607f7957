"""The pool: verbs run in processes of their own, so that a slow one delays no other.

Threads of one process would not do: beside a verb that computes in Python, a recall waits for the lock of the interpreter after
each of its calls of SQLite (figures in `bench/README.md`), and a verb that takes too long cannot be ended.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import Pipe
from typing import Any

from memcli.errors import StoreError
from memcli.extras.serve.access import Caller
from memcli.extras.serve.problems import LateError
from memcli.record import Record

QUICK = frozenset(("recall", "get", "session context"))
"""Verbs that take milliseconds in spaces of any size. All others together never have all processes."""
_READY_SECONDS = 60.0
_PAUSE_SECONDS = 1.0
_UNKNOWN = "whether it was done is unknown: read before you try again"


class _Process:
    """A process that runs verbs, one at a time."""

    def __init__(self, command: Sequence[str]) -> None:
        """Starts `command` with the number of the descriptor on which it receives requests. Raises OSError."""
        # It frames and pickles, so that an error arrives as the exception that it was.
        self.connection, theirs = Pipe()
        # The session of whoever started the server is not that of its callers.
        environ = {name: value for name, value in os.environ.items() if name != "MEMCLI_SESSION"}
        # A session of its own, so that Ctrl-C at the terminal reaches the server alone, which ends its processes in order.
        with theirs:
            self.popen = subprocess.Popen(
                [*command, str(theirs.fileno())], env=environ, pass_fds=[theirs.fileno()], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=None if os.environ.get("MEMCLI_DEBUG") else subprocess.DEVNULL,  # the server logs
            )  # fmt: skip

    def await_ready(self) -> None:
        """Returns when it accepts requests. Raises EOFError or OSError if it ends before that, TimeoutError."""
        if not self.connection.poll(_READY_SECONDS):
            raise TimeoutError
        self.connection.recv()

    def ask(self, request: tuple[Any, ...]) -> Any:
        """The result of a request. Raises EOFError or OSError when the process ends before it has one."""
        self.connection.send(request)
        return self.connection.recv()

    def kill(self, patience: float = 0.0) -> None:
        """Waits for its end for `patience` seconds, then kills it: a write that is interrupted is whole or did not happen."""
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(patience)
        self.popen.kill()
        self.popen.wait()


class _Request(Record, frozen=False, kw_only=True):
    """A call in the queue. It runs when it has a `process`; `turn` is done then."""

    is_slow: bool
    turn: asyncio.Future[None]
    process: _Process | None = None


class Pool:
    """`size` processes of `command`, each of which runs one verb at a time. A process that dies is replaced.

    Slow verbs have all processes but one, so that a quick one waits behind quick ones only; with a `size` of 1, all wait
    for each other.
    """

    def __init__(
        self, command: Sequence[str], size: int, reads: Callable[[str, Mapping[str, Any]], bool], seconds: float
    ) -> None:
        """`reads` returns whether a call changes nothing, so that it can be repeated; a call may take `seconds`."""
        self._command, self._size, self._reads, self._seconds = list(command), size, reads, seconds
        self._threads = ThreadPoolExecutor(size, "pool")  # one for each process, to wait for it
        self._processes: set[_Process] = set()
        self._idle: list[_Process] = []
        self._calls: list[_Request] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    async def start(self) -> None:
        """Starts the processes; returns when all are ready. Raises StoreError if one is not."""
        self._idle += await asyncio.gather(*(self._start() for _ in range(self._size)))

    async def call(self, verb: str, options: Mapping[str, Any], caller: Caller) -> Any:
        """As `Backend.call`. Raises also LateError; StoreError when the process dies, or the pool stops."""
        # The user and the reach of the caller are arguments, not variables of the process, which serves all callers.
        request = verb, dict(options), f"serve:{caller.name}", bool(caller.spaces)
        is_read = self._reads(verb, options)
        is_begun = False
        try:
            async with asyncio.timeout(self._seconds):
                # A process that dies may have finished a write, so that only a read is tried again.
                for _ in range(2 if is_read else 1):
                    call = _Request(is_slow=verb not in QUICK, turn=asyncio.get_running_loop().create_future())
                    try:
                        value, error = await self._run(call, request)
                    except (EOFError, OSError):
                        continue
                    finally:
                        is_begun = call.process is not None
                    if error is not None:
                        raise error
                    return value
        except TimeoutError:
            hint = _UNKNOWN if is_begun and not is_read else "try again later"
            raise LateError(f"no answer within {self._seconds:g} s", hint) from None
        raise StoreError("the process at work has ended", "try again" if is_read else _UNKNOWN)

    def refuse(self) -> None:
        """Refuses calls from now on, and those that wait for a process."""
        self._is_stopping = True
        for call in self._calls:
            if not call.turn.done():
                call.turn.set_exception(_stopping_error())

    def stop(self, seconds: float) -> None:
        """Ends the processes. Calls that wait are refused; those that run have `seconds` to end. Blocks meanwhile."""
        self.refuse()
        for task in self._starting:
            task.cancel()
        for process in self._processes:
            with suppress(OSError):
                process.connection.send(None)  # it ends after its current verb
        deadline = time.monotonic() + seconds
        for process in self._processes:
            # All of them share one deadline: a server with many processes must not take longer to stop.
            process.kill(max(0.0, deadline - time.monotonic()))
        self._threads.shutdown()

    async def _run(self, call: _Request, request: tuple[Any, ...]) -> Any:
        """The result of a request, when it is the turn of the call. Raises EOFError or OSError when the process dies,
        StoreError when the pool stops."""
        if self._is_stopping:
            raise _stopping_error()
        self._calls.append(call)
        self._assign()
        is_idle = True
        try:
            await call.turn
            assert call.process is not None
            is_idle = False
            answer = await asyncio.get_running_loop().run_in_executor(self._threads, call.process.ask, request)
            is_idle = True
        finally:
            self._calls.remove(call)
            if call.process is not None and is_idle:
                self._idle.append(call.process)
            elif call.process is not None:
                # It died, or its caller has gone: a verb cannot be cancelled, and would keep the process until it is done.
                self._replace(call.process)
            self._assign()
        return answer

    def _assign(self) -> None:
        """Assigns idle processes to waiting calls, in the order of the queue."""
        # The death of an idle process is noticed here alone: no thread waits for an answer of it.
        for process in [process for process in self._idle if process.popen.poll() is not None]:
            self._idle.remove(process)
            self._replace(process)
        slow = sum(call.is_slow and call.process is not None for call in self._calls)
        for call in self._calls:
            is_next = not call.turn.done() and not (call.is_slow and slow >= max(1, self._size - 1))
            if is_next and self._idle:
                call.process = self._idle.pop()
                call.turn.set_result(None)
                slow += call.is_slow

    def _replace(self, process: _Process) -> None:
        """Kills a process, and starts another in its place."""
        process.kill()
        self._processes.discard(process)
        if not self._is_stopping:
            task = asyncio.create_task(self._start_again())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _start_again(self) -> None:
        """Starts a process; while that fails, tries again each second."""
        while not self._is_stopping:
            try:
                self._idle.append(await self._start())
            except StoreError:
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                self._assign()
                return

    async def _start(self) -> _Process:
        """Starts a process. Returns it when it is ready; one that does not become ready is killed. Raises StoreError."""
        process = None
        try:
            process = _Process(self._command)
            self._processes.add(process)
            await asyncio.get_running_loop().run_in_executor(self._threads, process.await_ready)
        except (EOFError, OSError) as error:
            # One that is never ready has to go: `_start_again` would start another beside it each second.
            if process is not None:
                process.kill()
                self._processes.discard(process)
            hint = "`memcli doctor` checks the store"
            raise StoreError(f"cannot start a worker process ({type(error).__name__})", hint) from None
        return process


def _stopping_error() -> StoreError:
    return StoreError("the server is stopping", "nothing was done; try again when it runs")
