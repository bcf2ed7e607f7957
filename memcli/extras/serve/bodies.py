"""Bodies: how much of one is taken, how deep and of what kind it may be.

Bounds: what a caller who is for some spaces only may ask for, and what such a caller gets of an answer.

Headers: what every response bears, and what a request must say of where it comes from.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import orjson

from memcli.errors import RefusedError, UsageError
from memcli.extras.serve.access import Caller
from memcli.extras.serve.problems import Rules
from memcli.model.references import elsewhere
from memcli.model.roles import JOURNAL, READER, SPACES, STORE
from memcli.record import Record
from memcli.settings import DEFAULT_SPACE, REPO, journal_of

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


_GRAPH = ("nodes", "edges")


def bound(verb: str, options: Mapping[str, Any], caller: Caller, rules: Rules) -> dict[str, Any]:
    """The options with the space that is meant. Raises RefusedError for what leads to another, UsageError."""
    reach = rules.reach(verb)
    if reach == SPACES:
        return dict(options)
    if reach == STORE:
        raise RefusedError(f"{verb} is about all spaces, and the token is for {_listed(caller)}", "use another token")
    space = options.get("space") or options.get("name") or (caller.spaces[0] if len(caller.spaces) == 1 else None)
    if space is None:
        raise UsageError("the token is for several spaces", f"name one: {_listed(caller)}")
    also = (
        *((journal_of(space),) if reach == JOURNAL else ()),
        *((DEFAULT_SPACE,) if space == REPO and rules.role(verb, options) != READER else ()),
    )
    if any(name not in caller.reach for name in (space, options.get("name") or space, *also)):
        raise RefusedError(f"this leads to other spaces than the token is for: {_listed(caller)}", "use another token")
    if any(_leads_away(value, caller.reach) for value in rules.references(verb, options)):
        raise RefusedError(f"the token is for {_listed(caller)}", "name memories of these spaces only")
    if _scope(options) == "global":
        raise RefusedError(f"the token is for {_listed(caller)}", "leave the scope out: global is the user-wide store")
    return {**options, "space": space, **({"no_global": True} if verb == "recall" else {})}


def _scope(options: Mapping[str, Any]) -> Any:
    """The scope of what is to be stored."""
    return next((given["scope"] for name in ("object", "set") if "scope" in (given := options.get(name) or {})), None)


def within(verb: str, value: Any, spaces: Collection[str]) -> Any:
    """What of an answer is of these spaces."""
    kept = _kept(value, spaces)
    return _graph(kept, spaces) if verb == "graph" and isinstance(kept, dict) else kept


def _kept(value: Any, spaces: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_kept(one, spaces) for one in value if not _is_of_another(one, spaces)]
    if isinstance(value, dict):
        return {name: _kept(one, spaces) for name, one in value.items() if not _is_foreign_name(one, spaces)}
    return value


def _is_of_another(value: Any, spaces: Collection[str]) -> bool:
    """Whether an entry of a list is of another space, or refers to one."""
    if isinstance(value, dict):
        space = value.get("space")
        return (isinstance(space, str) and space not in spaces) or any(
            _is_foreign_name(one, spaces)
            for name, one in value.items()
            if name in ("id", "to", "start", "end", "of", "from")
        )
    return _is_foreign_name(value, spaces)


def _is_foreign_name(value: Any, spaces: Collection[str]) -> bool:
    """Whether a text is the name of a memory of another space, as links have it."""
    if not isinstance(value, str) or ":mem_" not in value or " " in value:
        return False
    end = elsewhere(value)
    return end is not None and end[0] not in spaces


def _leads_away(value: Any, spaces: Collection[str]) -> bool:
    """Whether a reference among `value` names another space."""
    if isinstance(value, str):
        end = elsewhere(value)
        return end is not None and end[0] not in spaces
    if isinstance(value, list):
        return any(_leads_away(one, spaces) for one in value)
    if isinstance(value, Mapping):
        fields = ("to", "links", "superseded_by")
        return any(_leads_away(value.get(name), spaces) for name in fields)
    return False


def _graph(value: dict[str, Any], spaces: Collection[str]) -> dict[str, Any]:
    """A graph without memories of other spaces, and without the tags and clusters that only they are in."""
    nodes, edges = (list(value.get(name, ())) for name in _GRAPH)
    memories = {node["id"] for node in nodes if node.get("space") in spaces}
    own = [edge for edge in edges if edge["start"] in memories]
    others = {node["id"] for node in nodes if "space" not in node} & {edge["end"] for edge in own}
    shown = memories | others
    kept = {"nodes": [node for node in nodes if node["id"] in shown], "edges": [e for e in own if e["end"] in shown]}
    for node in kept["nodes"]:
        if "members" in node:
            node["members"] = sum(edge["end"] == node["id"] for edge in kept["edges"])
    return {**value, **kept}


def _listed(caller: Caller) -> str:
    return ", ".join(caller.spaces)


_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
MAX_HEAD = 32 << 10
"""The most bytes that the head of a request has."""
SECURITY_HEADERS = [
    (b"content-security-policy", _CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # under no-referrer, browsers send forms with the origin null
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]
HOSTS = ("127.0.0.1", "localhost", "[::1]")
_FROM_HERE = ("same-origin", "none")


def hosts(port: int) -> frozenset[str]:
    """The values of Host that mean this server."""
    return frozenset(f"{host}:{port}" for host in HOSTS)


def head(pairs: Sequence[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """The headers of a request by name. Of one that is there twice, the last; Host must be there once."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}


def is_from_elsewhere(headers: Mapping[str, str], host: str, method: str) -> bool:
    """Whether a page of another origin sent the request. A link that somebody follows is no such thing."""
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        return True
    site = headers.get("sec-fetch-site", "none")
    is_followed = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    return site not in _FROM_HERE and not is_followed
