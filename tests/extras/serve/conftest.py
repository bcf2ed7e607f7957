"""A server as a process of its own, and how tests talk to it: by `http.client`, or byte by byte."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memcli.extras.serve.access import Caller
from memcli.extras.serve.tokens import Tokens
from memcli.model.space import ADMIN, READER, WRITER
from memcli.store.layout import Layout
from memcli.wiring.roots import make_store
from tests.conftest import NOW

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

PATIENCE = 60


class Answer(NamedTuple):
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A server on the store in `folder`, with a token for each role."""

    COMMAND = ("serve", "--port", "0")

    def __init__(self, folder: Path, *options: str, **environ: str) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self.environ = {**_environ(folder), **environ}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "memcli", *self.COMMAND, "--root", str(folder), *options],
            env=self.environ, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        first, second = self._first_lines()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not second:
            self.process.wait()
            self._reader.join()
            raise AssertionError(f"no server: {self.lines}")
        self.address = first.split()[-1]
        self.link = second.split()[-1]
        self.port = int(self.address.rpartition(":")[2].partition("/")[0])
        self.tokens = Tokens(Layout(str(folder / ".memory")))
        self.private = Path(Layout(str(folder / ".memory")).private_folder)
        self.token = (self.private / "serve-token").read_text().strip()
        self.by_role = {role: self.create(role) for role in (READER, WRITER)} | {ADMIN: self.token}

    def _first_lines(self) -> tuple[str, str]:
        """The lines with the address, and with the link or where the token is."""
        assert self.process.stdout is not None
        return self.process.stdout.readline(), self.process.stdout.readline()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    def create(self, role: str, *spaces: str, name: str = "") -> str:
        """A new token, in the store alone: the server is not asked."""
        name = name or "-".join((role, *spaces))
        with suppress(Exception):
            self.tokens.revoke(name)
        return self.tokens.create(Caller(name, role, spaces), NOW)

    def connect(self, timeout: float = PATIENCE) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method: str, path: str, body: Any = None, token: str | None = "", **headers: str) -> Answer:
        """The response to a request; a `body` that is not bytes is sent as JSON, `token` is by default the first."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            given.setdefault("Authorization", f"Bearer {token or self.token}")
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            given.setdefault("Content-Type", "application/json")
        connection = self.connect()
        try:
            connection.request(method, path, body, given)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def get(self, path: str, token: str | None = "", **headers: str) -> Answer:
        return self.ask("GET", path, None, token, **headers)

    def remember(self, space: str = "main", **fields: Any) -> str:
        """Stores a memory, and gives its id."""
        answer = self.ask("POST", f"/apps/{space}/memories?keep_both=true", fields)
        assert answer.status in (200, 201), answer
        return str(answer.json["id"])

    def raw(self, data: bytes, timeout: float = PATIENCE) -> bytes:
        """What comes back for these bytes, until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            connection.sendall(data)
            found = b""
            with suppress(ConnectionResetError):  # what it did not read is still under way when it closes
                while chunk := connection.recv(65536):
                    found += chunk
            return found

    def workers(self) -> list[int]:
        """The ids of its processes."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        if path.exists():
            return [int(pid) for pid in path.read_text().split()]
        out = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False).stdout
        return [int(pid) for pid in out.split()]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends it, and gives the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def close(self) -> None:
        """Ends it, whatever it does."""
        self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def log(self) -> str:
        return "\n".join(self.lines)


class McpServer(Server):
    """`memcli mcp --http` on the store in `folder`."""

    COMMAND = ("mcp", "--http", "0")

    def _first_lines(self) -> tuple[str, str]:
        assert self.process.stderr is not None
        return self.process.stderr.readline(), self.process.stderr.readline()


def _environ(folder: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not re.match(r"(MEMCLI|GIT|XDG)_", k)}
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    return {
        **kept, "HOME": str(home), "USERPROFILE": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        "MEMCLI_EMBEDDER": "off", "MEMCLI_BACKGROUND": "off", "MEMCLI_USER": "ann", "NO_COLOR": "1",
    }  # fmt: skip


@contextmanager
def serving(folder: Path, *options: str, kind: type[Server] = Server, **environ: str) -> Iterator[Server]:
    """A server on a store in `folder`, which is made if it is not there."""
    folder.mkdir(exist_ok=True)
    if not (folder / ".memory").exists():
        subprocess.run(["git", "init", "-q", folder], check=True)
        make_store({"root": str(folder)}, {})
    server = kind(folder, *options, **environ)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


Start = Callable[..., Server]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server that the tests of a module share, with the module's number of WORKERS."""
    workers = getattr(request.module, "WORKERS", 1)
    with serving(tmp_path_factory.mktemp("served") / "project", "--workers", str(workers)) as started:
        yield started


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server of the test's own, on one store."""
    started: list[Any] = []

    def call(*options: str, **environ: str) -> Server:
        manager = serving(tmp_path / "project", *options, **environ)
        started.append(manager)
        return manager.__enter__()

    yield call
    for manager in started:
        manager.__exit__(None, None, None)
