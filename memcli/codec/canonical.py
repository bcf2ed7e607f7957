"""Canonical JSON: the same value always gives the same bytes.

UTF-8, sorted keys, two spaces of indentation, `\n`, a newline at the end, no NaN.

orjson encodes and decodes it. The import of orjson takes a seventh of the time of a recall, for the modules of the standard
library that it imports; so a process that has not imported it uses the standard library for its first values while they are
small and simple, for which both give the same bytes.

Wrapped: the layout of space files for review, with a list or an object of scalars on one line while it fits.

The width of a line is its number of characters, with its indentation and a comma at its end, whether or not it has one. An
empty list or object counts as a scalar.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from itertools import count
from json import JSONDecoder, JSONEncoder
from json.encoder import encode_basestring

from memcli.errors import CorruptError, UsageError
from memcli.model.memory import Json
from memcli.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import orjson


_SMALL = 1 << 16
"""The most bytes of JSON, or characters in all texts of a value, for which the standard library is used."""
_MOST = 2000
"""The most nested values for which it is used: each is checked one by one."""
_MANY = 500
"""With more values, as in an ingest, checking and encoding them without orjson takes longer than importing it."""
_MAX_DEPTH = 100
_LARGEST = 1 << 53  # every reader of JSON represents whole numbers up to it exactly
_DIGITS = 15  # a float represents every number of so many decimal digits

_ENCODED = count()
_HALF_PAIR = regex("[\ud800-\udfff]")  # of a surrogate pair, which has no bytes in UTF-8


class _Line:
    """The return value of `written` while orjson is not imported."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


def encode(value: Json) -> bytes:
    """`value` as canonical JSON, without the last newline. Raises UsageError for what JSON cannot hold."""
    if type(value) is str and value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return b'"%s"' % value.encode()  # an id, a path, a digest
    orjson = _orjson_for(value)
    if orjson is None:
        return _indented(value, "\n").encode()
    return _dumped(orjson, value, orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)


def encode_line(value: Json) -> bytes:
    """`value` on one line with sorted keys, without a newline: for JSON Lines. Raises UsageError as `encode` does."""
    orjson = _orjson_for(value)
    return _ON_ONE_LINE.encode(value).encode() if orjson is None else _dumped(orjson, value, orjson.OPT_SORT_KEYS)


def _dumped(orjson: Any, value: Json, option: int) -> bytes:
    try:
        data: bytes = orjson.dumps(value, _fragment, option)
    except orjson.JSONEncodeError as error:
        hint = "use whole numbers below 2^63 and valid Unicode"
        raise UsageError(f"cannot be stored as JSON: {error}", hint) from None
    return data


def _orjson_for(value: Json) -> Any:
    """The module orjson, to encode `value` with; None where the standard library is used."""
    loaded = sys.modules.get("orjson")
    if loaded is None and (next(_ENCODED) > _MANY or not _is_simple(value)):
        import orjson

        return orjson
    return loaded


def written(line: bytes) -> Json:
    """A part of a value for `encode`, which inserts the bytes `line` unchanged."""
    loaded = sys.modules.get("orjson")
    return _Line(line) if loaded is None else loaded.Fragment(line)


def _fragment(value: object) -> Json:
    """The `default` function of orjson, for a `_Line` made before its import."""
    import orjson

    if isinstance(value, _Line):
        return orjson.Fragment(value.data)
    raise TypeError(f"Type is not JSON serializable: {type(value).__name__}")


def _indented(value: Json, newline: str) -> str:
    """`value` as `encode` returns it; `newline` is a newline with the indentation of the line that `value` is on."""
    if type(value) is _Line:
        return value.data.decode()
    if not value or not isinstance(value, (dict, list, tuple)):
        return _ON_ONE_LINE.encode(value)
    inner = newline + "  "
    if isinstance(value, dict):
        items = [f"{encode_basestring(name)}: {_indented(value[name], inner)}" for name in sorted(value)]
    else:
        items = [_indented(item, inner) for item in value]
    joined = f",{inner}".join(items)
    return f"{{{inner}{joined}{newline}}}" if isinstance(value, dict) else f"[{inner}{joined}{newline}]"


MEND = "`memcli check store --repair` recovers the intact memories; if git tracks the file, `git checkout` restores it"
"""The hint of errors about a damaged space file."""


