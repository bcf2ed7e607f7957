"""A worker of `memcli serve`: runs verbs that it is sent, one at a time, until its input ends."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

from memcli.cli.binding import parameters
from memcli.cli.calls import Calls
from memcli.cli.options import FILE
from memcli.cli.output import as_error, shown
from memcli.cli.verb import Verb, find_verb
from memcli.errors import ChangedError, MemcliError, UsageError

_LENGTH = 4
_USER, _GLOBAL = "MEMCLI_USER", "MEMCLI_GLOBAL"
_TEXTS = ("metrics",)
"""Verbs whose result is a text."""
_NOWHERE = os.path.join(os.devnull, "none")


def main(arguments: list[str]) -> None:
    """Serves on standard input and output. The argument has the options of `Calls` as JSON."""
    options = json.loads(arguments[0])
    source, target = _channel()
    calls = Calls(options, lambda _: None)
    calls.load_now()
    find_verb("recall")
    _write(target, {})
    elsewhere = os.environ.get(_GLOBAL)
    os.environ.pop("MEMCLI_SESSION", None)  # it is that of whoever started the server
    while (request := _read(source)) is not None:
        os.environ[_USER] = request["user"]
        if request["is_bound"]:  # the user-wide store is none of the spaces that such a caller is for
            os.environ[_GLOBAL] = _NOWHERE
        elif elsewhere is not None:
            os.environ[_GLOBAL] = elsewhere
        else:
            os.environ.pop(_GLOBAL, None)
        _write(target, answer(calls, request["verb"], request["options"]))


def answer(calls: Calls, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a verb as `value`, or its `error`."""
    try:
        verb = find_verb(name)
        _check(verb, options)
        return {"value": calls.run(verb, (), options, as_json=name not in _TEXTS)}
    except Exception as error:  # noqa: BLE001 - a worker answers every request
        return {"error": _told(as_error(error))}


def _check(verb: Verb, options: Mapping[str, Any]) -> None:
    """Raises UsageError for an option that would have this process read or write a file that a caller names."""
    for name, field in parameters(verb).items():
        if field.kind == FILE and isinstance(options.get(name), str):
            raise UsageError(f"{name} cannot be a file here", "send what is in it")


def _told(error: MemcliError) -> dict[str, Any]:
    return {**shown(error), "is_changed": isinstance(error, ChangedError)}


def _channel() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for this process alone: nothing that it calls can read or write them."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    if not os.environ.get("MEMCLI_DEBUG"):
        os.dup2(nowhere, 2)  # the log is that of the server
    os.close(nowhere)
    return source, target


def _read(source: BinaryIO) -> dict[str, Any] | None:
    head = source.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    found: dict[str, Any] = json.loads(source.read(int.from_bytes(head)))
    return found


def _write(target: BinaryIO, value: Mapping[str, Any]) -> None:
    import orjson

    data = orjson.dumps(value)
    target.write(len(data).to_bytes(_LENGTH) + data)
    target.flush()


if __name__ == "__main__":
    from memcli.cli.output import prepare_streams

    prepare_streams()
    main(sys.argv[1:])
