"""The Model Context Protocol without the SDK: its messages, which are JSON-RPC, its methods, and the results of these, which
are the same over standard input and over HTTP. Long results come in pages.

Clients of the versions up to 2025 begin with `initialize`. From 2026-07-28 on they do without: each request names its
version, and its result says a little more.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn
from urllib.parse import unquote

from memcli import __version__
from memcli.cli.output import as_error, on_one_line
from memcli.errors import NotFoundError, UsageError
from memcli.extras.mcp.offer import CURSOR, INSTRUCTIONS, Offer, Resource
from memcli.model.tokens import cut_tokens, end_of_tokens
from memcli.record import Record

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, UNSUPPORTED_VERSION = -32603, -32022
_MOST_DIGITS = 4_300
"""Python converts no more by default, since the time grows with the square."""

Id = int | str


class RequestError(Exception):
    """A request that is answered by an error. `request_id` is None where it cannot be known."""

    def __init__(self, code: int, message: str, data: Any = None, request_id: Id | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data, self.request_id = code, message, data, request_id

    def answer(self, request_id: Id | None) -> dict[str, Any]:
        """The answer to the request."""
        error = {"code": self.code, "message": self.message, **({} if self.data is None else {"data": self.data})}
        return {"jsonrpc": "2.0", "id": request_id, "error": error}


class Incoming(Record, kw_only=True):
    """A message of the client: a request, a notification, which has no id, or a reply, which has no method. `result` is
    that of a reply, None for an error."""

    id: Id | None = None
    method: str = ""
    params: Mapping[str, Any]
    result: Any = None


def encode_message(message: Mapping[str, Any]) -> bytes:
    """The line of a message."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def parse_message(line: bytes) -> Incoming:
    """The message on a line. Raises RequestError, which knows the id of the request if the line shows it."""
    numbers: list[str] = []

    def whole(digits: str) -> int | None:
        if len(digits) <= _MOST_DIGITS:
            return int(digits)
        numbers.append(digits)
        return None

    try:
        found = json.loads(line.decode(), parse_int=whole, parse_constant=_refuse)
        is_text = b"\\ud" not in line.lower() or _is_text(found)
    except UnicodeDecodeError:
        raise RequestError(PARSE_ERROR, "parse error: not valid UTF-8") from None
    except RecursionError:
        raise RequestError(PARSE_ERROR, "parse error: nested too deeply") from None
    except ValueError as error:
        raise RequestError(PARSE_ERROR, f"parse error: {error}") from None
    if not isinstance(found, dict):
        known = "send each message on a line of its own" if isinstance(found, list) else "a message is a JSON object"
        raise RequestError(INVALID_REQUEST, f"invalid request: {known}")
    number, method, params = found.get("id"), found.get("method"), found.get("params")
    request_id = number if type(number) in (int, str) and _is_text(number) else None
    if found.get("jsonrpc") != "2.0":
        raise RequestError(INVALID_REQUEST, 'invalid request: jsonrpc must be "2.0"', request_id=request_id)
    if "method" not in found and ("result" in found or "error" in found):
        return Incoming(id=request_id, params={}, result=found.get("result"))
    if not isinstance(method, str):
        raise RequestError(INVALID_REQUEST, "invalid request: method must be text", request_id=request_id)
    if "id" in found and request_id is None:
        raise RequestError(INVALID_REQUEST, "invalid request: id must be text or a whole number")
    problem = (
        "a string has half of a surrogate pair" if not is_text
        else f"a number has more than {_MOST_DIGITS:,} digits" if numbers
        else "params must be an object" if not isinstance(params, dict | None)
        else ""
    )  # fmt: skip
    if problem and request_id is None:  # notifications are never answered
        return Incoming(method="notifications/invalid", params={})
    if problem:
        raise RequestError(INVALID_PARAMS, f"invalid params: {problem}", request_id=request_id)
    return Incoming(id=request_id, method=method, params=params or {})


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _is_text(value: Any) -> bool:
    """Whether UTF-8 can write all strings in a value. Raises RecursionError."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


MOST_TOKENS = 8_000
"""The most that one result has; the rest is on further pages."""
_NOTE_TOKENS = 100
"""For the line that has the cursor."""
_ERROR_TOKENS = 1_000
_MOST_KEPT, _MOST_CHARACTERS = 8, 1 << 26
_KEPT_SECONDS = 600.0
_DIGEST = 8
_QUERY = f"?{CURSOR}="


class _Kept(Record):
    """A result of several pages: what asked for it, its text, the state of the memory then, and the time."""

    key: str
    text: str
    state: object
    since: float


class ResultPages:
    """The pages of results. What does not fit on one is kept until the memory changes, for some minutes: a further page
    repeats no search."""

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._kept: dict[str, _Kept] = {}

    def read(self, key: str, cursor: Any, run: Callable[[], str], how: str, *, writes: bool = False) -> str:
        """The first page of what `run` gives for a request with this `key`, or the page of it that `cursor` leads to. If there
        is more, its last line says `how` to get there, with the next cursor in the place of `%s`. `run` may change the memory
        itself if it `writes`. Raises UsageError."""
        if cursor:
            digest, start, kept = self._at(key, str(cursor))
            return _page(kept.text, start, digest, how)
        state = self._state()
        text = run()
        digest = hashlib.sha256(f"{key}\n{text}".encode("utf-8", "replace")).hexdigest()[:_DIGEST]
        first = _page(text, 0, digest, how)
        if first != text:
            self._kept.pop(digest, None)
            self._kept[digest] = _Kept(key, text, self._state() if writes else state, time.monotonic())
            while len(self._kept) > 1 and (
                len(self._kept) > _MOST_KEPT or sum(len(one.text) for one in self._kept.values()) > _MOST_CHARACTERS
            ):
                del self._kept[next(iter(self._kept))]  # the oldest
        return first

    def _at(self, key: str, cursor: str) -> tuple[str, int, _Kept]:
        number, _, digest = cursor.partition("-")
        if not (number.isascii() and number.isdigit() and len(number) < _SHOWN):
            raise UsageError(f"no {CURSOR} {cursor[:_SHOWN]!r}", "use the one at the end of a result, or none")
        state, now = self._state(), time.monotonic()
        self._kept = {
            digest: one for digest, one in self._kept.items() if one.state == state and now - one.since < _KEPT_SECONDS
        }
        kept = self._kept.get(digest)
        if kept is None:
            raise UsageError(
                f"the result of this {CURSOR} is no longer kept: the memory changed, or some time has passed",
                f"call again without a {CURSOR}",
            )
        if kept.key != key or int(number) >= len(kept.text):
            raise UsageError(f"the {CURSOR} belongs to another call", f"repeat the arguments, or omit the {CURSOR}")
        return digest, int(number), kept


def _page(text: str, start: int, digest: str, how: str) -> str:
    """As many lines of `text` from `start` as fit into a result; if there is more, its last line says how to get there."""
    if end_of_tokens(text, MOST_TOKENS, start) == len(text):
        return text[start:]
    end = end_of_tokens(text, MOST_TOKENS - _NOTE_TOKENS, start)
    line = text.rfind("\n", start, end) + 1
    if line > start:
        end = line
    elif end == start:  # a word of more than a page
        end = min(len(text), start + MOST_TOKENS // 2)
    return f"{text[start:end]}\n[There is more: {how % f'{end}-{digest}'}.]"


_SHOWN = 40
"""How much of a wrong name an error repeats."""


SERVER = {"name": "memcli", "version": __version__}
Result = dict[str, Any]


class Results:
    """Makes the results of what is offered. `admit` is called before a call, with whether it writes; what it raises is
    reported as what a tool raises."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._tools = {tool.name: tool for tool in offer.tools}
        self._pages = ResultPages(offer.calls.state)

    def tools(self) -> Result:
        """The list of tools."""
        listed = [
            {
                "name": tool.name, "description": tool.description, "inputSchema": tool.schema(),
                "annotations": {
                    "readOnlyHint": tool.reads_only, "destructiveHint": tool.destroys,
                    "idempotentHint": tool.is_idempotent, "openWorldHint": False,
                },
                **({"_meta": {"anthropic/alwaysLoad": True}} if tool.is_always_loaded else {}),
            }
            for tool in self._offer.tools
        ]  # fmt: skip
        return {"tools": listed}

    def resources(self) -> Result:
        """The list of resources that are no templates."""
        return {"resources": [_resource(one, "uri") for one in self._offer.resources if not one.is_template]}

    def templates(self) -> Result:
        """The list of templates of resources."""
        return {
            "resourceTemplates": [_resource(one, "uriTemplate") for one in self._offer.resources if one.is_template]
        }

    def prompts(self) -> Result:
        """The list of prompts."""
        prompt = self._offer.prompt
        arguments = [
            {"name": name, "description": one["description"], "required": name in prompt.required}
            for name, one in prompt.properties.items()
        ]
        return {"prompts": [{"name": prompt.name, "description": prompt.description, "arguments": arguments}]}

    def call_tool(
        self, name: str, arguments: Mapping[str, Any], admit: Callable[[bool], None] = lambda _: None
    ) -> Result:
        """A page of what a tool answers, or the error in a line."""
        tool = self._tools.get(name)
        try:
            admit(tool is not None and not tool.reads_only)
            if tool is None:
                raise NotFoundError(f"no tool {name[:_SHOWN]!r}", f"tools: {', '.join(self._tools)}")
            given = {key: value for key, value in arguments.items() if key != CURSOR}
            key = json.dumps([name, given], sort_keys=True)
            how = f'call again with {CURSOR} "%s"'
            text = self._pages.read(
                key, arguments.get(CURSOR), lambda: tool.call(given), how, writes=not tool.reads_only
            )
        except Exception as error:  # noqa: BLE001 - an agent is told of every error, in words
            return {"content": [{"type": "text", "text": _report(error)}], "isError": True}
        return {"content": [{"type": "text", "text": text}], "isError": False}

    def read_resource(self, uri: str, admit: Callable[[bool], None] = lambda _: None) -> Result:
        """A page of the text of a resource. Raises RequestError."""
        with _reported():
            admit(False)
            name, _, cursor = uri.partition(_QUERY)
            one, value = self._find(name)
            how = f'read this resource with "{_QUERY}%s" at the end of its URI'
            text = self._pages.read(name, cursor, lambda: one.read(value), how)
        return {"contents": [{"uri": uri, "mimeType": one.mime_type, "text": text}]}

    def get_prompt(
        self, name: str, arguments: Mapping[str, Any], admit: Callable[[bool], None] = lambda _: None
    ) -> Result:
        """The message of the prompt, which users ask for: it has no further pages. Raises RequestError."""
        prompt = self._offer.prompt
        with _reported():
            admit(False)
            if name != prompt.name:
                raise NotFoundError(f"no prompt {name[:_SHOWN]!r}", f"there is {prompt.name}")
            text = cut_tokens(prompt.call(arguments), MOST_TOKENS - _NOTE_TOKENS)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": prompt.description, "messages": [message]}

    def _find(self, uri: str) -> tuple[Resource, str]:
        """The resource with this URI, and the value in it. Raises NotFoundError."""
        for one in self._offer.resources:
            start = one.uri.partition("{")[0]
            if uri == one.uri or (one.is_template and uri.startswith(start) and len(uri) > len(start)):
                return one, unquote(uri[len(start) :])
        known = ", ".join(one.uri for one in self._offer.resources)
        raise NotFoundError(f"no resource {uri[:_SHOWN]!r}", f"resources: {known}")


