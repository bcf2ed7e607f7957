"""The methods of the protocol without the SDK: the handshake, its versions, and what each request asks for.

Clients of the versions up to 2025 begin with `initialize`. From 2026-07-28 on they do without: each request names its
version, and its result says a little more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from memcli.mcp.messages import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    Incoming,
    RequestError,
)
from memcli.mcp.results import SERVER, Result, Results
from memcli.record import Record

_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_VERSION_OF_REQUESTS = "2026-07-28"
_KEY = "io.modelcontextprotocol/"
_CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}


class Requested(Record, kw_only=True):
    """What a request asks for. `run` makes the result, and raises RequestError. `is_long` when it reads or writes the
    memory. `has_handshake` when the client began with one."""

    run: Callable[[], Result]
    is_long: bool
    has_handshake: bool


class Methods:
    """The methods, by their names."""

    def __init__(self, results: Results, instructions: str) -> None:
        self._results = results
        self._known = {"capabilities": _CAPABILITIES, "instructions": instructions}
        self._short: Mapping[str, Callable[[Mapping[str, Any]], Result]] = {
            "initialize": self._initialize,
            "server/discover": lambda _: {**self._known, "supportedVersions": [_VERSION_OF_REQUESTS]},
            "ping": lambda _: {},
            "tools/list": lambda _: results.tools(),
            "resources/list": lambda _: results.resources(),
            "resources/templates/list": lambda _: results.templates(),
            "prompts/list": lambda _: results.prompts(),
        }
        self._long: Mapping[str, Callable[[Mapping[str, Any]], Callable[[], Result]]] = {
            "tools/call": lambda params: partial(results.call_tool, _text(params, "name"), _arguments(params)),
            "resources/read": lambda params: partial(results.read_resource, _text(params, "uri")),
            "prompts/get": lambda params: partial(results.get_prompt, _text(params, "name"), _arguments(params)),
        }

    def find(self, message: Incoming) -> Requested:
        """What a request asks for. Raises RequestError."""
        method, params = message.method, message.params
        has_handshake = method == "initialize" or not _names_version(params)
        if method == "server/discover" and has_handshake:
            raise RequestError(INVALID_PARAMS, f"invalid params: _meta needs {_KEY}protocolVersion")
        is_long = method in self._long
        if is_long:
            run = self._long[method](params)
        elif method in self._short:
            run = partial(self._short[method], params)
        else:
            raise RequestError(METHOD_NOT_FOUND, "Method not found", method)
        return Requested(
            run=run if has_handshake else lambda: _completed(run(), method),
            is_long=is_long,
            has_handshake=has_handshake,
        )

    def _initialize(self, params: Mapping[str, Any]) -> Result:
        version = _text(params, "protocolVersion")
        if not isinstance(params.get("capabilities"), dict) or not isinstance(params.get("clientInfo"), dict):
            raise RequestError(INVALID_PARAMS, "invalid params: capabilities and clientInfo must be objects")
        return {
            "protocolVersion": version if version in _VERSIONS else _VERSIONS[-1], **self._known, "serverInfo": SERVER,
        }  # fmt: skip


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
