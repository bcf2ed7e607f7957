"""The server on standard input and output. It ends with its client."""

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


def _end_with(parent: int) -> None:
    """Ends this process when its parent is gone, even while a tool is at work: writes are all or nothing."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(0)

    threading.Thread(target=look, daemon=True, name="parent").start()
