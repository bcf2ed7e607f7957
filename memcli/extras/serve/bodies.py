"""Checks of requests: the size, depth and media type of a body, and the headers that name its origin; and the headers that
every response has."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import orjson

from memcli.extras.serve.problems import CLOSING, Problem

MAX_BODY = 1 << 20
MAX_DEPTH = 64
BODY_SECONDS = 10.0
JSON_TYPES = ("application/json", "application/merge-patch+json")
FORM = "application/x-www-form-urlencoded"
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")

# A body of up to this many bytes is read to its end before it is refused: a client that still sends does not read the
# response.
_MOST_DROPPED = 1 << 24

Receive = Callable[[], Awaitable[Any]]


async def read_body(headers: Mapping[str, str], receive: Receive, limit: int = MAX_BODY) -> bytes | Problem:
    """Reads the whole body. Returns a problem instead if it has more than `limit` bytes, is incomplete, or does not arrive
    within BODY_SECONDS."""
    too_large = Problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {limit} bytes", "usage", "split it", CLOSING
    )
    declared = headers.get("content-length", "0")
    # Python refuses to convert thousands of digits; twenty are more than any limit.
    if declared.isdecimal() and (length := int(declared[:20])) > limit:
        if length <= _MOST_DROPPED:
            with suppress(TimeoutError):
                async with asyncio.timeout(BODY_SECONDS):
                    while (await receive()).get("more_body"):
                        pass
        return too_large
    # A request with neither of these headers has no body (RFC 9112, 6.3).
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return b""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    title = "the request ended before its body"
                    return Problem(HTTPStatus.BAD_REQUEST, title, "usage", headers=CLOSING)
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limit:
                    return too_large
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        title = f"no body within {BODY_SECONDS:g} s"
        return Problem(HTTPStatus.REQUEST_TIMEOUT, title, "usage", headers=CLOSING)


def check_body(body: bytes, content_type: str, *, takes_form: bool) -> Problem | None:
    """Why a body is refused; None if it is not."""
    kind = content_type.partition(";")[0].strip().lower()
    if body and kind not in JSON_TYPES and not (takes_form and kind == FORM):
        hint = f"send {FORM if takes_form else JSON_TYPES[0]}"
        return Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body has a type that is not taken here", "usage", hint)
    if not body or kind not in JSON_TYPES:
        return None
    # Before the routes parse it: Python's parser raises RecursionError for what is nested too deeply.
    if is_deep(body):
        title = f"the body is nested deeper than {MAX_DEPTH} levels"
        return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, title, "usage")
    try:
        orjson.loads(body)  # stricter than the parser of the routes: no NaN, no half of a character
    except ValueError:
        return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "the body is not JSON in UTF-8", "usage")
    return None


def is_deep(body: bytes) -> bool:
    """Whether JSON is nested deeper than MAX_DEPTH. Of text that is not JSON, the result means nothing."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0  # brackets in strings do not count
    for bracket in _BRACKETS.findall(_TEXTS.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
MAX_HEAD = 32 << 10
"""The most bytes in the head of a request: its target and its headers."""
SECURITY_HEADERS = [
    (b"content-security-policy", _CSP.encode()),
    # A stored text must not be run as a script or a page, whatever it looks like.
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # under no-referrer, browsers send forms with the origin null
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]
HOSTS = ("127.0.0.1", "localhost", "[::1]")
_FROM_HERE = ("same-origin", "none")


def head(pairs: Sequence[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """The headers of a request by name. A repeated one has its last value; the gate refuses a repeated Host."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}


def is_from_elsewhere(headers: Mapping[str, str], host: str, method: str) -> bool:
    """Whether a page of another origin sent the request. A GET that follows a link there does not count."""
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        return True
    # Programs, and browsers that do not name the site, send no such header: for those the origin and the token decide.
    site = headers.get("sec-fetch-site", "none")
    is_followed = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    return site not in _FROM_HERE and not is_followed
