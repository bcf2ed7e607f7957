"""Every socket that memcli listens on, and every request that its gate refuses: one table for all of them."""

from __future__ import annotations

import ast
import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memcli import Memory
from memcli.extras.mcp.offer import declared
from memcli.extras.serve import bodies, gate
from memcli.extras.serve.bodies import MAX_HEAD
from memcli.extras.serve.gate import Admission, Gate
from memcli.extras.serve.tokens import Logins, Tokens
from memcli.model.space import ADMIN, READER, WRITER
from memcli.store.layout import Layout
from tests.conftest import ROOT
from tests.extras.serve.conftest import Answer, McpServer, Server, serving

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

LISTENERS = {"extras/serve/server.py": ("serve", "mcp --http"), "extras/tui/web.py": ("browse --web",),
             "extras/helper/answering.py": ("the helper",)}  # fmt: skip
"""The modules that open a listening socket, and for which commands. That of `browse` is of another web server, for one
person: `tests/extras/tui/test_web.py` has what it refuses; that of the helper is a file: `tests/extras/helper`."""
_OPENERS = ("listen", "create_server", "start_server", "start_unix_server", "run_app", "bind_socket")


def test_every_listener_is_listed() -> None:
    found = set()
    for path in (ROOT / "memcli").rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if any(f".{name}(" in text for name in _OPENERS) else ():
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if is_call and node.func.attr in _OPENERS and ast.unparse(node.func) != "self._recaller.listen":
                found.add(path.relative_to(ROOT / "memcli").as_posix())
    assert found == LISTENERS.keys()


