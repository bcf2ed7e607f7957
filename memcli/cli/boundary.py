"""The error boundary: turns every failure into one line on standard error and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from memcli.cli.output import finish, report, silence
from memcli.errors import MemcliError, NotFoundError, StoreError, UsageError, hint_of

_INTERRUPTED = 130
_BROKEN_PIPE = 141


def prepare_streams() -> None:
    """Makes output bytes independent of locale and system."""
    nowhere = None
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, as `>&-` does
            nowhere = nowhere or open(os.devnull, "r+", encoding="utf-8")  # noqa: SIM115 - lasts as long as the process
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")


def guarded(work: Callable[[], int], json: bool) -> int:
    """Returns the result of `work`, or reports its failure and returns the exit code."""
    try:
        code = work()
        finish()
    except MemcliError as error:
        report(error, json)
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        silence()  # the reader has gone, as that of `| head` does
        return _BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
        return _unexpected(error, json)
    return code


def _unexpected(error: Exception, json: bool) -> int:
    """Handles Typer's usage errors, whose classes are private, and bugs."""
    if type(error).__name__ == "Abort":
        return _INTERRUPTED
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())  # type: ignore[attr-defined]
        return UsageError.exit_code
    known = _known(error)
    if known is None:
        if os.environ.get("MEMCLI_DEBUG"):
            raise error
        hint = "please report it; MEMCLI_DEBUG=1 shows a traceback"
        known = MemcliError(f"internal error: {type(error).__name__}: {error}", hint)
    report(known, json)
    return known.exit_code


def _known(error: Exception) -> MemcliError | None:
    if hasattr(error, "format_message"):
        return UsageError(error.format_message().rstrip("."), _help_of(error))
    if isinstance(error, UnicodeEncodeError):
        return UsageError(f"not valid UTF-8: {error.object[:40]!a}", "convert the argument to UTF-8")
    if isinstance(error, MemoryError):
        return StoreError("out of memory", "close other programs, or give memcli more (`ulimit -v`)")
    if type(error).__module__ == "sqlite3" and not os.environ.get("MEMCLI_DEBUG"):
        return StoreError(f"the cache is damaged: {error}", "run `memcli index rebuild`; no memory is lost")
    if isinstance(error, OSError) and not os.environ.get("MEMCLI_DEBUG"):
        if isinstance(error, FileNotFoundError) and not error.filename:
            return NotFoundError("the working directory no longer exists", "change to an existing directory")
        where = f": {error.filename}" if error.filename else ""
        return StoreError(f"{error.strerror or error}{where}", hint_of(error, "check permissions and free space"))
    return None


def _help_of(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"see `{context.command_path} --help`" if context is not None else "see `memcli --help`"
