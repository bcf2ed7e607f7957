"""Wrapped: canonical JSON as it is reviewed, in which a list or an object of scalars is on one line while it fits.

A line is as wide as it has characters: its indentation counts, and a comma at its end, whether or not one stands there.
An empty list or object counts as a scalar.
"""

from __future__ import annotations

from memcli.codec.canonical import encode, encode_line, written
from memcli.model.memory import Json

WIDTH = 110
_NESTED = (dict, list, tuple)
_STEP = 2
_DEEPEST = 500
"""Columns of indentation beyond which `encode` refuses the value."""


def encode_wrapped(value: Json, indent: int = 0) -> bytes:
    """A list or an object on lines of its own, of which all but the first are indented so. Raises UsageError for what JSON
    cannot hold."""
    data = encode(_folded(value, indent))
    return data.replace(b"\n", b"\n" + b" " * indent) if indent else data


def _folded(value: Json, indent: int) -> Json:
    """A list or an object in which each value that fits on the rest of its line is that line."""
    inner = indent + _STEP
    if inner > _DEEPEST:
        return value
    if not isinstance(value, dict):
        return [_fitted(item, inner, inner) if type(item) in _NESTED else item for item in value]
    folded = dict(value)
    for name, item in value.items():
        if type(item) in _NESTED:
            folded[name] = _fitted(item, inner, inner + _width(str(name)))
    return folded


def _fitted(value: Json, indent: int, column: int) -> Json:
    if not value:
        return value
    for item in value.values() if type(value) is dict else value:
        if type(item) in _NESTED and item:
            return _folded(value, indent)
    data = encode(value)
    line = data[:1] + data[4:-2].replace(b",\n  ", b", ") + data[-1:]
    fits = column + len(line) < WIDTH or column + len(line.decode()) < WIDTH
    return written(line) if fits else value


def _width(name: str) -> int:
    """The columns of a name and what parts it from its value."""
    return (len(name) + 2 if name.isidentifier() else len(encode_line(name).decode())) + 2
