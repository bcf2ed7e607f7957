"""The server: a socket on the loopback, the application on it, and how both stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator

import uvicorn

from memcli.errors import StoreError, UsageError
from memcli.serve.gate import Gate
from memcli.serve.headers import MAX_HEAD
from memcli.serve.pool import Pool
from memcli.serve.protocol import LimitedProtocol

HOST = "127.0.0.1"
_BACKLOG = 512
_KEEP_ALIVE_SECONDS = 15
_GRACE_SECONDS = 1
_POOL_GRACE_SECONDS = 0.4


def listen(port: int) -> socket.socket:
    """A socket on the loopback; 0 is any free port. Raises UsageError, StoreError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":
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
    """As uvicorn's, but a signal only ends it, and is not raised again. What waits for the pool is refused at once."""

    def __init__(self, config: uvicorn.Config, pool: Pool | None) -> None:
        super().__init__(config)
        self._pool = pool
        self._refusing: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, self._end)
        yield

    def _end(self) -> None:
        self.should_exit = True
        if self._pool is not None:
            self._refusing = asyncio.create_task(self._pool.refuse())


def serve(listening: socket.socket, pool: Pool | None, app: Gate, ready: Callable[[], None]) -> None:
    """Serves until SIGINT or SIGTERM. `ready` is called when requests are answered. Raises LostError."""

    logging.getLogger("uvicorn").disabled = True
    logging.getLogger("uvicorn.error").disabled = True

    async def run() -> None:
        config = uvicorn.Config(
            app, http=LimitedProtocol, ws="none", lifespan="on", log_config=None, access_log=False,
            server_header=False, proxy_headers=False, h11_max_incomplete_event_size=MAX_HEAD, backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=_GRACE_SECONDS,
        )  # fmt: skip
        server = _Server(config, pool)
        try:
            if pool is not None:
                await pool.start()
            ready()
            await server.serve([listening])
        finally:
            if pool is not None:
                await pool.stop(_POOL_GRACE_SECONDS)

    asyncio.run(run())
