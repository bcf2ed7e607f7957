"""Responses: values as JSON, errors as problem details (RFC 9457), and the description of both for OpenAPI."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memcli.errors import ChangedError, MemcliError, StoreError
from memcli.record import Record

STATUSES: Mapping[str, int] = {
    "internal": 500, "usage": 422, "not_found": 404, "locked": 409, "conflict": 409, "refused": 403, "corrupt": 500,
    "provider": 502, "store": 503,
}  # fmt: skip
"""The status of each code of `memcli.errors`."""
_HINTS: Mapping[int, str] = {404: "/openapi.json lists the paths", 405: "/openapi.json lists the methods of a path"}


class Problem(Record):
    """An error as a response reports it. `code` is that of `memcli.errors`, empty for an error of HTTP itself."""

    status: int
    title: str
    code: str = ""
    hint: str = ""
    headers: Mapping[str, str] = {}

    def response(self) -> JSONResponse:
        """The response that reports it, as problem details."""
        fields = {
            "type": "about:blank", "title": self.title, "status": self.status, "code": self.code, "hint": self.hint,
        }  # fmt: skip
        body = {name: value for name, value in fields.items() if value != ""}
        return JSONResponse(body, self.status, self.headers, media_type="application/problem+json")


CLOSING = {"Connection": "close"}
"""The headers of a response that closes its connection, because the rest of the request is not read."""
STORE_IS_GONE = Problem(503, "the store is gone", "store", "stop the server, or put the store back")


class LateError(StoreError):
    """A verb took longer than the pool waits."""


def status_of(error: MemcliError) -> int:
    """The HTTP status of an error of memcli."""
    if isinstance(error, ChangedError):
        return HTTPStatus.PRECONDITION_FAILED
    return HTTPStatus.GATEWAY_TIMEOUT if isinstance(error, LateError) else STATUSES[error.code]


def problem_of(error: Exception) -> Problem:
    """The problem that reports an error of a route."""
    if isinstance(error, MemcliError):
        status = status_of(error)
        # A conflict is a 409 too, but trying it again changes nothing.
        headers = {"Retry-After": "1"} if status in (409, 503) and error.code in ("locked", "store") else {}
        return Problem(status, error.message, error.code, error.hint, headers)
    # Neither the value that was sent nor a name that the caller chose is repeated: they may be text of a memory.
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        place = ".".join(str(word) for word in first["loc"][:2] if str(word).isidentifier()) or "the request"
        return Problem(422, f"{place}: {first['msg']}", "usage")
    if isinstance(error, HTTPException):
        title = HTTPStatus(error.status_code).phrase
        return Problem(error.status_code, title, "", _HINTS.get(error.status_code, ""), error.headers or {})
    return Problem(500, "internal error", "internal", "the log of the server has its kind")


_PROBLEM = {
    "type": "object",
    "description": "Problem details (RFC 9457)",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
        "code": {"type": "string"}, "hint": {"type": "string"},
    },
}  # fmt: skip
_COMMON = (400, 401, 403, 404, 409, 413, 415, 422, 503, 504)


def answer(
    value: Any, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None, media: str = ""
) -> Response:
    """A response with a value as JSON, or with a text as it is, of the media type `media`."""
    if isinstance(value, str):
        return Response(value, status, headers, media_type=media or "text/plain")
    return Response(orjson.dumps(value), status, headers, media_type="application/json")


def problems(status: int, schema: Mapping[str, Any] | None = None, *others: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route for OpenAPI: success with the JSON Schema `schema`, and errors with `others` among them."""
    success = {
        "description": HTTPStatus(status).phrase,
        "content": {"application/json": {"schema": dict(schema or {})}},
    }
    failures: dict[int | str, dict[str, Any]] = {
        code: {
            "description": HTTPStatus(code).phrase,
            "content": {"application/problem+json": {"schema": _PROBLEM}},
        }
        for code in (*_COMMON, *others)
    }
    return {status: success, **failures}
