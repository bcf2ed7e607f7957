"""Answers: values as responses, and what OpenAPI says of them."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from starlette.responses import Response

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
    """A value as JSON; a text as it is, of the type `media`."""
    if isinstance(value, str):
        return Response(value, status, headers, media_type=media or "text/plain")
    return Response(orjson.dumps(value), status, headers, media_type="application/json")


def problems(status: int, schema: Mapping[str, Any] | None = None, *others: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route: success as `schema`, and the errors."""
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
