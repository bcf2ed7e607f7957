"""`python -m memcli`, and the console script."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from memcli import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_INTERRUPTED = 130
_COLLECT_AFTER = 50_000
"""New containers between two runs of the garbage collector. With Python's 700, a tenth of a recall is spent on looking for
garbage that a short command does not make."""


def main() -> None:
    """Runs the command line. Ctrl-C ends it quietly also while modules are being imported."""
    # Locks, links and permissions are handled as POSIX has them, and were never run there.
    if sys.platform == "win32":
        sys.exit("memcli: Windows is not supported; install memcli in WSL (`wsl --install`)")
    gc.set_threshold(_COLLECT_AFTER)
    try:
        if sys.argv[1:] in (["--version"], ["-V"], ["version"]):  # without any import
            try:
                sys.stdout.write(f"memcli {__version__}\n")
                sys.stdout.flush()
            except (AttributeError, OSError):  # there is no stream, or it is closed or full: the command line says so
                pass
            else:
                _exit(0)
        if sys.argv[1:2] == ["__complete"]:
            from memcli.extras.completion.values import complete

            complete(sys.argv[2:])
            _exit(0)
        _ask_helper(sys.argv[1:])
        from memcli.cli.output import finish, prepare_streams, reported

        prepare_streams()
        from memcli.cli.options import CommonOptions
        from memcli.cli.verb import CommandContext, read_line

        call = read_line(sys.argv[1:])
        if call is None:  # Typer is imported only for what the parser does not accept
            from memcli.cli.main import main as run_all

            _exit(run_all(sys.argv[1:]))
        verb, options, common = call
        try:
            code = verb.run_in(CommandContext(verb.name, CommonOptions(**common)), options)
            finish()
        except BaseException as error:  # noqa: BLE001 - what is no failure is raised again
            code = reported(error, bool(common.get("json")))
        _exit(code)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _ask_helper(args: list[str]) -> None:
    """Ends the process with the answer of a helper, if one runs and answers. Returns if this process has to do it."""
    mode = os.environ.get("MEMCLI_HELPER")
    if mode == "off":
        return
    from memcli.client import ask, may_ask

    if not may_ask(args, os.environ):
        return
    code = ask(args)
    if code is not None:
        os._exit(code)  # all that there was to write is written
    if mode == "require":
        sys.exit("memcli: no helper answered (MEMCLI_HELPER=require)")
    if mode == "auto":
        from memcli.extras.helper.starting import start_helper

        # At the exit, so that the command that starts it does not wait for it.
        atexit.register(start_helper)


def _exit(code: int) -> NoReturn:
    """Ends the process after its exit handlers, without taking down the interpreter.

    That takes as long as a tenth of a recall, and crashes under a thread that runs native code for a search that was given up.
    """
    threading = sys.modules.get("threading")
    if threading is None or all(one.daemon or one is threading.main_thread() for one in threading.enumerate()):
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):
            pass  # the interpreter reports it as of any program
        else:
            os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
