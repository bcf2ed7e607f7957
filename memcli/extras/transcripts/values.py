"""Values as other programs write them: JSON, and times."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import orjson

from memcli.clock import normalize_time
from memcli.errors import UsageError
from memcli.extras.transcripts import reasons

MAX_BYTES = 12 << 20
"""The longest line, and the longest conversation of an export, that is read."""
MAX_CONTAINERS = 400_000
"""The most objects and lists in one of them: empty ones take thirty times as much in memory as in a file."""


class ValuesTooLargeError(ValueError):
    """The values would take too much memory."""


def parse(data: bytes) -> Any:
    """The JSON value in `data`. Raises ValueError, of which ValuesTooLargeError is one."""
    # Counted before it is parsed: a few megabytes of brackets would take hundreds of megabytes as values.
    if len(data) > MAX_CONTAINERS and data.count(b"{") + data.count(b"[") > MAX_CONTAINERS:
        raise ValuesTooLargeError("too many values")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        if b"\\u" not in data:
            raise ValueError("not JSON") from None
    try:
        # JavaScript writes halves of a surrogate pair, which orjson refuses; they become question marks.
        value = json.loads(data.decode())
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def object_in(data: bytes, skipped: Counter[str], reason: str) -> dict[str, Any] | None:
    """The JSON object in `data`; None for anything else, which is counted for `reason`."""
    try:
        value = parse(data)
    except ValuesTooLargeError:
        reason = reasons.TOO_LONG
    except ValueError:
        pass
    else:
        if isinstance(value, dict):
            return value
    skipped[reason] += 1
    return None


def text_of(value: Any) -> str:
    """The value if it is a text."""
    return value if isinstance(value, str) else ""


def dict_of(value: Any) -> dict[str, Any]:
    """The value if it is an object."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The value if it is a list."""
    return value if isinstance(value, list) else []


_FIRST_YEAR = "1990"
"""What is older was said by no program that keeps transcripts: a clock that was not set."""
_DIGITS = re.compile(r"[0-9]*\.?[0-9]*")
_MILLISECONDS = 1e11
"""A number above this counts milliseconds."""


def moment(value: object) -> str:
    """RFC 3339 in UTC of a text, or of seconds or milliseconds since 1970; "" for what is no time."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    with suppress(UsageError, ValueError, OverflowError, OSError):
        if isinstance(value, str) and not (_DIGITS.fullmatch(value) and len(value) > 8):
            at = normalize_time(value)
        else:
            number = float(value)
            seconds = number / 1000 if number > _MILLISECONDS else number
            at = normalize_time(datetime.fromtimestamp(seconds, UTC).isoformat())
        return at if at >= _FIRST_YEAR else ""
    return ""
