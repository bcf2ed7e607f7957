"""Work that nobody waits for: in a process of its own, or for no longer than a moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress


def run_within(seconds: float | None, work: Callable[[], None]) -> bool:
    """Does the work, but waits no longer than this, for ever with None; whether it still runs."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return thread.is_alive()


def start_detached(arguments: Sequence[str], piped: str = "") -> None:
    """Runs memcli with these arguments in a process that outlives whoever called this one and holds nothing of theirs.

    `piped` is what it reads on standard input. A system that starts no more processes is not told of.
    """
    import subprocess

    from memcli.git.program import this_program

    with suppress(OSError):
        child = subprocess.Popen(
            [*this_program(), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert child.stdin
        child.stdin.write(piped.encode())
        child.stdin.close()
        child.returncode = 0  # nobody waits for it
