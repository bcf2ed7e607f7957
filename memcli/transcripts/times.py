"""Times as the sources write them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from memcli.clock import normalize_time
from memcli.errors import UsageError

_FIRST_YEAR = "1990"
"""What is older was said by no program that keeps transcripts: a clock that was not set."""
_MILLISECONDS = 1e11
"""A number above this counts milliseconds."""


def moment(value: object) -> str:
    """RFC 3339 in UTC of a text, or of seconds or milliseconds since 1970; "" for what is no time."""
    with suppress(UsageError, ValueError, OverflowError, OSError):
        at = _of_number(float(value)) if isinstance(value, str | int | float) and _is_number(value) else _of_text(value)
        return at if at >= _FIRST_YEAR else ""
    return ""


def _is_number(value: str | float) -> bool:
    if isinstance(value, str):
        return value.replace(".", "", 1).isdigit() and value.isascii() and len(value) > 8
    return not isinstance(value, bool)


def _of_number(value: float) -> str:
    seconds = value / 1000 if value > _MILLISECONDS else value
    return normalize_time(datetime.fromtimestamp(seconds, UTC).isoformat())


def _of_text(value: object) -> str:
    return normalize_time(value) if isinstance(value, str) else ""
