"""A server in this process, or as a process, and a client of the SDK that talks to it."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from memcli import Memory
from memcli.cli.calls import Calls
from memcli.extras.mcp.offer import Offer, enter_project, make_offer
from memcli.extras.mcp.server import LineServer, sdk_server

Connect = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without a store, which is the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True)
    monkeypatch.chdir(folder)
    return folder


@asynccontextmanager
async def in_process(
    mode: str = "auto", tools: str = "default", lock_wait: str | None = None, by_sdk: bool = False, **options: Any
) -> AsyncIterator[Client]:
    """A client of a server in this process, whose writers wait so many seconds for a lock. The server is the one on the SDK,
    or the one of lines."""
    calls = Calls({"lock_wait": lock_wait}, lambda _: None)
    offer = make_offer(calls, tools, None if by_sdk else partial(enter_project, environ=os.environ))
    try:
        async with Client(sdk_server(offer) if by_sdk else over_lines(offer), mode=mode, **options) as client:
            yield client
    finally:
        calls.close()


@asynccontextmanager
async def over_lines(offer: Offer) -> AsyncIterator[Any]:
    """The transport of the SDK's client to a server of lines in this process."""
    requests, answers = os.pipe(), os.pipe()
    source, target = os.fdopen(requests[0], "rb"), os.fdopen(answers[1], "wb")
    to_server, from_server = os.fdopen(requests[1], "wb", 0), os.fdopen(answers[0], "rb")
    thread = threading.Thread(target=LineServer(offer, source, target).run)
    thread.start()
    receive, received = anyio.create_memory_object_stream[Any](100)
    sent, sending = anyio.create_memory_object_stream[Any](100)

    async def read() -> None:
        with suppress(anyio.BrokenResourceError):
            while line := await anyio.to_thread.run_sync(from_server.readline):
                await receive.send(SessionMessage(jsonrpc_message_adapter.validate_json(line)))

    async def write() -> None:
        async for item in sending:
            message = item.message.model_dump(by_alias=True, exclude_unset=True)
            to_server.write(json.dumps(message).encode() + b"\n")

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        try:
            yield received, sent
        finally:
            with anyio.CancelScope(shield=True):
                to_server.close()
                await anyio.to_thread.run_sync(thread.join)
                target.close()
            group.cancel_scope.cancel()
    for stream in (source, from_server, receive, received, sent, sending):
        stream.close()


@asynccontextmanager
async def as_process(folder: Path, *arguments: str, mode: str = "auto", **environ: str) -> AsyncIterator[Client]:
    """A client of `memcli mcp` in `folder`."""
    async with Client(stdio_client(parameters(folder, *arguments, **environ)), mode=mode) as client:
        yield client
    del client
    # On a busy machine the SDK kills the server without waiting for its end, and whichever test runs when the process is
    # collected would fail for it.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def parameters(folder: Path, *arguments: str, **environ: str) -> StdioServerParameters:
    """How to start `memcli mcp` in `folder`."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    return StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "memcli", "mcp", *arguments], cwd=folder, env=env
    )


def text(result: Any) -> str:
    """The text of the result of a tool."""
    return "\n".join(part.text for part in result.content)


async def answered(name: str, arguments: dict[str, Any], *options: Any, **named: Any) -> str:
    """What one call of a tool answers, in a session of its own."""
    async with in_process(*options, **named) as client:
        return text(await client.call_tool(name, arguments))


@pytest.fixture
def memory(project: Path) -> Memory:
    """The memory of the project, with a store."""
    made = Memory(project)
    made.init()
    return made


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
