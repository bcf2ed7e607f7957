"""The server of lines: what broken lines are answered, and that it says what the server on the SDK says."""

from __future__ import annotations

import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import anyio
import pytest

from memcli import Memory
from memcli.cli.calls import Calls
from memcli.extras.mcp import server
from memcli.extras.mcp.offer import make_offer
from memcli.extras.mcp.server import LineServer
from tests.extras.mcp.conftest import in_process

META = {"io.modelcontextprotocol/protocolVersion": "2029-01-01", "io.modelcontextprotocol/clientCapabilities": {}}
PING = b'{"jsonrpc": "2.0", "id": "last", "method": "ping"}\n'


def spoken(*sent: bytes) -> list[dict[str, Any]]:
    """The answers to lines."""
    calls = Calls({}, lambda _: None)
    answers = BytesIO()
    LineServer(make_offer(calls, "default"), BytesIO(b"".join(sent)), answers).run()
    calls.close()
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def request(method: str = "ping", params: str = "{}", request_id: str = "7") -> bytes:
    return f'{{"jsonrpc": "2.0", "id": {request_id}, "method": "{method}", "params": {params}}}\n'.encode()


CALL = '{"name": "recall", "arguments": {"topic": %s}}'
BROKEN: tuple[tuple[bytes, int, int | None, str], ...] = (
    (b"nonsense\n", -32700, None, "parse error: Expecting value: line 1 column 1 (char 0)"),
    (b'{"a": "\xff"}\n', -32700, None, "parse error: not valid UTF-8"),
    (b'{"a":' + b"[" * 100_000 + b"\n", -32700, None, "parse error: nested too deeply"),
    (request(params='{"a": NaN}'), -32700, None, "parse error: NaN is not JSON"),
    (b"x" * 2_000 + b"\n", -32700, None, "parse error: a line of more than 1,000 bytes"),
    (b"[" + request().strip() + b"]\n", -32600, None, "invalid request: send each message on a line of its own"),
    (b"5\n", -32600, None, "invalid request: a message is a JSON object"),
    (b'{"id": 7, "method": "ping"}\n', -32600, 7, 'invalid request: jsonrpc must be "2.0"'),
    (b'{"jsonrpc": "2.0", "id": 7, "method": 5}\n', -32600, 7, "invalid request: method must be text"),
    (request(request_id="null"), -32600, None, "invalid request: id must be text or a whole number"),
    (request(request_id='"\\ud800"'), -32600, None, "invalid request: id must be text or a whole number"),
    (request("tools/nonsense"), -32601, 7, "Method not found"),
    (request(params="5"), -32602, 7, "invalid params: params must be an object"),
    (request("tools/call", CALL % '"\\ud83d"'), -32602, 7, "invalid params: a string has half of a surrogate pair"),
    (request("tools/call", CALL % ("1" * 900)), -32602, 7, "invalid params: a number has more than 800 digits"),
    (request("tools/call", '{"name": 5}'), -32602, 7, "invalid params: name must be text"),
    (request("tools/call", '{"name": "get", "arguments": [1]}'), -32602, 7, "invalid params: arguments must be an object"),
    (request("initialize"), -32602, 7, "invalid params: protocolVersion must be text"),
    (request("tools/list", json.dumps({"_meta": META})), -32022, 7, "Unsupported protocol version"),
)  # fmt: skip


@pytest.mark.usefixtures("project")
def test_a_broken_line_is_answered_by_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.mcp.methods._MOST_DIGITS", 800)
    for line, code, request_id, message in BROKEN:
        monkeypatch.setattr(server, "MOST_BYTES", 1_000 if line.startswith(b"x") else 1 << 20)
        first, last = spoken(line, PING)
        error = first["error"]
        assert (first["id"], error["code"], error["message"]) == (request_id, code, message)
        assert last == {"jsonrpc": "2.0", "id": "last", "result": {}}


@pytest.mark.usefixtures("project")
def test_what_asks_for_nothing_is_not_answered() -> None:
    answers = spoken(
        b"\n",
        b'{"jsonrpc": "2.0", "method": "notifications/nonsense"}\n',
        b'{"jsonrpc": "2.0", "method": "notifications/initialized", "params": 5}\n',
        b'{"jsonrpc": "2.0", "id": 5, "result": {}}\n',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "none"}}\n',
        PING,
    )
    assert [one["id"] for one in answers] == ["last"]


@pytest.mark.usefixtures("project")
def test_the_version_is_that_of_the_client_if_it_is_spoken() -> None:
    for asked, version in (("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("x", "2025-11-25")):
        params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        (answer,) = spoken(request("initialize", json.dumps(params)))
        assert answer["result"]["protocolVersion"] == version


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_both_servers_say_the_same(mode: str, project: Path) -> None:
    Memory(project).init()
    Memory(project).remember("We use uv, not pip.", path="tools/uv")

    async def said(by_sdk: bool) -> list[Any]:
        async with in_process(mode, "all", by_sdk=by_sdk) as client:
            found = [
                await client.list_tools(), await client.list_resources(), await client.list_resource_templates(),
                await client.list_prompts(), await client.read_resource("memcli://tree"),
                await client.get_prompt("memory", {"topic": "do we use uv?"}), await client.call_tool("list", {}),
                await client.call_tool("nonsense", {}),
            ]  # fmt: skip
            session = client.session
            begun = session.discover_result or session.initialize_result
            return [one.model_dump() for one in (begun, *found)]

    assert anyio.run(said, False) == anyio.run(said, True)


def test_a_list_is_made_of_declarations(project: Path) -> None:
    """Nothing that a call needs is loaded for it, and no SDK."""
    code = (
        "import sys; from memcli.extras.mcp.offer import make_offer; from memcli.cli.calls import Calls;"
        "from memcli.extras.mcp import server; from memcli.extras.mcp.methods import Results;"
        "Results(make_offer(Calls({}, print), 'all')).tools(); print(*sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "memcli.extras.mcp.server" in modules
    heavy = "mcp mcp_types pydantic anyio asyncio typer numpy onnxruntime tokenizers sqlite3"
    assert not modules & {*heavy.split()}
    assert not {one for one in modules if one.startswith(("memcli.index.", "memcli.ranking.", "memcli.embed."))}
