"""The messages of JSON-RPC, one on each line: what a line says, and the lines of answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

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
