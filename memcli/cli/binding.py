"""Converts the Python values of a call to those that the command line would yield for the options of a verb."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcli.cli.options import ASSIGNMENT, FILE, JSON, PAIRS, REQUIRED, WEIGHTS, Field
from memcli.codec.canonical import encode_line
from memcli.errors import UsageError

if TYPE_CHECKING:
    from memcli.cli.verb import Verb

EXIT_CODES_ONLY = frozenset(("exit_code", "fail_empty", "fail_under", "fail_weak"))
"""Options that only change the exit code: a call has none."""
PROCESS_ONLY = frozenset(("background", "stdin0"))
"""Options that change the priority of the process or read standard input: both belong to the program that calls."""


def parameters(verb: Verb) -> dict[str, Field]:
    """The fields of a verb that a call can set, by name."""
    left_out = EXIT_CODES_ONLY | PROCESS_ONLY
    return {name: field for name, field in verb.options.FIELDS.items() if name not in left_out}


def bind(verb: Verb, arguments: Sequence[Any], options: Mapping[str, Any]) -> tuple[dict[str, Any], bytes | None]:
    """The values of the verb's fields, and the bytes to read as standard input if a value is a stream or bytes.

    Raises TypeError for an unknown or missing argument, UsageError for a value of the wrong type.
    """
    fields = parameters(verb)
    values = dict(options)
    rest = list(arguments)
    for field in (field for field in fields.values() if field.is_argument):
        if rest and field.name in values:
            raise TypeError(f"{verb.name}() got {field.name} twice")
        if field.many and rest:
            values[field.name], rest = rest, []
        elif rest:
            values[field.name] = rest.pop(0)
    if rest:
        raise TypeError(f"{verb.name}() takes at most {len(arguments) - len(rest)} arguments without a name")
    if unknown := sorted(values.keys() - fields.keys()):
        raise TypeError(f"{verb.name}() has no parameter {unknown[0]!r}")
    missing = [name for name, field in fields.items() if field.default is REQUIRED and not values.get(name)]
    if missing:
        raise TypeError(f"{verb.name}() needs {missing[0]}")
    streams: dict[str, bytes] = {}
    made = {name: typed(fields[name], value, streams) for name, value in values.items() if value is not None}
    if len(streams) > 1:
        raise UsageError("only one value can be a stream", "give the others as names of files")
    return made, next(iter(streams.values()), None)


def typed(field: Field, value: Any, streams: dict[str, bytes] | None = None) -> Any:
    """The value of a field as the command line would yield it.

    For an option that names a file, the value may be its contents: they are stored in `streams` by the name of the field, and
    the result is `-`. Raises UsageError for a value of the wrong type, and for contents without `streams`.
    """
    if not field.many:
        return _one(field, value, streams)
    if isinstance(value, Mapping):
        if field.kind not in (ASSIGNMENT, PAIRS, WEIGHTS):
            raise _wrong(field, value)
        return dict(value)
    if not isinstance(value, Iterable):
        raise _wrong(field, value)
    return [_one(field, item, streams) for item in ([value] if isinstance(value, (str, os.PathLike)) else value)]


def _one(field: Field, value: Any, streams: dict[str, bytes] | None) -> Any:
    """A single value of a field: a plain value, `-` for contents, or the text of JSON and of pairs."""
    kind = field.type
    if kind is bool or isinstance(value, bool):  # in Python a bool is an int
        if kind is not bool or not isinstance(value, bool):
            raise _wrong(field, value)
        return value
    if kind is not str:
        if kind is int and isinstance(value, float) and value.is_integer():
            return int(value)
        if not isinstance(value, (int, float) if kind is float else int):
            raise _wrong(field, value)
        return kind(value)
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if field.kind == JSON and isinstance(value, Mapping):
        return encode_line(dict(value)).decode()
    if field.kind == WEIGHTS and isinstance(value, Mapping):
        return ",".join(f"{name}={number}" for name, number in value.items())
    if field.kind == FILE:
        contents = _contents(value)
        if streams is not None:
            streams[field.name] = contents
            return "-"
    raise _wrong(field, value)


def _wrong(field: Field, value: Any) -> UsageError:
    name = {str: "text", int: "a whole number", float: "a number", bool: "True or False"}[field.type]
    return UsageError(f"{field.name} must be {name}, not {type(value).__name__}")


def _contents(value: Any) -> bytes:
    """The bytes of a value that replaces a file: bytes, an open file, or lines, where mappings become JSON lines.

    Raises UsageError for any other value.
    """
    if isinstance(value, bytes):
        return value
    if hasattr(value, "read"):
        data = value.read()
        return data if isinstance(data, bytes) else str(data).encode()
    try:
        lines = [encode_line(dict(line)).decode() if isinstance(line, Mapping) else str(line) for line in value]
    except TypeError:
        raise UsageError(
            f"cannot read {type(value).__name__}", "give the name of a file, an open file or lines"
        ) from None
    return "".join(f"{line}\n" for line in lines).encode()
