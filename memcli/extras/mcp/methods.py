"""The Model Context Protocol without the SDK: its messages (JSON-RPC 2.0), its methods, and their results, which are the same
over standard input and over HTTP. Long results have pages.

Clients of the versions up to 2025 begin with the request `initialize`. From 2026-07-28 on there is no such handshake: each request
names its version, and each result has a few more fields.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import unquote

from memcli import __version__
from memcli.cli.output import as_error, on_one_line
from memcli.codec.canonical import refuse_constant
from memcli.errors import NotFoundError, UsageError
from memcli.extras.mcp.offer import CURSOR, INSTRUCTIONS, Offer
from memcli.model.tokens import cut_tokens, end_of_tokens
from memcli.record import Record

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, UNSUPPORTED_VERSION = -32603, -32022
# Python converts no longer numbers by default, since the time grows with the square of their digits.
_MOST_DIGITS = 4_300

Id = int | str


class RequestError(Exception):
    """A request that is answered with an error. `request_id` is None if it cannot be read."""

    def __init__(self, code: int, message: str, data: Any = None, request_id: Id | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data, self.request_id = code, message, data, request_id

    def answer(self, request_id: Id | None) -> dict[str, Any]:
        """The message that reports the error."""
        error = {"code": self.code, "message": self.message, **({} if self.data is None else {"data": self.data})}
        return {"jsonrpc": "2.0", "id": request_id, "error": error}


class Incoming(Record, kw_only=True):
    """A message of the client: a request, a notification, which has no id, or a response, which has no method. `result` is
    that of a response, None for an error."""

    id: Id | None = None
    method: str = ""
    params: Mapping[str, Any]
    result: Any = None


def encode_message(message: Mapping[str, Any]) -> bytes:
    """A message as a line of JSON in UTF-8."""
    # A stored text may have half of a surrogate pair, which UTF-8 cannot encode: a "?" stands for it.
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def parse_message(line: bytes) -> Incoming:
    """The message on a line. Raises RequestError, with the id of the request if it can be read."""
    numbers: list[str] = []

    def whole(digits: str) -> int | None:
        if len(digits) <= _MOST_DIGITS:
            return int(digits)
        numbers.append(digits)
        return None

    try:
        found = json.loads(line.decode(), parse_int=whole, parse_constant=refuse_constant)
        # An escape such as \ud800 is valid JSON, but half of a surrogate pair has no form in UTF-8.
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
    if problem and request_id is None:  # JSON-RPC: a notification has no response
        return Incoming(method="notifications/invalid", params={})
    if problem:
        raise RequestError(INVALID_PARAMS, f"invalid params: {problem}", request_id=request_id)
    return Incoming(id=request_id, method=method, params=params or {})


def _is_text(value: Any) -> bool:
    """Whether UTF-8 can encode all strings in a value. Raises RecursionError."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


# Claude Code warns of results above 10,000 tokens, and cuts them above 25,000.
MOST_TOKENS = 8_000
"""The most tokens in one result; the rest is on further pages."""
_NOTE_TOKENS = 100
"""Tokens of a page that the line with the cursor may have."""
_ERROR_TOKENS = 1_000
_MOST_STORED, _MOST_CHARACTERS = 8, 1 << 26
_STORED_SECONDS = 600.0
_DIGEST = 8
_QUERY = f"?{CURSOR}="


class _LongResult(Record):
    """A result of several pages: the key of its request, its text, the state of the memory, and the time in seconds."""

    key: str
    text: str
    state: object
    since: float


