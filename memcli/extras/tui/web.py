"""The terminal interface in a web browser on the loopback interface: textual-serve for one person.

A client needs the key in the printed address; requests for other host names or from other pages are refused (Host and Origin are
checked). The page loads nothing from elsewhere. When the server ends, so do the processes of its pages.
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
"""How long the process of a page may take to end after a request to quit."""
# The most pages at once: each has a process.
MAX_PAGES = 8
# Styles are inline in the page; scripts are only in files.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Not the page of textual-serve, which loads a font from Google.
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
# The terminal takes keys only once it has the focus: without this script, only after a click.
_FOCUS = """new MutationObserver((_, watcher) => {
  const field = document.querySelector(".xterm-helper-textarea");
  if (field && document.body.classList.contains("-first-byte")) { field.focus(); watcher.disconnect(); }
}).observe(document, { subtree: true, childList: true, attributes: true });
"""
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def listen(port: int) -> socket.socket:
    """A listening socket on the loopback interface; port 0 picks a free one. Raises UsageError."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise UsageError(f"cannot listen on port {port}: {error.strerror}", "choose another with --port") from None


class LocalServer(Server):
    """Runs a command for each page, and shows its screen there. `key` must be in the address of the first request."""

    def __init__(self, command: Sequence[str], key: str, place: socket.socket) -> None:
        # Pages run the command in a shell: with `exec` it replaces the shell, so that it is what a page ends.
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
            # A page of another site can make a browser send requests here under a name of its own (DNS rebinding).
            if request.host not in (f"{HOST}:{self.port}", f"localhost:{self.port}"):
                raise web.HTTPForbidden(text="wrong host")
            if request.headers.get("Origin", f"http://{request.host}") != f"http://{request.host}":
                raise web.HTTPForbidden(text="wrong origin")
            # One of both is enough: a browser sends the cookie of another server on this machine, too.
            given = (request.query.get("key", ""), request.cookies.get(_COOKIE, ""))
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
        """Ends all pages, and waits for their processes."""
        pages = [task for task in self._pages if task]
        for task in pages:
            task.cancel()
        await asyncio.gather(*pages, return_exceptions=True)
        # Pages that were closing already: cancelled a second time, they would leave their processes behind.
        await asyncio.gather(*self._ends)

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """The page. A request with the key stores it in a cookie, and is redirected to the address without it."""
        if "key" in request.query:
            response: web.Response = web.HTTPSeeOther("/")
        else:
            response = web.Response(text=_PAGE.format(host=request.host), content_type="text/html")
        response.set_cookie(_COOKIE, self._key, httponly=True, samesite="Strict", path="/")
        return response

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Runs the command for a page until that closes. Refuses more than MAX_PAGES."""
        task = asyncio.current_task()
        if len(self._pages) >= MAX_PAGES:
            raise web.HTTPServiceUnavailable(text=f"{MAX_PAGES} pages are open: close one")
        self._pages.add(task)
        try:
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
                # A task of its own, which goes on if the task of the page is cancelled a second time.
                end = asyncio.create_task(_end(service))
                self._ends.add(end)
                end.add_done_callback(self._ends.discard)
                await asyncio.shield(end)
        finally:
            self._pages.discard(task)
        return page


def _number(request: web.Request, name: str, default: int) -> int:
    """The width or the height of a terminal from the address, 1,000 at most."""
    text = request.query.get(name, "")
    return min(int(text), 1000) if text.isascii() and text.isdigit() else default


async def _end(service: AppService) -> None:
    """Asks the process of a page to quit, and kills it if it does not."""
    with suppress(Exception):  # whatever a broken connection raises, the process has to go
        async with asyncio.timeout(_SECONDS / 2):
            await service.stop()
    process = service._process  # AppService has no method that waits for the process
    if process is None:
        return
    try:
        async with asyncio.timeout(_SECONDS / 2):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