def decode(data: bytes | memoryview, name: str, hint: str = MEND) -> Json:
    """The value of the JSON `data`. Raises CorruptError naming `name`, line and column."""
    if "orjson" not in sys.modules and len(data) <= _SMALL:
        with suppress(ValueError, RecursionError):  # orjson decodes it instead, or raises its error
            text = bytes(data).decode()
            if "\\u" not in text:  # an escape may be half a surrogate pair, which orjson refuses
                return _DECODER.decode(text)
    import orjson

    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        is_unmerged = any(line.startswith((b"<<<<<<< ", b">>>>>>> ")) for line in bytes(data).splitlines())
        suffix = "; the file contains conflict markers" if is_unmerged else ""
        at = f"{name}:{error.lineno}:{error.colno}"
        raise CorruptError(f"{at}: invalid JSON ({_reason(error)}){suffix}", hint) from None


def decode_argument(data: str | bytes, name: str) -> Json:
    """The value of a JSON argument from a user. Raises UsageError naming `name`, line and column."""
    import orjson

    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise UsageError(
            f"{name} is not valid JSON: line {error.lineno}, column {error.colno}: {_reason(error)}",
            "check it with `jq .`",
        ) from None


def decode_object(data: str | bytes, name: str) -> dict[str, Any]:
    """As `decode_argument`, for a JSON object. Raises UsageError also for another type."""
    value = decode_argument(data, name)
    if not isinstance(value, dict):
        raise UsageError(f'{name} must be a JSON object, such as {{"raw": "..."}}')
    return value


def _reason(error: orjson.JSONDecodeError) -> str:
    return error.msg.split(": line ")[0]


# Scores are such floats; for their sake alone a recall would import orjson.
_LEAST_PLAIN, _MOST_PLAIN = 1e-4, 1e15
"""Floats from 1e-4 to below 1e15 are written without an exponent; the two libraries write exponents differently."""
_ON_ONE_LINE = JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _is_simple(value: Json) -> bool:
    """Whether the standard library encodes `value` to the same bytes as orjson, and is to be used."""
    if "orjson" in sys.modules:
        return False
    left = _MOST
    room = _SMALL
    level = [value]
    for _ in range(_MAX_DEPTH):
        below: list[Json] = []
        left -= len(level)
        if left < 0:
            return False
        for part in level:
            kind = type(part)
            if kind is str:
                room -= len(part)
                if room < 0 or (not part.isascii() and _HALF_PAIR.search(part)):
                    return False
            elif kind is dict:
                below += part
                below += part.values()
                if any(type(key) is not str for key in part):
                    return False
            elif kind is list or kind is tuple:
                below += part
            elif (
                part is not None
                and kind is not bool
                and kind is not _Line
                and (kind is not int or abs(part) > _LARGEST)
                and (kind is not float or not (_LEAST_PLAIN <= abs(part) < _MOST_PLAIN or part == 0))
            ):
                return False
        if not below:
            return True
        level = below
    return False


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS or digits == "-0":
        raise ValueError(digits)
    return int(digits)


def _float(digits: str) -> float:
    if "e" in digits or "E" in digits or len(digits) > _DIGITS:
        raise ValueError(digits)
    return float(digits)


def refuse_constant(name: str) -> Json:
    """For `parse_constant`: raises ValueError for NaN and Infinity, which Python reads and JSON has not."""
    raise ValueError(f"{name} is not JSON")


_DECODER = JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=refuse_constant)


WIDTH = 110
_NESTED = (dict, list, tuple)
_STEP = 2
_DEEPEST = 500
"""Columns of indentation beyond which `encode` refuses the value."""


def encode_wrapped(value: Json, indent: int = 0) -> bytes:
    """A list or an object in the wrapped layout, with all lines after the first indented by `indent` more columns. Raises
    UsageError for what JSON cannot hold."""
    data = encode(_folded(value, indent))
    return data.replace(b"\n", b"\n" + b" " * indent) if indent else data


def _folded(value: Json, indent: int) -> Json:
    """A list or an object in which each value that fits on its line is replaced by that line, as `written`."""
    inner = indent + _STEP
    if inner > _DEEPEST:
        return value
    if not isinstance(value, dict):
        return [_fitted(item, inner, inner) if type(item) in _NESTED else item for item in value]
    folded = dict(value)
    for name, item in value.items():
        if type(item) in _NESTED:
            label = str(name)
            width = len(label) + 2 if label.isidentifier() else len(encode_line(label).decode())
            folded[name] = _fitted(item, inner, inner + width + len(": "))
    return folded


def _fitted(value: Json, indent: int, column: int) -> Json:
    if not value:
        return value
    for item in value.values() if type(value) is dict else value:
        if type(item) in _NESTED and item:
            return _folded(value, indent)
    data = encode(value)
    line = data[:1] + data[4:-2].replace(b",\n  ", b", ") + data[-1:]
    # A line has at least as many bytes as characters, so that most need no decoding.
    fits = column + len(line) < WIDTH or column + len(line.decode()) < WIDTH
    return written(line) if fits else value
