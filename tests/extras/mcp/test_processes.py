"""`memcli mcp` as a process of its own: over standard input and over HTTP, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from memcli import Memory
from tests.conftest import slow_but
from tests.extras.mcp.conftest import as_process, parameters, text
from tests.extras.serve.conftest import McpServer, serving

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")]
ENDS = slow_but((signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM))
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip


@pytest.mark.parametrize("mode", slow_but(("auto",), ("auto", "legacy")))
async def test_a_session_over_standard_input(mode: str, project: Path) -> None:
    async with as_process(project, mode=mode) as client:
        done = await client.call_tool("remember", {"text": "We use uv, not pip.", "path": "tools/uv"})
        assert "created a store" in text(done)
        assert "tools/uv" in text(await client.call_tool("recall", {"topic": "do we use uv or pip?"}))
        (content,) = (await client.read_resource("memcli://tree")).contents
        assert "uv" in content.text
        with pytest.raises(MCPError, match="no resource"):
            await client.read_resource("memcli://nonsense")
    assert Memory(project).get("tools/uv")["raw"] == "We use uv, not pip."


async def test_the_first_answer_waits_for_the_model(project: Path) -> None:
    Memory(project).init()
    Memory(project).remember("We chose PostgreSQL, for JSONB.", path="decisions/database")
    async with as_process(project, MEMCLI_EMBEDDER="onnx") as client:
        first = text(await client.call_tool("recall", {"topic": "which database?"}))
        assert "decisions/database" in first
        assert "Degraded" not in first


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process, whose pipes the test holds. It has a process group of its own."""
    told = parameters(folder, *arguments)
    process = subprocess.Popen(
        [told.command, *told.args], cwd=folder, env=told.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def ask(process: subprocess.Popen[bytes], request: dict[str, Any]) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_it_ends_with_its_input_and_prints_the_protocol_alone(project: Path) -> None:
    with started(project) as process:
        assert ask(process, HELLO)["result"]["serverInfo"]["name"] == "memcli"
        call = {"name": "remember", "arguments": {"text": "We use uv.", "kind": "customr"}}
        done = ask(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        assert "did you mean 'custom'" in done["result"]["content"][0]["text"]
        out, _ = process.communicate(timeout=20)
        assert out == b""
        assert process.returncode == 0


@pytest.mark.parametrize("end", ENDS)
def test_a_signal_ends_it_quietly(end: signal.Signals, project: Path) -> None:
    with started(project) as process:
        ask(process, HELLO)
        process.send_signal(end)
        assert process.wait(20) == -end
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_what_came_before_the_end_of_its_input_is_answered(project: Path) -> None:
    Memory(project).init()
    Memory(project).remember("We use uv, not pip.", path="tools/uv")
    calls = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(
            [("recall", {"topic": "uv or pip?"}), ("get", {"refs": ["tools/uv"]}), ("get", {"refs": ["tools/uv"]})], 2
        )
    ]
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = "".join(json.dumps(one) + "\n" for one in (HELLO, ready, *calls, cancel))
    with started(project) as process:
        out, _ = process.communicate(lines.encode(), timeout=30)
        answers = {one["id"]: one for one in map(json.loads, out.splitlines())}
        assert process.returncode == 0
        assert answers.keys() - {4} == {1, 2, 3}
        assert all("We use uv" in answers[n]["result"]["content"][0]["text"] for n in (2, 3))


CLIENT = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b'HELLO\\n'); child.stdin.flush()
print(child.pid, bool(child.stdout.readline()), flush=True)
if HOLDS: subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdin=child.stdin, pass_fds=[child.stdin.fileno()])
time.sleep(60)
"""


@pytest.mark.parametrize("holds", slow_but((True,), (False, True)), ids=["alone", "somebody else holds the pipe"])
def test_no_process_is_left_when_the_client_is_killed(holds: bool, project: Path) -> None:
    told = parameters(project)
    code = CLIENT.replace("HELLO", json.dumps(HELLO)).replace("HOLDS", str(holds))
    client = subprocess.Popen(
        [sys.executable, "-c", code, told.command, *told.args], cwd=project, env=told.env, stdout=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert client.stdout is not None
        pid, answered = client.stdout.readline().split()
        assert answered == b"True"
        time.sleep(0.2)
        client.kill()
        client.wait()
        for _ in range(300):
            if not is_running(int(pid)):
                break
            time.sleep(0.1)
        assert not is_running(int(pid))
    finally:
        os.killpg(client.pid, signal.SIGKILL) if holds or client.poll() is None else None
        client.stdout.close()


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that has ended and was not waited for does not run."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def test_http_on_the_loopback(project: Path) -> None:
    with serving(project, kind=McpServer) as server:
        known = {"authorization": f"Bearer {server.token}"}

        async def work(mode: str) -> None:
            async with (
                httpx.AsyncClient(headers=known) as web,
                Client(streamable_http_client(server.address, http_client=web), mode=mode) as client,
            ):
                await client.call_tool("remember", {"text": f"We use uv, in {mode}.", "path": f"tools/{mode}"})
                assert f"tools/{mode}" in text(await client.call_tool("recall", {"topic": f"uv in {mode}"}))

        for mode in ("auto", "legacy"):
            anyio.run(work, mode)
        with pytest.raises(httpx.HTTPStatusError, match="401"):
            httpx.post(server.address, json=HELLO).raise_for_status()
        answer = httpx.post(server.address, headers=known, json={**HELLO, "params": 5})
        error = {"code": -32602, "message": "invalid params: params must be an object"}
        assert (answer.status_code, answer.json()) == (400, {"jsonrpc": "2.0", "id": 1, "error": error})
        assert server.stop() == 0


@pytest.mark.parametrize("end", ENDS)
def test_over_http_it_ends_while_a_client_listens(end: signal.Signals, project: Path) -> None:
    with serving(project, kind=McpServer) as server:

        async def listen() -> None:
            headers = {"authorization": f"Bearer {server.token}", "accept": "application/json, text/event-stream"}
            async with httpx.AsyncClient(headers=headers) as web:
                session = (await web.post(server.address, json=HELLO)).headers["mcp-session-id"]
                async with web.stream("GET", server.address, headers={"mcp-session-id": session}) as stream:
                    assert stream.status_code == 200
                    server.process.send_signal(end)
                    assert await anyio.to_thread.run_sync(server.process.wait, 20) == 0

        anyio.run(listen)


def test_bad_options(project: Path) -> None:
    """And over HTTP a store is needed."""
    for arguments, code in ((("--tools", "some"), 2), (("--http", "70000"), 2), (("--http", "0"), 3)):
        with started(project, *arguments) as process:
            _, err = process.communicate(timeout=60)
            assert (arguments, process.returncode, err.count(b"\n")) == (arguments, code, 1), err
    assert b"memcli init" in err
