"""The values of a call bound to what a verb declares, as the command line would give them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcli.cli.options import ASSIGNMENT, FILE, JSON, PAIRS, REQUIRED, WEIGHTS, Field
from memcli.codec.canonical import encode_line
from memcli.errors import UsageError

if TYPE_CHECKING:
    from memcli.cli.verb import Verb

EXIT_CODES_ONLY = frozenset(("exit_code", "fail_empty", "fail_under"))
"""Options that only choose an exit code, which a call does not have."""
PROCESS_ONLY = frozenset(("background", "stdin0"))
"""Options that say how the process works or reads standard input: it belongs to the program."""


def parameters(verb: Verb) -> dict[str, Field]:
    """The fields of a verb that a call can give."""
    left_out = EXIT_CODES_ONLY | PROCESS_ONLY
    return {name: field for name, field in verb.options.FIELDS.items() if name not in left_out}


def bind(verb: Verb, arguments: Sequence[Any], options: Mapping[str, Any]) -> tuple[dict[str, Any], bytes | None]:
    """The values of the verb's fields, and the standard input that a value stands for.

    Raises TypeError for a name that the verb does not have, UsageError for a value of the wrong type.
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
    made = {name: _Given(fields[name], value) for name, value in values.items() if value is not None}
    streams = [given for given in made.values() if given.stream is not None]
    if len(streams) > 1:
        raise UsageError("only one value can be a stream", "give the others as names of files")
    return {name: given.value for name, given in made.items()}, streams[0].stream if streams else None


def typed(field: Field, value: Any) -> Any:
    """The value of an option as the command reads it. Raises UsageError for one of the wrong type."""
    given = _Given(field, value)
    if given.stream is not None:
        raise UsageError(f"{field.name} must be text, not {type(value).__name__}")
    return given.value


class _Given:
    """A value as the command reads it: plain, or `-` with the `stream` to read."""

    def __init__(self, field: Field, value: Any) -> None:
        self.stream: bytes | None = None
        self._field = field
        self.value = self._read(value)

    def _read(self, value: Any) -> Any:
        field = self._field
        if field.many:
            if isinstance(value, Mapping):
                return self._mapping(value)
            if not isinstance(value, Iterable):
                raise self._wrong(value)
            return [self._one(item) for item in ([value] if isinstance(value, (str, os.PathLike)) else value)]
        return self._one(value)

    def _one(self, value: Any) -> Any:
        kind = self._field.type
        if kind is bool or isinstance(value, bool):
            return self._checked(value, bool if kind is bool else object)
        if kind is int and isinstance(value, float) and value.is_integer():
            return int(value)
        if kind is not str:
            return kind(self._checked(value, (int, float) if kind is float else int))
        if isinstance(value, str):
            return value
        if isinstance(value, os.PathLike):
            return os.fsdecode(value)
        return self._structured(value)

    def _structured(self, value: Any) -> str:
        """A value that the command line takes as text: JSON, `name=number` pairs, or what is in a file."""
        if self._field.kind == JSON and isinstance(value, Mapping):
            return encode_line(dict(value)).decode()
        if self._field.kind == WEIGHTS and isinstance(value, Mapping):
            return ",".join(f"{name}={number}" for name, number in value.items())
        if self._field.kind == FILE:
            self.stream = _contents(value)
            return "-"
        raise self._wrong(value)

    def _mapping(self, value: Mapping[str, Any]) -> Any:
        if self._field.kind not in (ASSIGNMENT, PAIRS, WEIGHTS):
            raise self._wrong(value)
        return dict(value)

    def _checked(self, value: Any, kind: Any) -> Any:
        if kind is object or not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self._wrong(value)
        return value

    def _wrong(self, value: Any) -> UsageError:
        name = {str: "text", int: "a whole number", float: "a number", bool: "True or False"}[self._field.type]
        return UsageError(f"{self._field.name} must be {name}, not {type(value).__name__}")


def _contents(value: Any) -> bytes:
    """What to read where a file can be named: bytes, an open file, or lines, of which mappings are JSON objects."""
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
