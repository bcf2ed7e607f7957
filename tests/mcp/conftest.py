"""A server in this process, or as a process, and a client of the SDK that talks to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memcli.cli.calls import Calls
from memcli.cli.offer import enter_project, make_offer
from memcli.mcp.server import Agents

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
    mode: str = "auto", tools: str = "default", lock_wait: str | None = None, **options: Any
) -> AsyncIterator[Client]:
    """A client of a server in this process, whose writers wait so many seconds for a lock."""
    calls = Calls({"lock_wait": lock_wait}, lambda _: None)
    agents = Agents(make_offer(calls, tools, partial(enter_project, environ=os.environ)))
    try:
        async with Client(agents.server(), mode=mode, **options) as client:
            yield client
    finally:
        calls.close()


@asynccontextmanager
async def as_process(folder: Path, *arguments: str, mode: str = "auto", **environ: str) -> AsyncIterator[Client]:
    """A client of `memcli mcp` in `folder`."""
    async with Client(stdio_client(parameters(folder, *arguments, **environ)), mode=mode) as client:
        yield client


def parameters(folder: Path, *arguments: str, **environ: str) -> StdioServerParameters:
    """How to start `memcli mcp` in `folder`."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    return StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "memcli", "mcp", *arguments], cwd=folder, env=env
    )


def text(result: Any) -> str:
    """The text of the result of a tool."""
    return "\n".join(part.text for part in result.content)
