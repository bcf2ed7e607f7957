"""Work that goes on when its command has ended, in a process of its own: without a daemon, and one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from memcli.app.workspace import Workspace
from memcli.cli.verb import Session
from memcli.errors import MemcliError
from memcli.store.atomic import make_folder
from memcli.store.layout import Layout
from memcli.store.lock import locked

FOREGROUND = "MEMCLI_HOOK_FOREGROUND"
"""Set: nothing goes into the background, and nothing is given up for want of time; for scripts and tests."""
SWITCH = "MEMCLI_BACKGROUND"
"""`off`: nothing is done in the background."""
_LOWEST = 19
_RECALLS = 50
_TURN_SECONDS = 24 * 3600.0


def start(arguments: Sequence[str], piped: str = "") -> None:
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


def is_frozen(session: Session) -> bool:
    """Whether the clock of a command stands still."""
    return bool(session.options["freeze_clock"] or os.environ.get("MEMCLI_FREEZE_CLOCK"))


def embed_later(session: Session, workspace: Workspace) -> bool:
    """Has the missing vectors of a store computed in the background; whether that was begun.

    Not while the clock is frozen: what such a command leaves behind must not depend on when it is looked at.
    """
    if is_frozen(session) or "off" in (os.environ.get(SWITCH), workspace.embedder):
        return False
    space = session.options["space"]
    chosen = [*([f"--space={space}"] if space else []), *(["--offline"] if session.options["offline"] else [])]
    start(["index", "embed", "--background", f"--root={workspace.root}", *chosen])
    return True


def upkeep_later(session: Session, workspace: Workspace) -> bool:
    """Counts a recall, and after every 50th has what is due maintained in the background; whether that was begun.

    Not while the clock is frozen, or memory is off.
    """
    from memcli.store.switch import is_off

    if is_frozen(session) or os.environ.get(SWITCH) == "off" or is_off(workspace.root, os.environ):
        return False
    count = workspace.upkeep.count()
    if not count or count % _RECALLS:
        return False
    from memcli.app.upkeep import is_due

    with suppress(MemcliError):  # the recall has been answered
        if is_due(workspace):
            start(["maintain", "--background", f"--root={workspace.root}"])
            return True
    return False


def run_alone(root: str, work: Callable[[], object]) -> None:
    """Does the work at the lowest priority when no other process does it. One waits, for what came while it was done;
    more are not needed. There is nobody to tell of an error."""
    if hasattr(os, "nice"):
        os.nice(_LOWEST)
    folder = Layout(root).local("background")
    with suppress(MemcliError), _turn(folder):
        work()


@contextmanager
def _turn(folder: str) -> Iterator[None]:
    make_folder(folder)
    with locked(os.path.join(folder, "next.lock"), "the next background work", 0):
        own = locked(os.path.join(folder, "work.lock"), "the background work", _TURN_SECONDS)
        own.__enter__()
    try:
        yield
    finally:
        own.__exit__(None, None, None)