class ResultPages:
    """The pages of results. A result of several pages is stored until the memory changes, but for some minutes at most, so
    that a further page neither repeats a search nor runs a tool that writes again."""

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._stored: dict[str, _LongResult] = {}

    def read(self, key: str, cursor: Any, run: Callable[[], str], how: str, *, writes: bool = False) -> str:
        """The first page of the result of `run` for a request with this `key`, or the page at `cursor`.

        If there is more, the last line of the page explains `how` to read it, with the next cursor in place of `%s`. With
        `writes`, `run` itself may change the memory. Raises UsageError for a cursor that is wrong or too old.
        """
        if cursor:
            digest, start, text = self._at(key, str(cursor))
            return _page(text, start, digest, how)
        state = self._state()
        text = run()
        digest = hashlib.sha256(f"{key}\n{text}".encode("utf-8", "replace")).hexdigest()[:_DIGEST]
        first = _page(text, 0, digest, how)
        if first != text:
            self._stored.pop(digest, None)  # stored again, it is the newest
            # The state from before a search: if the memory changes while it runs, its result is already out of date.
            self._stored[digest] = _LongResult(key, text, self._state() if writes else state, time.monotonic())
            while len(self._stored) > 1 and (
                len(self._stored) > _MOST_STORED
                or sum(len(one.text) for one in self._stored.values()) > _MOST_CHARACTERS
            ):
                del self._stored[next(iter(self._stored))]  # the oldest
        return first

    def _at(self, key: str, cursor: str) -> tuple[str, int, str]:
        """The digest of a stored result, the character at which a page begins, and the text. Raises UsageError."""
        number, _, digest = cursor.partition("-")
        if not (number.isascii() and number.isdigit() and len(number) < _SHOWN):
            raise UsageError(f"no {CURSOR} {cursor[:_SHOWN]!r}", "use the one at the end of a result, or none")
        state, now = self._state(), time.monotonic()
        self._stored = {
            digest: one
            for digest, one in self._stored.items()
            if one.state == state and now - one.since < _STORED_SECONDS
        }
        found = self._stored.get(digest)
        if found is None:
            raise UsageError(
                f"the result of this {CURSOR} is no longer kept: the memory changed, or some time has passed",
                f"call again without a {CURSOR}",
            )
        if found.key != key or int(number) >= len(found.text):
            raise UsageError(f"the {CURSOR} belongs to another call", f"repeat the arguments, or omit the {CURSOR}")
        return digest, int(number), found.text


