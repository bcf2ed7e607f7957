"""`memcli browse --web`, as a browser meets it: pages, the socket of one, and what is left when it ends."""

import asyncio
import importlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from memcli.app.workspace import Workspace
from memcli.cli.main import main
from memcli.errors import UsageError
from memcli.extras.tui.web import LocalServer, listen
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


def test_only_who_has_the_address_gets_the_page(server: tuple[subprocess.Popen[str], str]) -> None:
    _, address = server
    bare, port = address.partition("?")[0], address.split(":")[2].partition("/")[0]
    assert get(address)[0] == 200
    assert get(f"http://localhost:{port}/{address.rpartition('/')[2]}")[0] == 200
    for path in ("", "ws", "focus.js", "static/js/textual.js"):
        assert get(bare + path)[0] == 403
    assert get(f"{bare}?key=wrong")[0] == 403
    assert get(address, Host="example.org") == (403, "wrong host")
    assert get(address, Host=f"127.0.0.1.example.org:{port}") == (403, "wrong host")
    assert get(address, Origin="http://example.org") == (403, "wrong origin")
    assert "no key" in get(bare)[1]


def test_the_page_loads_nothing_from_elsewhere(server: tuple[subprocess.Popen[str], str]) -> None:
    page = get(server[1])[1]
    own = server[1].partition("//")[2].partition("/")[0]
    assert re.findall(r"\w+://([^/\"]*)", page) == [own]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
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


def test_a_port_that_is_taken_is_an_error(
    server: tuple[subprocess.Popen[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = server[1].split(":")[2].partition("/")[0]
    assert main(["browse", "--web", "--port", port, "--root", str(tmp_path)]) == UsageError.exit_code
    error = capsys.readouterr().err
    assert f"cannot listen on port {port}: Address already in use" in error
    assert "--port" in error


def test_without_the_extra_it_says_what_to_install(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "memcli.extras.tui.web", raising=False)
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    monkeypatch.setitem(sys.modules, "textual_serve.app_service", None)
    few(workspace)
    assert main(["browse", "--web", "--root", str(tmp_path)]) == UsageError.exit_code
    told = "memcli: browse --web needs the extra `web` (pip install '.[web]' in a clone of memcli)\n"
    assert capsys.readouterr().err == told


def test_without_the_extra_for_the_web_the_terminal_interface_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "memcli.extras.tui.app", raising=False)
    for name in ("aiohttp", "textual_serve", "memcli.extras.tui.web"):
        monkeypatch.setitem(sys.modules, name, None)
    assert importlib.import_module("memcli.extras.tui.app").Browser


def test_one_page_too_many_is_refused_until_another_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.tui.web.MAX_PAGES", 2)

    async def visit() -> None:
        with listen(0) as place:
            server = LocalServer(["head", "-c1"], "key", place)
            runner = web.AppRunner(await server._make_app())
            await runner.setup()
            await web.SockSite(runner, place).start()
            async with opened() as session:
                address = f"{server.address.partition('?')[0]}ws?key=key"
                async with session.ws_connect(address):
                    first = set(server._pages)
                    page = await session.ws_connect(address)
                    second = [task for task in server._pages - first if task]
                    with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
                        await session.ws_connect(address)
                    await page.close()
                    await asyncio.gather(*second)
                    async with session.ws_connect(address):
                        pass
            await runner.cleanup()

    asyncio.run(visit())
