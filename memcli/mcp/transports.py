"""How the server is reached: standard input and output, or HTTP on the loopback. It ends with its client."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server import Server

HOST = "127.0.0.1"
_LOOK_SECONDS = 1.0


def serve_stdio(make: Callable[[], Server[Any]]) -> None:
    """Serves one client, until standard input ends or the process that started this one is gone."""
    import anyio
    from mcp.server.stdio import stdio_server

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    _end_with(os.getppid())

    async def run() -> None:
        server = make()
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    anyio.run(run)


def serve_http(make: Callable[[], Server[Any]], port: int, told: Callable[[str], None]) -> None:
    """Serves clients on this machine until the process is stopped. `told` is given the address; 0 is any free port."""
    import anyio
    import uvicorn

    async def run() -> None:
        # The SDK checks Host and Origin of a server on the loopback: a web page cannot reach it under another name.
        app = make().streamable_http_app(host=HOST)
        server = uvicorn.Server(uvicorn.Config(app, host=HOST, port=port, log_level="warning"))
        listening = server.config.bind_socket()
        told(f"http://{HOST}:{listening.getsockname()[1]}/mcp")
        await server.serve([listening])

    anyio.run(run)


def _end_with(parent: int) -> None:
    """Ends this process when its parent is gone, even while a tool is at work: writes are all or nothing."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(0)

    threading.Thread(target=look, daemon=True, name="parent").start()
