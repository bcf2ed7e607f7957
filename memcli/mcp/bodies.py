"""The bodies of HTTP requests, checked before the SDK reads them: its errors repeat what it could not read."""

from __future__ import annotations

from typing import Any

from memcli.mcp.messages import RequestError, encode_message, parse_message


class CheckedBodies:
    """An application that answers what is no message, and passes on the rest."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body, is_whole = b"", False
        while not is_whole:
            event = await receive()
            if event["type"] != "http.request":
                return  # the client has gone
            body += event.get("body", b"")
            is_whole = not event.get("more_body", False)
        try:
            parse_message(body)
        except RequestError as error:
            await _answer(send, encode_message(error.answer(error.request_id)))
            return
        events = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Any:
            return events.pop() if events else await receive()

        await self._app(scope, replay, send)


async def _answer(send: Any, line: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(line)).encode())]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": line})
