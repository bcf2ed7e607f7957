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
_ANSWER_SECONDS = 60.0
"""So long what was asked is still answered after the end of the input."""


def serve_stdio(make: Callable[[], Server[Any]]) -> None:
    """Serves one client, until standard input ends and what came by it is answered, or the process that started this one is gone."""
    import anyio
    from mcp.server.stdio import stdio_server

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    _end_with(os.getppid())

    async def run() -> None:
        server = make()
        async with stdio_server() as (client, to_client), anyio.create_task_group() as group:
            unanswered = _Unanswered()
            requests, reader = anyio.create_memory_object_stream[Any]()
            writer, answers = anyio.create_memory_object_stream[Any]()
            group.start_soon(unanswered.pass_requests, client, requests)
            group.start_soon(unanswered.pass_answers, answers, to_client)
            await server.run(reader, writer, server.create_initialization_options())

    anyio.run(run)


class _Unanswered:
    """The requests without an answer. The SDK cancels them where its input ends, so that end waits for their answers."""

    def __init__(self) -> None:
        import anyio

        self._ids: set[int | str] = set()
        self._changed = anyio.Event()

    async def pass_requests(self, client: Any, requests: Any) -> None:
        import anyio

        async with requests:
            async for item in client:
                message: Any = getattr(item, "message", None)  # what cannot be read is an exception
                if getattr(message, "method", "") == "notifications/cancelled":  # and is never answered
                    self._ids.discard((message.params or {}).get("requestId"))
                elif hasattr(message, "method") and hasattr(message, "id"):
                    self._ids.add(message.id)
                await requests.send(item)
            with anyio.move_on_after(_ANSWER_SECONDS):
                while self._ids:
                    self._changed = anyio.Event()
                    await self._changed.wait()

    async def pass_answers(self, answers: Any, client: Any) -> None:
        async with client:
            async for item in answers:
                await client.send(item)
                if not hasattr(item.message, "method"):
                    self._ids.discard(item.message.id)
                    self._changed.set()


def _end_with(parent: int) -> None:
    """Ends this process when its parent is gone, even while a tool is at work: writes are all or nothing."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(0)

    threading.Thread(target=look, daemon=True, name="parent").start()
