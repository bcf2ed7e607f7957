"""A worker of `memcli serve`: runs the verbs that the pool sends it, one at a time."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from memcli.cli.binding import parameters
from memcli.cli.calls import Calls
from memcli.cli.options import FILE
from memcli.cli.output import as_error, shown
from memcli.cli.verb import find_verb
from memcli.errors import MemcliError, UsageError

_TEXTS = ("metrics",)
"""Verbs whose result is a text."""
_NOWHERE = os.path.join(os.devnull, "none")


def main(options: Mapping[str, str | None], pool: Connection) -> None:
    """Serves requests of `Pool` until it sends None or is gone. `options` are those of `Calls`."""
    calls = Calls(options, lambda _: None)
    calls.load_later()
    calls.load(waits=True)
    find_verb("recall")
    pool.send(None)  # it is ready
    try:
        while (request := pool.recv()) is not None:
            pool.send(answer(calls, *request))
    except (EOFError, OSError):
        pass


def answer(
    calls: Calls, name: str, options: Mapping[str, Any], user: str, is_bound: bool
) -> tuple[Any, MemcliError | None]:
    """The result of a verb, which `user` calls, or its error. Who is bound to some spaces reads nothing of the user-wide store."""
    environ = {**os.environ, "MEMCLI_USER": user, **({"MEMCLI_GLOBAL": _NOWHERE} if is_bound else {})}
    try:
        verb = find_verb(name)
        for option, field in parameters(verb).items():
            # It would have this process read or write a file that a caller names.
            if field.kind == FILE and isinstance(options.get(option), str):
                raise UsageError(f"{option} cannot be a file here", "send what is in it")
        return calls.run(verb, (), options, as_json=name not in _TEXTS, environ=environ), None
    except Exception as error:  # noqa: BLE001 - a worker answers every request
        known = as_error(error)
        printed = shown(known)
        known.message, known.hint, known.value = printed["message"], printed["hint"], None
        known.args = (known.message,)  # which pickle takes along
        return None, known


if __name__ == "__main__":
    from memcli.cli.output import prepare_streams

    prepare_streams()
    main(json.loads(sys.argv[1]), Connection(int(sys.argv[2])))