def _report(error: Exception) -> str:
    """An error in a line."""
    return cut_tokens(on_one_line(as_error(error)), _ERROR_TOKENS)


@contextmanager
def _reported() -> Iterator[None]:
    """Around the work of a request that has no place for errors in its result. Raises RequestError for each."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - an agent is told of every error, in words
        raise RequestError(INVALID_PARAMS, _report(error)) from None


def _resource(one: Resource, key: str) -> Result:
    return {key: one.uri, "name": one.name, "description": one.description, "mimeType": one.mime_type}


_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_VERSION_OF_REQUESTS = "2026-07-28"
_KEY = "io.modelcontextprotocol/"
_KNOWN = {
    "capabilities": {
        "prompts": {"listChanged": False}, "resources": {"listChanged": False, "subscribe": False},
        "tools": {"listChanged": False},
    },
    "instructions": INSTRUCTIONS,
}  # fmt: skip


class Requested(Record, kw_only=True):
    """What a request asks for. `run` makes the result, and raises RequestError. `is_long` when it reads or writes the
    memory. `has_handshake` when the client began with one."""

    run: Callable[[], Result]
    is_long: bool
    has_handshake: bool


def find_request(results: Results, message: Incoming) -> Requested:
    """What a request asks for. Raises RequestError."""
    method, params = message.method, message.params
    has_handshake = method == "initialize" or not _names_version(params)
    run: Callable[[], Result]
    match method:
        case "tools/call":
            run = partial(results.call_tool, _text(params, "name"), _arguments(params))
        case "resources/read":
            run = partial(results.read_resource, _text(params, "uri"))
        case "prompts/get":
            run = partial(results.get_prompt, _text(params, "name"), _arguments(params))
        case "initialize":
            run = partial(_initialize, params)
        case "server/discover" if has_handshake:
            raise RequestError(INVALID_PARAMS, f"invalid params: _meta needs {_KEY}protocolVersion")
        case "server/discover":
            run = partial(dict, _KNOWN, supportedVersions=[_VERSION_OF_REQUESTS])
        case "ping":
            run = dict
        case "tools/list":
            run = results.tools
        case "resources/list":
            run = results.resources
        case "resources/templates/list":
            run = results.templates
        case "prompts/list":
            run = results.prompts
        case _:
            raise RequestError(METHOD_NOT_FOUND, "Method not found", method)
    return Requested(
        run=run if has_handshake else lambda: _completed(run(), method),
        is_long=method in ("tools/call", "resources/read", "prompts/get"),
        has_handshake=has_handshake,
    )


def _initialize(params: Mapping[str, Any]) -> Result:
    version = _text(params, "protocolVersion")
    if not isinstance(params.get("capabilities"), dict) or not isinstance(params.get("clientInfo"), dict):
        raise RequestError(INVALID_PARAMS, "invalid params: capabilities and clientInfo must be objects")
    spoken = version if version in _VERSIONS else _VERSIONS[-1]
    return {"protocolVersion": spoken, **_KNOWN, "serverInfo": SERVER}


def _names_version(params: Mapping[str, Any]) -> bool:
    """Whether a request names its version, as those without a handshake do. Raises RequestError if that is not spoken."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or f"{_KEY}protocolVersion" not in meta:
        return False
    version = meta[f"{_KEY}protocolVersion"]
    if not isinstance(version, str) or f"{_KEY}clientCapabilities" not in meta:
        raise RequestError(
            INVALID_PARAMS, f"invalid params: _meta needs {_KEY}protocolVersion, a text, and {_KEY}clientCapabilities"
        )
    if version != _VERSION_OF_REQUESTS:
        spoken = {"supported": [_VERSION_OF_REQUESTS], "requested": version}
        raise RequestError(UNSUPPORTED_VERSION, "Unsupported protocol version", spoken)
    return True


def _completed(result: Result, method: str) -> Result:
    """The result with what a client without a handshake reads in it."""
    is_cacheable = method not in ("tools/call", "prompts/get")
    hint = {"cacheScope": "private", "ttlMs": 0} if is_cacheable else {}
    return {**result, **hint, "resultType": "complete", "_meta": {f"{_KEY}serverInfo": SERVER}}


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise RequestError(INVALID_PARAMS, f"invalid params: {name} must be text")
    return value


def _arguments(params: Mapping[str, Any]) -> Mapping[str, Any]:
    value = params.get("arguments")
    if not isinstance(value, dict | None):
        raise RequestError(INVALID_PARAMS, "invalid params: arguments must be an object")
    return value or {}
