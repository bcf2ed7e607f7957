"""The terminal interface in a web browser on the loopback: textual-serve, for one person.

Only those who have the address with its key can connect; other names of the machine and other pages cannot (Host and Origin
are checked). The page loads nothing from elsewhere. When the server ends, so do the processes of its pages.
"""

from __future__ import annotations

import asyncio
import hmac
import shlex
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.server import Server

from memcli.errors import UsageError

HOST = "127.0.0.1"
_COOKIE = "memcli_browse"
_SECONDS = 5.0
"""How long the process of a page may take to end by itself."""
MAX_PAGES = 8
"""The most pages that are open at once: each has a process."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>memcli</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/css/xterm.css">
<style>
  html, body {{ margin: 0; height: 100%; background: #121212; color: #e0e0e0; font-family: monospace; }}
  #terminal {{ position: absolute; inset: 0; }}
  #closed {{ display: none; position: absolute; inset: 0; z-index: 10; background: #121212; padding: 2em; }}
  body.-closed #closed {{ display: block; }}
  a {{ color: #7fb4ff; }}
</style>
<script src="/static/js/textual.js"></script>
<script src="/focus.js"></script>
</head>
<body>
<div id="closed" role="status">memcli browse has ended. <a href="/">Open it again</a></div>
<div id="terminal" class="textual-terminal" data-session-websocket-url="ws://{host}/ws" data-font-size="16"></div>
</body>
</html>
"""
_FOCUS = """new MutationObserver((_, watcher) => {
  const field = document.querySelector(".xterm-helper-textarea");
  if (field && document.body.classList.contains("-first-byte")) { field.focus(); watcher.disconnect(); }
}).observe(document, { subtree: true, childList: true, attributes: true });
"""
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def listen(port: int) -> socket.socket:
    """A socket on the loopback alone; 0 is any port. Raises UsageError."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise UsageError(f"cannot listen on port {port}: {error.strerror}", "choose another with --port") from None


class LocalServer(Server):
    """Runs a command for each page, and shows it there. `key` must be in the address of the first request."""

    def __init__(self, command: Sequence[str], key: str, place: socket.socket) -> None:
        super().__init__(f"exec {shlex.join(command)}", HOST, place.getsockname()[1], "memcli")
        self._key = key
        self._place = place
        self._pages: set[asyncio.Task[None] | None] = set()
        self._ends: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """The address to open, with the key."""
        return f"http://{HOST}:{self.port}/?key={self._key}"

    def run(self) -> None:
        """Serves until SIGINT or SIGTERM, then ends all pages."""
        web.run_app(self._make_app(), sock=self._place, print=None, access_log=None, shutdown_timeout=_SECONDS)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()

        async def focus(_: web.Request) -> web.Response:
            return web.Response(text=_FOCUS, content_type="text/javascript")

        @web.middleware
        async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
            """Refuses requests to another host, from another page, or without the key."""
            if request.host not in (f"{HOST}:{self.port}", f"localhost:{self.port}"):
                raise web.HTTPForbidden(text="wrong host")
            if request.headers.get("Origin", f"http://{request.host}") != f"http://{request.host}":
                raise web.HTTPForbidden(text="wrong origin")
            given = (
                request.query.get("key", ""),
                request.cookies.get(_COOKIE, ""),
            )  # a cookie may be of another server
            if not any(hmac.compare_digest(one.encode(), self._key.encode()) for one in given):
                raise web.HTTPForbidden(text="no key: open the address that `memcli browse --web` printed")
            response = await handler(request)
            if not response.prepared:
                response.headers["Content-Security-Policy"] = _POLICY.format(host=request.host)
                response.headers["Referrer-Policy"] = "no-referrer"
                response.headers["X-Content-Type-Options"] = "nosniff"
            return response

        app.middlewares.append(guard)
        app.router.add_get("/focus.js", focus)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Prints nothing: the caller of the server prints its address."""

    async def on_shutdown(self, app: web.Application) -> None:  # noqa: ARG002 - as the server calls it
        """Ends the pages that are open, and waits for every process of one."""
        pages = [task for task in self._pages if task]
        for task in pages:
            task.cancel()
        await asyncio.gather(*pages, return_exceptions=True)
        await asyncio.gather(*self._ends)  # of pages that were closing: to cancel them has left their processes behind

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """The page; the key goes from the address into a cookie."""
        if "key" in request.query:
            response: web.Response = web.HTTPSeeOther("/")
        else:
            response = web.Response(text=_PAGE.format(host=request.host), content_type="text/html")
        response.set_cookie(_COOKIE, self._key, httponly=True, samesite="Strict", path="/")
        return response

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Runs the command for a page, as long as that is open. Refuses one too many."""
        task = asyncio.current_task()
        if len(self._pages) >= MAX_PAGES:
            raise web.HTTPServiceUnavailable(text=f"{MAX_PAGES} pages are open: close one")
        self._pages.add(task)
        try:
            return await self._show(request)
        finally:
            self._pages.discard(task)

    async def _show(self, request: web.Request) -> web.WebSocketResponse:
        page = web.WebSocketResponse(heartbeat=15)
        await page.prepare(request)
        service = AppService(
            self.command,
            write_bytes=page.send_bytes,
            write_str=page.send_str,
            close=page.close,  # type: ignore[arg-type]
            download_manager=self.download_manager,
        )
        try:
            await service.start(_number(request, "width", 80), _number(request, "height", 24))
            await self._process_messages(page, service)
        finally:
            end = asyncio.create_task(_end(service))
            self._ends.add(end)
            end.add_done_callback(self._ends.discard)
            await asyncio.shield(end)
        return page


def _number(request: web.Request, name: str, default: int) -> int:
    text = request.query.get(name, "")
    return min(int(text), 1000) if text.isascii() and text.isdigit() else default


async def _end(service: AppService) -> None:
    """Asks the process to quit, and makes it end when it does not."""
    with suppress(Exception):  # whatever a broken connection raises, the process has to go
        async with asyncio.timeout(_SECONDS / 2):
            await service.stop()
    process = service._process
    if process is None:
        return
    try:
        async with asyncio.timeout(_SECONDS / 2):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