def _page(text: str, start: int, digest: str, how: str) -> str:
    """As many lines of `text` from `start` as fit into a result; if there is more, the last line explains how to read it."""
    if end_of_tokens(text, MOST_TOKENS, start) == len(text):
        return text[start:]
    end = end_of_tokens(text, MOST_TOKENS - _NOTE_TOKENS, start)
    line = text.rfind("\n", start, end) + 1
    if line > start:
        end = line
    elif end == start:  # a word longer than a page: cut anywhere, so that the next cursor is another
        end = min(len(text), start + MOST_TOKENS // 2)
    return f"{text[start:end]}\n[There is more: {how % f'{end}-{digest}'}.]"


_SHOWN = 40
"""The most characters of a wrong name that an error repeats."""


SERVER = {"name": "memcli", "version": __version__}
Result = dict[str, Any]


class Results:
    """The results of the methods of an offer.

    Methods call `admit` first, with whether they may write; an error that it raises is reported as one of a tool.
    """

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._tools = {tool.name: tool for tool in offer.tools}
        self._pages = ResultPages(offer.calls.state)

    def tools(self) -> Result:
        """The list of tools."""
        listed = [
            {
                "name": tool.name, "description": tool.description, "inputSchema": tool.schema(),
                # All four are given: by default each of them says the worst, so that a client may ask before every
                # call.
                "annotations": {
                    "readOnlyHint": tool.reads_only, "destructiveHint": tool.destroys,
                    "idempotentHint": tool.is_idempotent, "openWorldHint": False,
                },
                # Claude Code loads only the names of tools at the start of a session, unless a tool has this mark.
                **({"_meta": {"anthropic/alwaysLoad": True}} if tool.is_always_loaded else {}),
            }
            for tool in self._offer.tools
        ]  # fmt: skip
        return {"tools": listed}

    def resources(self, *, templates: bool = False) -> Result:
        """The list of resources, or of templates of resources."""
        field, uri = ("resourceTemplates", "uriTemplate") if templates else ("resources", "uri")
        listed = [
            {uri: one.uri, "name": one.name, "description": one.description, "mimeType": one.mime_type}
            for one in self._offer.resources
            if one.is_template == templates
        ]
        return {field: listed}

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
        """A page of the result of a tool, or its error on a line."""
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
        except Exception as error:  # noqa: BLE001 - an agent has no other way to learn of a failure
            # As a result: an error of the protocol need not be shown to the model.
            return {"content": [{"type": "text", "text": _report(error)}], "isError": True}
        # No structured content: a client may give it to the model beside the text, which says the same.
        return {"content": [{"type": "text", "text": text}], "isError": False}

    def read_resource(self, uri: str, admit: Callable[[bool], None] = lambda _: None) -> Result:
        """A page of the text of a resource. Raises RequestError."""
        with _reported():
            admit(False)
            name, _, cursor = uri.partition(_QUERY)
            for one in self._offer.resources:
                start = one.uri.partition("{")[0]
                if name == one.uri or (one.is_template and name.startswith(start) and len(name) > len(start)):
                    break
            else:
                known = ", ".join(one.uri for one in self._offer.resources)
                raise NotFoundError(f"no resource {name[:_SHOWN]!r}", f"resources: {known}")
            value = unquote(name[len(start) :])
            how = f'read this resource with "{_QUERY}%s" at the end of its URI'
            text = self._pages.read(name, cursor, lambda: one.read(value), how)
        return {"contents": [{"uri": uri, "mimeType": one.mime_type, "text": text}]}

    def get_prompt(
        self, name: str, arguments: Mapping[str, Any], admit: Callable[[bool], None] = lambda _: None
    ) -> Result:
        """The message of the prompt, cut to a page: users request it, who cannot request another one. Raises RequestError."""
        prompt = self._offer.prompt
        with _reported():
            admit(False)
            if name != prompt.name:
                raise NotFoundError(f"no prompt {name[:_SHOWN]!r}", f"there is {prompt.name}")
            text = cut_tokens(prompt.call(arguments), MOST_TOKENS - _NOTE_TOKENS)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": prompt.description, "messages": [message]}


def _report(error: Exception) -> str:
    """An error on a line."""
    return cut_tokens(on_one_line(as_error(error)), _ERROR_TOKENS)


@contextmanager
def _reported() -> Iterator[None]:
    """Turns every error in its body into a RequestError, for methods whose results have no field for errors."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - an agent has no other way to learn of a failure
        raise RequestError(INVALID_PARAMS, _report(error)) from None


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
    """A request that is ready to run. `run` returns the result and raises RequestError; `is_long` if it reads or writes the
    memory; `has_handshake` if the client began with one."""

    run: Callable[[], Result]
    is_long: bool
    has_handshake: bool


def find_request(results: Results, message: Incoming) -> Requested:
    """The method of a request, with its parameters. Raises RequestError."""
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
            run = partial(results.resources, templates=True)
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
    """The result of the handshake. A client of an unknown version is offered the newest known one, as the protocol wants."""
    version = _text(params, "protocolVersion")
    if not isinstance(params.get("capabilities"), dict) or not isinstance(params.get("clientInfo"), dict):
        raise RequestError(INVALID_PARAMS, "invalid params: capabilities and clientInfo must be objects")
    spoken = version if version in _VERSIONS else _VERSIONS[-1]
    return {"protocolVersion": spoken, **_KNOWN, "serverInfo": SERVER}


def _names_version(params: Mapping[str, Any]) -> bool:
    """Whether a request names its version, as without a handshake. Raises RequestError for a version that is not supported."""
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
    """A result with the fields for clients without a handshake."""
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
