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
"""Verbs whose result is text instead of JSON."""
# A path below a device, at which nobody can create a store.
_NOWHERE = os.path.join(os.devnull, "none")


def main(options: Mapping[str, str | None], pool: Connection) -> None:
    """Answers requests of `Pool` until it sends None or ends. `options` are those of `Calls`."""
    calls = Calls(options, lambda _: None, loads_later=True)
    # Waited for here, before it is reported as ready: a first question would be answered by words alone.
    calls.load(waits=True)
    find_verb("recall")  # its modules are imported before the first request
    pool.send(None)  # `_Process.await_ready` waits for it
    try:
        while (request := pool.recv()) is not None:
            pool.send(answer(calls, *request))
    except (EOFError, OSError):
        pass


def answer(
    calls: Calls, name: str, options: Mapping[str, Any], user: str, is_bound: bool
) -> tuple[Any, MemcliError | None]:
    """The result of a verb that `user` calls, and None; or None, and its error. For a caller that is bound to spaces, the
    user-wide store does not exist."""
    environ = {**os.environ, "MEMCLI_USER": user, **({"MEMCLI_GLOBAL": _NOWHERE} if is_bound else {})}
    try:
        verb = find_verb(name)
        for option, field in parameters(verb).items():
            # A caller must not have this process read or write files by name.
            if field.kind == FILE and isinstance(options.get(option), str):
                raise UsageError(f"{option} cannot be a file here", "send what is in it")
        return calls.run(verb, (), options, as_json=name not in _TEXTS, environ=environ), None
    except Exception as error:  # noqa: BLE001 - a worker answers every request
        known = as_error(error)
        printed = shown(known)
        # As it is printed, with secrets redacted: they leave this process.
        known.message, known.hint, known.value = printed["message"], printed["hint"], None
        known.args = (known.message,)  # pickle makes an exception from its `args`
        return None, known


if __name__ == "__main__":
    from memcli.cli.output import prepare_streams

    prepare_streams()
    main(json.loads(sys.argv[1]), Connection(int(sys.argv[2])))
