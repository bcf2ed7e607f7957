"""JSON as other programs write it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import orjson

from memcli.transcripts import reasons

MAX_BYTES = 12 << 20
"""The longest line, and the longest conversation of an export, that is read."""
MAX_CONTAINERS = 400_000
"""The most objects and lists in one of them: empty ones take thirty times as much in memory as in a file."""


class ValuesTooLargeError(ValueError):
    """The values would take too much memory."""


def parse(data: bytes) -> Any:
    """The value. Raises ValueError, TooMuchError."""
    if len(data) > MAX_CONTAINERS and data.count(b"{") + data.count(b"[") > MAX_CONTAINERS:
        raise ValuesTooLargeError("too many values")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _lenient(data)


def object_in(data: bytes, skipped: Counter[str], reason: str) -> dict[str, Any] | None:
    """The JSON object in `data`, or None for what is none, which is counted for `reason`."""
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


def _lenient(data: bytes) -> Any:
    """What JavaScript writes and orjson refuses: halves of a surrogate pair, which become question marks."""
    if b"\\u" not in data:
        raise ValueError("not JSON")
    try:
        value = json.loads(data.decode())
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
