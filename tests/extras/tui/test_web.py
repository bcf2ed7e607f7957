"""`memcli browse --web`, as a browser meets it: pages, the socket of one, and what is left when it ends."""

import asyncio
import importlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from memcli.app.workspace import Workspace
from memcli.cli.main import main
from memcli.errors import UsageError
from memcli.extras.tui.web import LocalServer, listen
from tests.conftest import slow_but
from tests.extras.tui.stage import few


@pytest.fixture
def server(workspace: Workspace, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address that it printed."""
    few(workspace)
    process = subprocess.Popen(
        [sys.executable, "-m", "memcli", "browse", "--web", "--port", "0", "--root", str(tmp_path), "--kind", "decision"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stderr
        found = re.search(r"http://127\.0\.0\.1:\d+/\?key=\S+", process.stderr.readline())
        assert found
        yield process, found[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def opened(headers: dict[str, str] | None = None) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(headers=headers, cookie_jar=aiohttp.CookieJar(unsafe=True))  # for an IP address too


def get(address: str, **headers: str) -> tuple[int, str]:
    async def ask() -> tuple[int, str]:
        async with opened(headers) as session, session.get(address) as answer:
            return answer.status, await answer.text()

    return asyncio.run(ask())


def test_only_who_has_the_address_gets_the_page(
    server: tuple[subprocess.Popen[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, address = server
    bare, port = address.partition("?")[0], address.split(":")[2].partition("/")[0]
    status, page = get(address)
    assert (status, re.findall(r"\w+://([^/\"]*)", page)) == (200, [f"127.0.0.1:{port}"]), "nothing from elsewhere"
    assert get(f"http://localhost:{port}/{address.rpartition('/')[2]}")[0] == 200
    for path in ("", "ws", "focus.js", "static/js/textual.js", "?key=wrong"):
        assert (path, get(bare + path)[0]) == (path, 403)
    for headers, refusal in (
        ({"Host": "example.org"}, "wrong host"), ({"Host": f"127.0.0.1.example.org:{port}"}, "wrong host"),
        ({"Origin": "http://example.org"}, "wrong origin"),
    ):  # fmt: skip
        assert get(address, **headers) == (403, refusal)
    assert "no key" in get(bare)[1]
    assert main(["browse", "--web", "--port", port, "--root", str(tmp_path)]) == UsageError.exit_code
    error = capsys.readouterr().err
    parts = (f"cannot listen on port {port}: Address already in use", "--port")
    assert [part for part in parts if part not in error] == []


@pytest.mark.parametrize("end", slow_but((signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM)))
def test_a_page_shows_the_browser_and_no_process_is_left(
    server: tuple[subprocess.Popen[str], str], end: signal.Signals
) -> None:
    process, address = server

    async def visit() -> None:
        async with opened() as session:
            await (await session.get(address)).read()
            bare = address.partition("?")[0]
            async with session.ws_connect(f"{bare}ws?width=90&height=30") as page:
                await seen(page, b"Refresh tokens rotate.")
                await page.send_json(["stdin", "?"])
                await seen(page, b"pin or unpin")
                process.send_signal(end)
                while (await page.receive()).type is aiohttp.WSMsgType.BINARY:
                    pass

    async def seen(page: aiohttp.ClientWebSocketResponse, text: bytes) -> None:
        shown = b""
        async with asyncio.timeout(60):
            while text not in re.sub(rb"\x1b\[[^a-zA-Z]*[a-zA-Z]", b"", shown):
                shown += await page.receive_bytes()

    asyncio.run(visit())
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_without_the_extra_it_says_what_to_install(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "memcli.extras.tui.web", raising=False)
    for name in ("aiohttp", "textual_serve", "textual_serve.app_service"):
        monkeypatch.setitem(sys.modules, name, None)
    few(workspace)
    assert main(["browse", "--web", "--root", str(tmp_path)]) == UsageError.exit_code
    message = "memcli: browse --web needs the extra `web` (pip install '.[web]' in a clone of memcli)\n"
    assert capsys.readouterr().err == message
    monkeypatch.delitem(sys.modules, "memcli.extras.tui.app", raising=False)
    assert importlib.import_module("memcli.extras.tui.app").Browser, "that of the terminal needs none of it"


@asynccontextmanager
async def serving(*command: str) -> AsyncIterator[tuple[LocalServer, aiohttp.ClientSession, str]]:
    """A server of pages with this command, a client, and the address of the socket of a page."""
    with listen(0) as place:
        server = LocalServer(command, "key", place)
        runner = web.AppRunner(await server._make_app())
        await runner.setup()
        await web.SockSite(runner, place).start()
        async with opened() as session:
            yield server, session, f"{server.address.partition('?')[0]}ws?key=key"
        await runner.cleanup()


@pytest.mark.anyio
async def test_one_page_too_many_is_refused_until_another_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.tui.web.MAX_PAGES", 2)
    async with serving("head", "-c1") as (server, session, address), session.ws_connect(address):
        first = set(server._pages)
        page = await session.ws_connect(address)
        second = [task for task in server._pages - first if task]
        with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
            await session.ws_connect(address)
        await page.close()
        await asyncio.gather(*second)
        async with session.ws_connect(address):
            pass


@pytest.mark.anyio
async def test_the_end_waits_for_the_process_of_a_page_that_is_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.tui.web._SECONDS", 0.4)
    async with serving("sleep", "60") as (server, session, address):
        await (await session.ws_connect(address)).close()
        async with asyncio.timeout(10):
            while not server._ends:  # noqa: ASYNC110 - the server signals it to nobody
                await asyncio.sleep(0.01)
    assert (server._pages, server._ends) == (set(), set())
