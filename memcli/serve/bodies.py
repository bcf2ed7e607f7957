"""Bodies: how much of one is taken, how deep and of what kind it may be."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import orjson

from memcli.record import Record

MAX_BODY = 1 << 20
MAX_DEPTH = 64
BODY_SECONDS = 10.0
JSON_TYPES = ("application/json", "application/merge-patch+json")
FORM = "application/x-www-form-urlencoded"
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")

_MOST_DROPPED = 1 << 24
"""A body up to this many bytes is read to its end before it is refused: who is still sending does not see the answer."""

Receive = Callable[[], Awaitable[Any]]


class Refusal(Record):
    """Why a request is not taken."""

    status: HTTPStatus
    title: str
    code: str = "usage"
    hint: str = ""
    is_last: bool = False
    """Whether the connection ends with it, because the rest of the request is not read."""


async def read_body(headers: Mapping[str, str], receive: Receive, limit: int = MAX_BODY) -> bytes | Refusal:
    """The whole body, or why it is refused."""
    too_large = Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {limit} bytes", "usage", "split it", is_last=True
    )
    declared = headers.get("content-length", "0")
    if declared.isdecimal() and (length := int(declared[:20])) > limit:
        if length <= _MOST_DROPPED:
            await _drop(receive)
        return too_large
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return b""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return Refusal(HTTPStatus.BAD_REQUEST, "the request ended before its body", is_last=True)
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limit:
                    return too_large
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        return Refusal(HTTPStatus.REQUEST_TIMEOUT, f"no body within {BODY_SECONDS:g} s", is_last=True)


def check_body(body: bytes, content_type: str, *, takes_form: bool) -> Refusal | None:
    """Why a body that was read is refused."""
    kind = content_type.partition(";")[0].strip().lower()
    if body and kind not in JSON_TYPES and not (takes_form and kind == FORM):
        hint = f"send {FORM if takes_form else JSON_TYPES[0]}"
        return Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body has a type that is not taken here", hint=hint)
    if not body or kind not in JSON_TYPES:
        return None
    if is_deep(body):
        return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"the body is nested deeper than {MAX_DEPTH} levels")
    try:
        orjson.loads(body)  # stricter than the parser of the routes: no NaN, no half of a character
    except ValueError:
        return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "the body is not JSON in UTF-8")
    return None


def is_deep(body: bytes) -> bool:
    """Whether JSON is nested deeper than is taken. What is no JSON may be either."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _BRACKETS.findall(_TEXTS.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


async def _drop(receive: Receive) -> None:
    """Reads a body without keeping it, for a while."""
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_SECONDS):
            while (await receive()).get("more_body"):
                pass
