"""Background work: in a separate process, or with a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress


def run_within(seconds: float | None, work: Callable[[], None]) -> bool:
    """Runs `work`, waiting at most this many seconds (None: no limit). Returns whether it is still running."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return thread.is_alive()


def start_detached(arguments: Sequence[str], piped: str = "") -> None:
    """Runs memcli with these arguments in a process that outlives its parent and inherits none of its files.

    `piped` is its standard input. Failure to start the process is ignored.
    """
    import subprocess

    from memcli.git.driver import this_program

    with suppress(OSError):
        child = subprocess.Popen(
            [*this_program(), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert child.stdin
        child.stdin.write(piped.encode())
        child.stdin.close()
        child.returncode = 0  # nobody waits for it
