"""What attackers and mistakes send: the right status, one line in the log, no traceback, nothing given away."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from memcli.extras.serve import bodies, gate
from memcli.extras.serve.bodies import is_deep
from tests.extras.serve.conftest import Server, Start
from tests.safety.secrets_corpus import secret

SECRET = secret("github_token", 901)[1]
LATE = "xylophonist"


def request(server: Server, line: str, *lines: str, body: bytes = b"", host: str = "", closes: bool = True) -> bytes:
    """The bytes of a request with a token, whose connection ends with it."""
    head = [line, f"Host: {host or f'127.0.0.1:{server.port}'}", f"Authorization: Bearer {server.token}"]
    return "\r\n".join([*head, *["Connection: close"] * closes, *lines, "", ""]).encode("latin-1") + body


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


def test_own_hosts_and_sites(server: Server) -> None:
    """Those that are refused: `test_listeners.py`."""
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert server.get("/apps", Host=f"{host}:{server.port}").status == 200, host
    own = f"Host: 127.0.0.1:{server.port}"
    evil = request(server, "GET http://evil.example/apps HTTP/1.1", host=f"127.0.0.1:{server.port}")
    for data, statuses in (
        (request(server, "GET /apps HTTP/1.1", own), (400, 421)), (b"GET /apps HTTP/1.1\r\n\r\n", (400,)),
        (b"GET /apps HTTP/1.0\r\n\r\n", (400, 421)), (evil, (400, 404)),
    ):  # fmt: skip
        assert status(server.raw(data)) in statuses, data
    assert server.get("/health", token=None, Origin="http://evil.example").status == 403
    assert server.get("/apps", Sec_Fetch_Site="same-origin").status == 200
    assert server.get("/apps", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").status == 200


TYPES = {
    "text/plain": 415, "application/x-www-form-urlencoded": 415, "multipart/form-data; boundary=x": 415, "": 415,
    "application/xml": 415, "application/json; charset=utf-8": 201, "APPLICATION/JSON": 200,
}  # fmt: skip
BODIES = (
    b"{", b'{"raw": "x"', b'"text"', b"[]", b"null", b"1", b"\xff\xfe", b'{"raw": "\xff"}', b'{"raw": "\\ud800"}', b"{'raw': 1}",
    b'{"raw": NaN}', b'{"raw": 1e999}', b'{"raw": ["x"]}', b'{"raw": "x", "tags": {"a": 1}}', b'{"raw": "a\\u0000b"}',
    b'{"raw": "x", "links": "y"}', b'{"raw": "x", "path": "../../etc/passwd"}', b'{"raw": "x", "id": "../x"}',
    b'{"raw": "x", "content": 7e400}', b'{"raw": "x", "content": 18446744073709551616}', b'{"raw": "x", "content": NaN}',
    b'{"raw": "x", "importance": "' + b"9" * 5000 + b'"}', b"[" * 100_000,
    b'{"content":' + b'{"a":' * 5000 + b"1" + b"}" * 5001, (b'{"a":[' * 300_000)[: bodies.MAX_BODY],
)  # fmt: skip


def test_bodies_that_are_no_memory(server: Server) -> None:
    for method in ("PUT", "POST", "TRACE", "OPTIONS", "HEAD", "PURGE", "CONNECT"):
        reply = server.raw(request(server, f"{method} /apps/main/memories/mem_x HTTP/1.1", "Content-Length: 0"))
        assert status(reply) in (404, 405), method
        assert b"application/problem+json" in reply
    body = json.dumps({"raw": "Types matter."}).encode()
    assert {kind: server.ask("POST", "/apps/types/memories", body, Content_Type=kind).status for kind in TYPES} == TYPES
    for body in BODIES:
        answer = server.ask("POST", "/apps/bodies/memories", body, Content_Type="application/json")
        kind = answer.headers["content-type"]
        assert (body[:80], answer.status, kind) == (body[:80], 422, "application/problem+json")
    brackets = json.dumps({"raw": "[" * 5000 + '\\"{'}).encode()
    assert server.ask("POST", "/apps/deep/memories", brackets, Content_Type="application/json").status == 201
    depths = {
        b"[" * 65: True,
        b"[" * 64 + b"]" * 64: False,
        b'["' + b"[" * 500 + b'\\"[["]': False,
        b"[]," * 500: False,
    }
    assert {data: is_deep(data) for data in depths} == depths, "brackets within texts do not count"


NO_HTTP = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\n\r\nx\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"GET / HTTP/1.1\r\nA: b\r\n c\x00: d\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
)  # fmt: skip


def test_what_is_no_http(server: Server) -> None:
    for data in NO_HTTP:
        reply = server.raw(data)
        assert not reply or 400 <= status(reply) < 500, data
    for lines in (["X: " + "y" * 40_000], [f"X{n}: {'y' * 500}" for n in range(80)]):
        assert status(server.raw(request(server, "GET /apps HTTP/1.1", *lines))) == 431
    assert status(server.raw(request(server, f"GET /{'x' * 40_000} HTTP/1.1"))) == 431
    both = ("Content-Type: application/json", "Content-Length: 4", "Transfer-Encoding: chunked")
    smuggled = b"0\r\n\r\nGET /apps HTTP/1.1\r\n\r\n"
    reply = server.raw(request(server, "POST /apps/smuggled/memories HTTP/1.1", *both, body=smuggled))
    assert reply.count(b"HTTP/1.1 ") <= 1 or b"200 OK" not in reply


PATHS = (
    "/apps/../memories", "/apps/%2e%2e/memories", "/apps/..%2f..%2fetc/memories", "/apps/main/memories/..%2f..%2fpasswd",
    "/apps/main/memories/%00", "/apps/main%00/memories", "/apps/CON/memories", "/apps/a%2fb/memories/mem_x", "/apps//memories",
    "/apps/main/memories/%c3%28", "/apps/main/memories/--help", "/apps/--root/memories", "/apps/main/memories/-", "/../../etc/passwd",
    "/static/../../../etc/passwd", "/static/%2e%2e/%2e%2e/etc/passwd", "/apps/" + "x" * 3000 + "/memories", "/apps/main/memories/" + "x" * 3000,
    "/apps/main/memories/mem_x;rm", "/apps/main/memories/mem_x%0d%0aSet-Cookie:%20a=b", "/apps/main/memories/*", "/apps/.lock/memories",
)  # fmt: skip


def test_paths_that_lead_elsewhere(server: Server) -> None:
    for path in PATHS:
        for method, body in (("GET", None), ("PATCH", {"tags": []}), ("DELETE", None)):
            answer = server.ask(method, path, body)
            assert answer.status in (401, 404, 405, 422), (path, answer)
            assert b"root:" not in answer.body
            assert "set-cookie" not in answer.headers


def test_large_bodies(server: Server) -> None:
    line, kind = "POST /apps/large/memories HTTP/1.1", "Content-Type: application/json"
    assert status(server.raw(request(server, line, "Content-Length: 99999999999999999999", kind))) in (400, 413)
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    chunked = request(server, line, "Transfer-Encoding: chunked", kind)
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(chunked)
        with suppress(OSError):  # it is refused before all is sent
            for _ in range(64):
                connection.sendall(chunk)
        connection.settimeout(30)
        with suppress(OSError):
            assert status(connection.recv(65536)) == 413
    assert server.get("/health", token=None).status == 200


def test_the_beginning_of_an_id_is_no_id(server: Server) -> None:
    name = server.remember("ids", raw="Ids are whole.", path="whole")
    for ref in (name[:-1], "whole"):
        assert server.get(f"/apps/ids/memories/{ref}").status == 404
        assert server.ask("PATCH", f"/apps/ids/memories/{ref}", {"tags": ["a"]}).status == 404
        assert server.ask("DELETE", f"/apps/ids/memories/{ref}").status == 404
    assert server.get(f"/apps/ids/memories/{name}").json["id"] == name


@pytest.mark.slow
def test_slow_heads_and_bodies(server: Server) -> None:
    """Drops come every second; the limit is one for the whole."""
    replies: dict[str, bytes] = {}

    def drip(name: str, first: bytes, drop: bytes) -> None:
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(first)
            connection.settimeout(1)
            replies[name] = b""
            for _ in range(40):
                try:
                    chunk = connection.recv(65536)
                except TimeoutError:
                    with suppress(OSError):
                        connection.sendall(drop)
                    continue
                except OSError:
                    return
                if not chunk:
                    return
                replies[name] += chunk
            replies[name] = b"never ended"

    body = request(
        server, "POST /apps/slow/memories HTTP/1.1", "Content-Type: application/json", "Content-Length: 1000"
    )
    again = request(server, "GET /health HTTP/1.1", closes=False)
    cases = {
        "head": (b"GET /apps HTTP/1.1\r\nHost: x\r\n", b"A: b\r\n"), "nothing": (b"", b""), "body": (body, b"x"),
        "second": (again + b"GET /apps HTTP/1.1\r\n", b"A: b\r\n"),
    }  # fmt: skip
    threads = [threading.Thread(target=drip, args=(name, *case)) for name, case in cases.items()]
    for thread in threads:
        thread.start()
    assert server.get("/health", token=None).status == 200  # while they drip
    for thread in threads:
        thread.join()
    assert replies["head"].startswith(b"HTTP/1.1 408 ")
    assert replies["body"].startswith(b"HTTP/1.1 408 ")
    assert replies["nothing"] in (b"", replies["head"]) or replies["nothing"].startswith(b"HTTP/1.1 408 ")
    assert replies["second"].startswith(b"HTTP/1.1 200 ")
    assert b"never ended" not in replies.values()


@pytest.mark.slow
def test_too_many_connections(server: Server) -> None:
    with ExitStack() as stack, suppress(OSError):
        for _ in range(gate.MAX_CONNECTIONS + 50):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if server.get("/health", token=None).status == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("it never came back")


def open_at(server: Server, stack: ExitStack, data: bytes) -> socket.socket:
    """A connection that has sent this."""
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
    connection.sendall(data)
    return connection


def is_open(connection: socket.socket) -> bool:
    """Whether the server has not ended the connection; what it sent before is read."""
    connection.setblocking(False)
    try:
        while connection.recv(65536):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def slow_body(server: Server, token: str) -> bytes:
    head = request(server, "POST /apps/slow/memories HTTP/1.1", "Content-Type: application/json", "Content-Length: 99")
    return head.replace(server.token.encode(), token.encode()) + b"{"


def quickly(server: Server, path: str, token: str | None = "") -> int:
    """The status of an answer, which must come at once."""
    begun = time.monotonic()
    status = server.get(path, token).status
    assert time.monotonic() - begun < 5
    return status


def test_half_sent_heads_close_nothing(start: Start) -> None:
    server = start("--workers", "1")
    with ExitStack() as stack:
        half = [open_at(server, stack, b"GET /apps HTTP/1.1\r\nHost: ") for _ in range(600)]
        for _ in range(5):
            assert quickly(server, "/health", None) == 200
            assert quickly(server, "/apps") == 200
        time.sleep(3 * gate.PATIENCE)
        assert 0 < sum(map(is_open, half)) <= gate.SHARES[gate.STRANGER]


def test_slow_bodies_are_counted_by_token(start: Start) -> None:
    server = start("--workers", "1")
    reader = server.by_role["reader"]
    with ExitStack() as stack:
        slow = [open_at(server, stack, slow_body(server, reader)) for _ in range(140)]
        for _ in range(5):
            assert quickly(server, "/health", None) == 200
            assert quickly(server, "/apps", server.by_role["writer"]) == 200
        full = server.get("/apps", reader)
        assert (full.status, full.headers["retry-after"]) == (503, "1")
        assert 0 < sum(map(is_open, slow)) <= gate.MAX_OF_TOKEN
        for connection in slow:
            connection.close()
        deadline = time.monotonic() + 5
        while (found := quickly(server, "/apps", reader)) == 503 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert found == 200


@pytest.mark.slow
def test_many_tokens_leave_room_for_those_who_have_shown_none_yet(start: Start) -> None:
    server = start("--workers", "1")
    tokens = [server.create("reader", name=f"r{number}") for number in range(8)]
    with ExitStack() as stack:
        slow = [open_at(server, stack, slow_body(server, token)) for token in tokens for _ in range(64)]
        assert quickly(server, "/health", None) == 200
        assert quickly(server, "/apps") == 503
        assert 0 < sum(map(is_open, slow)) <= gate.MAX_KNOWN


@pytest.mark.slow
def test_idle_connections_make_room_for_requests(start: Start) -> None:
    server = start("--workers", "1")
    with ExitStack() as stack:
        get = request(server, "GET /apps HTTP/1.1", closes=False)
        idle = [open_at(server, stack, get) for _ in range(gate.MAX_OF_TOKEN)]
        assert all(status(connection.recv(65536)) == 200 for connection in idle)
        time.sleep(2 * gate.PATIENCE)
        assert quickly(server, "/apps") == 200
        assert sum(map(is_open, idle)) == gate.MAX_OF_TOKEN - 1
        assert quickly(server, "/apps", server.by_role["writer"]) == 200


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/health", "/login", "/static/app.css"])
def test_who_reads_no_answer_keeps_nobody_out(start: Start, path: str) -> None:
    server = start("--workers", "1")
    with ExitStack() as stack:
        many = b"GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (path.encode(), server.port) * 500
        for _ in range(100):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.setblocking(False)
            with suppress(OSError):
                connection.sendall(many)
        for _ in range(10):
            assert quickly(server, "/health", None) == 200
            assert quickly(server, "/apps") == 200
            time.sleep(0.1)


def test_the_log_has_a_line_for_each_request_and_nothing_of_what_was_sent(start: Start) -> None:
    server = start("--verbose", "--workers", "1")
    server.get(f"/api/recall?topic={LATE}")
    server.get(f"/apps/main/memories/{LATE}")
    server.get(f"/{LATE}?{LATE}={SECRET}")
    server.get("/apps", token=SECRET)
    server.ask("POST", "/apps/main/memories", {"raw": SECRET, LATE: LATE})
    server.ask("POST", "/apps/main/memories", {"raw": f"The token is {SECRET}.", "path": f"ops/{LATE}"})
    server.get(f"/apps/main/memories/{SECRET}")
    server.raw(b"\x16\x03\x01\r\n\r\n")
    assert server.stop() == 0
    assert server.lines == [
        "memcli: GET /api/recall 200", "memcli: GET /apps/{space}/memories/{id} 404", "memcli: GET - 404",
        "memcli: GET - 401", "memcli: POST /apps/{space}/memories 422", "memcli: POST /apps/{space}/memories 201",
        "memcli: GET /apps/{space}/memories/{id} 404",
    ]  # fmt: skip
    files = [file for file in (server.folder / ".memory").rglob("*") if file.is_file()]
    assert [file for file in files if SECRET.encode() in file.read_bytes()] == []


def test_every_response_is_guarded(server: Server) -> None:
    given: tuple[tuple[str, dict[str, Any]], ...] = (
        ("/apps", {}), ("/nowhere", {}), ("/apps", {"token": None}), ("/apps", {"Host": "x"}),
    )  # fmt: skip
    for path, headers in given:
        answer = server.get(path, **headers)
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "private, no-cache"
        assert "server" not in answer.headers
