"""Values in the files of other programs: JSON, and times."""

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
# Empty objects and lists take thirty times as much in memory as in a file.
MAX_CONTAINERS = 400_000
"""The most objects and lists in one line or conversation."""


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
    """The JSON object in `data`; None for anything else, which is counted under `reason`, or as too long."""
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
    """The value if it is a text; else an empty one."""
    return value if isinstance(value, str) else ""


def dict_of(value: Any) -> dict[str, Any]:
    """The value if it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The value if it is a list; else an empty one."""
    return value if isinstance(value, list) else []


# No program that writes transcripts is older: an earlier time is that of a clock that was not set.
_FIRST_YEAR = "1990"
_DIGITS = re.compile(r"[0-9]*\.?[0-9]*")
# As seconds it is in the year 5138, as milliseconds in 1973.
_MILLISECONDS = 1e11
"""A larger number is a time in milliseconds."""


def moment(value: object) -> str:
    """The time in RFC 3339, UTC, from a text, or from seconds or milliseconds since 1970; "" for a value that is no time."""
    # To Python, True is a whole number.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    with suppress(UsageError, ValueError, OverflowError, OSError):
        # Eight digits are a date, such as 20260131.
        if isinstance(value, str) and not (_DIGITS.fullmatch(value) and len(value) > 8):
            at = normalize_time(value)
        else:
            number = float(value)
            seconds = number / 1000 if number > _MILLISECONDS else number
            at = normalize_time(datetime.fromtimestamp(seconds, UTC).isoformat())
        return at if at >= _FIRST_YEAR else ""
    return ""
