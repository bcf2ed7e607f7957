"""JSON as other programs write it."""

from __future__ import annotations

import json
from typing import Any

import orjson

MAX_BYTES = 16 << 20
"""The longest line, and the longest conversation of an export, that is read: its values take some ten times as much."""


def parse(data: bytes) -> Any:
    """The value. Raises ValueError."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _lenient(data)


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
