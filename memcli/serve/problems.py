"""Errors as problem details (RFC 9457): our exit codes as statuses."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request
from fastapi.responses import JSONResponse

from memcli.errors import MemcliError

STATUSES: Mapping[str, int] = {
    "internal": 500, "usage": 422, "not_found": 404, "locked": 409, "conflict": 409, "refused": 403, "corrupt": 500,
    "provider": 502, "store": 503,
}  # fmt: skip
"""The status of each code of `memcli.errors`."""


def problem(status: int, title: str, code: str = "", hint: str = "") -> JSONResponse:
    """A response that says what was wrong, and what to do."""
    told = {"type": "about:blank", "title": title, "status": status, "code": code, "hint": hint}
    body = {name: value for name, value in told.items() if value != ""}
    return JSONResponse(body, status, media_type="application/problem+json")


async def on_error(_: Request, error: Exception) -> JSONResponse:
    """The response to an error of ours."""
    assert isinstance(error, MemcliError)
    return problem(STATUSES[error.code], error.message, error.code, error.hint)
