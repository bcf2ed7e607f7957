"""A call that its client cancels keeps nobody waiting, is not answered, and leaves nothing half written."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from random import Random  # noqa: TID251 - drawn from a seed
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client

from memcli import Memory
from memcli.store.layout import Layout
from memcli.store.lock import locked
from tests.conftest import slow_but
from tests.extras.mcp.conftest import in_process, parameters, text

SERVERS = [("auto", False), ("legacy", False), ("legacy", True)]
"""The mode of the client, and whether the server is the one on the SDK."""
FAR = 100.0
pytestmark = pytest.mark.anyio


async def cancelled(client: Client, seconds: float, name: str, arguments: dict[str, Any]) -> bool:
    """Calls a tool and cancels the call after so many seconds; whether it was answered before."""
    with anyio.move_on_after(seconds):
        done = await client.call_tool(name, arguments)
        assert not done.is_error, text(done)
        return True
    return False


def wait_for_threads() -> None:
    """Waits until what cancelled calls left behind has ended."""
    while any(thread.name.startswith(("AnyIO", "requests")) for thread in threading.enumerate()):
        time.sleep(0.01)


@pytest.mark.parametrize(("mode", "by_sdk"), SERVERS)
def test_a_cancelled_write_waits_for_nobody_and_is_never_made(
    mode: str, by_sdk: bool, project: Path, memory: Memory
) -> None:
    memory.remember("We use uv, not pip.", path="tools/uv")

    async def work() -> None:
        async with in_process(mode, lock_wait=str(FAR), by_sdk=by_sdk) as client:
            with locked(Layout(str(project / ".memory")).lock("main"), "main"):
                for n in range(3):
                    assert not await cancelled(client, 0.3, "remember", {"text": f"Never {n}.", "path": f"never/{n}"})
                    with anyio.fail_after(FAR / 2):
                        assert "tools/uv" in text(await client.call_tool("recall", {"topic": "do we use uv?"}))
            assert text(await client.call_tool("remember", {"text": "Again.", "path": "a/b"})).startswith("created")

    anyio.run(work)
    wait_for_threads()
    assert [one["path"] for one in memory.list()] == ["a/b", "tools/uv"]
    assert list((project / ".memory" / "local" / "journal").rglob("*.request")) == []


@pytest.mark.parametrize("seed", slow_but((0,), range(2)))
@pytest.mark.parametrize(("mode", "by_sdk"), SERVERS)
def test_calls_cancelled_at_random_moments(mode: str, by_sdk: bool, seed: int, project: Path, memory: Memory) -> None:
    dice = Random(seed)
    for n in range(30):
        memory.remember(f"Module {n} keeps {n} replicas of its queue.", path=f"queue/m{n}")
    acknowledged = {f"queue/m{n}" for n in range(30)}
    asked = set(acknowledged)
    topic = {"topic": "how many replicas does module 7 keep?"}

    async def work() -> None:
        async with in_process(mode, tools="all", by_sdk=by_sdk) as client:
            expected = text(await client.call_tool("get", {"refs": ["queue/m7"]}))
            for n in range(25):
                path = f"new/n{n}"
                found = {"query": "replicas"}, {"refs": ["queue/m3"]}
                reads = [("recall", topic), ("search", found[0]), ("list", {}), ("get", found[1])]
                write = ("remember", {"text": f"Note {n} on {path}.", "path": path})
                name, arguments = dice.choice([*reads, write, write, write])
                if name == "remember":
                    asked.add(path)
                if await cancelled(client, dice.choice([0.0, 0.001, 0.01, 0.05]) * dice.random(), name, arguments):
                    acknowledged.update({path} & asked)
                with anyio.fail_after(FAR):
                    assert text(await client.call_tool("get", {"refs": ["queue/m7"]})) == expected
                    assert "queue/m7" in text(await client.call_tool("recall", topic))

    anyio.run(work)
    wait_for_threads()
    found = {one["path"] for one in memory.list()}
    assert acknowledged <= found <= asked
    assert memory.check_store()["damaged"] == 0


async def test_a_cancelled_call_is_not_answered(project: Path, memory: Memory) -> None:
    """By the messages themselves: the next answer is that to the next call."""
    memory.remember("We use uv, not pip.", path="tools/uv")
    told = parameters(project)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    async with await anyio.open_process([told.command, *told.args], cwd=told.cwd, env=told.env, stderr=None) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        send, lines = process.stdin.send, BufferedByteReceiveStream(process.stdout)

        def message(method: str, params: dict[str, Any], **more: int) -> bytes:
            return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode() + b"\n"

        async def receive() -> Any:
            return json.loads(await lines.receive_until(b"\n", 1 << 20))

        await send(message("initialize", hello, id=1))
        assert (await receive())["id"] == 1
        await send(message("notifications/initialized", {}))
        with locked(Layout(str(project / ".memory")).lock("main"), "main"):
            arguments = {"text": "Never.", "path": "never/said"}
            await send(message("tools/call", {"name": "remember", "arguments": arguments}, id=2))
            await anyio.sleep(0.5)
            await send(message("notifications/cancelled", {"requestId": 2, "reason": "test"}))
            await send(message("tools/call", {"name": "get", "arguments": {"refs": ["tools/uv"]}}, id=3))
            answer = await receive()
            assert answer["id"] == 3
            assert "We use uv" in answer["result"]["content"][0]["text"]
        await process.stdin.aclose()
        assert await process.wait() == 0
    assert [one["path"] for one in memory.list()] == ["tools/uv"]
