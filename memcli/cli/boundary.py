"""The last boundary: every failure becomes one line on standard error and an exit code."""

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
    """Makes what is printed the same bytes whatever the locale and the system."""
    nowhere = None
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, as `>&-` does
            nowhere = nowhere or open(os.devnull, "r+", encoding="utf-8")  # noqa: SIM115 - lasts as long as the process
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")


def guarded(work: Callable[[], int], json: bool) -> int:
    """What `work` returns, or the exit code of its failure, which has then been reported."""
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
    """Usage errors of Typer, whose classes are private to it; and bugs, which are one line too."""
    if type(error).__name__ == "Abort":
        return _INTERRUPTED
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())  # type: ignore[attr-defined]
        return UsageError.exit_code
    known = _known(error)
    if known is None:
        if os.environ.get("MEMCLI_DEBUG"):
            raise error
        hint = "MEMCLI_DEBUG=1 shows where; please report it"
        known = MemcliError(f"internal error: {type(error).__name__}: {error}", hint)
    report(known, json)
    return known.exit_code


def _known(error: Exception) -> MemcliError | None:
    if hasattr(error, "format_message"):
        return UsageError(error.format_message().rstrip("."), _help_of(error))
    if isinstance(error, UnicodeEncodeError):
        return UsageError(f"not valid UTF-8: {error.object[:40]!a}", "convert the argument, for example with iconv")
    if isinstance(error, MemoryError):
        return StoreError("out of memory", "close other programs, or give memcli more (`ulimit -v`)")
    if type(error).__module__ == "sqlite3" and not os.environ.get("MEMCLI_DEBUG"):
        return StoreError(f"the cache is damaged: {error}", "run `memcli index rebuild`; no memory is lost")
    if isinstance(error, OSError) and not os.environ.get("MEMCLI_DEBUG"):
        if isinstance(error, FileNotFoundError) and not error.filename:
            return NotFoundError("the working directory is gone", "change to one that is there")
        where = f": {error.filename}" if error.filename else ""
        return StoreError(f"{error.strerror or error}{where}", hint_of(error, "check permissions and space"))
    return None


def _help_of(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"see `{context.command_path} --help`" if context is not None else "see `memcli --help`"