class Listener:
    """A server, and how to read and write with it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.is_mcp = isinstance(server, McpServer)
        self.path = "/mcp" if self.is_mcp else "/apps/main/memories"

    def write(self, token: str | None = "", **headers: str) -> Answer:
        """A request to store a memory."""
        return self.post(
            {"name": "remember", "arguments": {"text": TEXT}} if self.is_mcp else {"raw": TEXT}, token, **headers
        )

    def read(self, token: str | None = "", **headers: str) -> Answer:
        """A request to read memories."""
        if not self.is_mcp:
            return self.server.get(self.path, token, **headers)
        return self.post({"name": "recall", "arguments": {"topic": TEXT}}, token, **headers)

    def post(self, body: Any, token: str | None = "", **headers: str) -> Answer:
        if self.is_mcp:
            meta = {f"io.modelcontextprotocol/{name}": value for name, value in META.items()}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**body, "_meta": meta}}
            headers |= {
                "Accept": "application/json, text/event-stream",
                "MCP_Protocol_Version": META["protocolVersion"],
            }
            headers |= {"Mcp_Method": "tools/call", "Mcp_Name": body["params"]["name"]}
        return self.server.ask("POST", self.path, body, token, **headers)

    def stored(self) -> list[str]:
        """The texts in the store."""
        return [one["summary_micro"] for one in Memory(self.server.folder).list()]


TEXT = "We use uv, not pip."
META: dict[str, Any] = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}


@pytest.fixture(scope="module", params=[Server, McpServer], ids=["serve", "mcp --http"])
def listener(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Listener]:
    with serving(tmp_path_factory.mktemp("served") / "project", kind=request.param) as server:
        yield Listener(server)


TOKENS = (
    "Bearer",
    "Bearer ",
    "Bearer x",
    "Basic {token}",
    "{token}",
    "Bearer {token}x",
    "Bearer \xff\xfe",
    "Bearer {digest}",
)
HOSTS = (
    "evil.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost:{port}.evil.example",
    "127.0.0.1:{port}@evil.example",
    "",
    "[::1]",
)
ORIGINS = (
    "http://evil.example", "null", "https://127.0.0.1:{port}", "http://localhost:1", "http://127.0.0.1", "http://127.0.0.1:1",
)  # fmt: skip
REFUSED: dict[str, tuple[int, dict[str, Any]]] = {
    "no token": (401, {"token": None}),
    **{f"token {given}": (401, {"token": None, "Authorization": given}) for given in TOKENS},
    "a cookie of nobody": (401, {"token": None, "Cookie": "memcli_session_{port}=x"}),
    **{f"host {host}": (421, {"Host": host}) for host in HOSTS},
    **{f"origin {origin}": (403, {"Origin": origin}) for origin in ORIGINS},
    **{f"site {site}": (403, {"Sec_Fetch_Site": site}) for site in ("cross-site", "same-site")},
    "large head": (431, {"X": "x" * MAX_HEAD}), "no JSON": (415, {"Content_Type": "text/plain"}),
    "a form": (415, {"Content_Type": "application/x-www-form-urlencoded"}),
}  # fmt: skip


def test_what_is_refused(listener: Listener, subtests: pytest.Subtests) -> None:
    server = listener.server
    known = {"port": str(server.port), "token": server.token, "digest": server.tokens.all()[0].digest}
    before = listener.stored()
    for case, (status, given) in REFUSED.items():
        headers = {k: v.format(**known) if isinstance(v, str) else v for k, v in given.items()}
        with subtests.test(case=case):
            answer = listener.write(**headers)
            assert answer.status == status
            assert status != 401 or answer.headers["www-authenticate"] == "Bearer"
            if "Content_Type" not in given:
                assert listener.read(**headers).status == status
    body = b'{"raw": "' + b"x" * bodies.MAX_BODY + b'"}'
    assert server.ask("POST", listener.path, body, Content_Type="application/json").status == 413
    assert listener.stored() == before
    assert server.token not in server.log()


def test_each_role_does_what_it_may(listener: Listener) -> None:
    roles = listener.server.by_role
    assert listener.read(roles[READER]).status == 200
    refused = listener.write(roles[READER])
    assert b"this needs the role writer, and the token has reader" in refused.body
    assert refused.json["result"]["isError"] if listener.is_mcp else refused.status == 403
    assert TEXT not in listener.stored()
    for role in (WRITER, ADMIN):
        assert listener.write(roles[role]).status in (200, 201)
    assert TEXT in listener.stored()
    token = listener.server.create(READER, name="gone")
    assert listener.read(token).status == 200
    listener.server.tokens.revoke("gone")
    assert listener.read(token).status == 401
    other = listener.read(listener.server.create(READER, "notes"))
    if listener.is_mcp:
        assert other.json["result"]["isError"]
        assert "the token is for some spaces only" in other.json["result"]["content"][0]["text"]
    else:
        assert other.status == 403
    acts = (listener.server.private / "audit" / "main.jsonl").read_bytes().splitlines()
    assert json.loads(acts[0])["user"] == ("mcp:writer" if listener.is_mcp else "serve:writer")


def test_a_tool_needs_the_role_of_its_verb() -> None:
    for verb, tool in declared("all"):
        assert (tool.name, verb.role_for({})) == (tool.name, READER if tool.reads_only else WRITER)


def test_a_stream_of_events_has_no_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "TOTAL_SECONDS", 0.05)
    layout = Layout(str(tmp_path / ".memory"))
    (tmp_path / ".memory").mkdir()
    access = Admission(root=str(tmp_path), port=1, tokens=Tokens(layout), logins=Logins())
    token = access.tokens.make_first()

    async def ask(media: bytes) -> list[Any]:
        sent: list[Any] = []

        async def app(_scope: Any, _receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", media)]})
            await asyncio.sleep(0.2)
            await send({"type": "http.response.body", "body": b"late"})

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        scope = {
            "type": "http", "method": "GET", "path": "/mcp", "raw_path": b"/mcp", "query_string": b"",
            "headers": [(b"host", b"127.0.0.1:1"), (b"authorization", f"Bearer {token}".encode())],
            "state": {"connection": SimpleNamespace(claim=lambda _: True)},
        }  # fmt: skip
        await Gate(app, access, lambda _: None)(scope, receive, send)
        return sent[1:]

    assert asyncio.run(ask(b"text/event-stream; charset=utf-8")) == [{"type": "http.response.body", "body": b"late"}]
    assert asyncio.run(ask(b"application/json")) == []
