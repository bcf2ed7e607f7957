"""Canonical JSON: the same value always gives the same bytes.

UTF-8, sorted keys, two spaces of indentation, `\\n`, a newline at the end, no NaN.
"""

from __future__ import annotations

from typing import Any

import orjson

from memcli.errors import CorruptError, UsageError
from memcli.model.memory import Json

_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2


def encode(value: Json) -> bytes:
    """`value` as canonical JSON, without the last newline. Raises UsageError for what JSON cannot hold."""
    try:
        return orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError as error:
        raise UsageError(
            f"cannot be stored as JSON: {error}", "use whole numbers below 2^63 and valid Unicode"
        ) from None


def encode_line(value: Json) -> bytes:
    """`value` on one line with sorted keys, without a newline: for JSON Lines."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


MEND = "`memcli fsck --repair` saves what is whole; or take the file back with `git checkout`"
"""What to do about a damaged space file."""


def decode(data: bytes | memoryview, name: str, hint: str = MEND) -> Json:
    """The value that `data` holds. Raises CorruptError naming `name`, line and column."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise CorruptError(
            f"{name}:{error.lineno}:{error.colno}: invalid JSON ({_reason(error)}){_conflict(bytes(data))}",
            hint,
        ) from None


def decode_argument(data: str | bytes, name: str) -> Json:
    """The value that a user gave as JSON. Raises UsageError naming `name`, line and column."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise UsageError(
            f"{name} is not JSON: line {error.lineno}, column {error.colno}: {_reason(error)}", "check it with `jq .`"
        ) from None


def decode_object(data: str | bytes, name: str) -> dict[str, Any]:
    """As `decode_argument`, for a JSON object. Raises UsageError also when it is none."""
    value = decode_argument(data, name)
    if not isinstance(value, dict):
        raise UsageError(f'{name} must be a JSON object, such as {{"raw": "..."}}')
    return value


def _reason(error: orjson.JSONDecodeError) -> str:
    return error.msg.split(": line ")[0]


def _conflict(data: bytes) -> str:
    marked = any(line.startswith((b"<<<<<<< ", b">>>>>>> ")) for line in data.splitlines())
    return "; the file has conflict markers of an unfinished merge" if marked else ""
