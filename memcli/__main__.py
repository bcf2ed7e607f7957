"""`python -m memcli`, and the console script."""

import os
import sys

_INTERRUPTED = 130


def main() -> None:
    """Runs the command line. Ctrl-C ends it quietly also while modules are being imported."""
    try:
        if sys.argv[1:2] == ["__complete"]:
            from memcli.extras.completion.values import complete

            complete(sys.argv[2:])
            return
        from memcli.cli.output import prepare_streams

        prepare_streams()
        from memcli.cli.parser import run

        code = run(sys.argv[1:])
        if code is None:  # Typer is imported only for what the parser does not accept
            from memcli.cli.main import main as run_all

            code = run_all(sys.argv[1:])
        _exit(code)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _exit(code: int) -> None:
    """Ends the process, also while a thread that runs native code is still at work for a search."""
    late = sys.modules.get("memcli.index.view")
    if late is not None and late.is_work_left():
        # To take down the interpreter under such a thread ends in a crash.
        sys.stdout.flush()
        exporting = sys.modules.get("memcli.extras.telemetry.exporting")
        if exporting is not None:
            exporting.flush()  # what else happens at exit
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
