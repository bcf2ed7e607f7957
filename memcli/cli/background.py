"""Background work: started in a process of its own when a command ends, at the lowest priority, one process at a time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

from memcli.app.workspace import Workspace
from memcli.cli.verb import CommandContext
from memcli.errors import MemcliError
from memcli.store.layout import Layout, identity
from memcli.store.lock import locked

FOREGROUND = "MEMCLI_HOOK_FOREGROUND"
"""A variable that, when set, makes git hooks work in the foreground without a time limit; for scripts and tests."""
SWITCH = "MEMCLI_BACKGROUND"
"""A variable that turns background work off when it is `off`."""
_LOWEST = 19
_FEW = 8
"""The vectors that are computed at once: with the start of the model they take less than a second."""


def start(arguments: Sequence[str], piped: str = "") -> None:
    """Runs memcli with these arguments in a process that outlives its parent and inherits none of its files.

    `piped` is its standard input. Failure to start the process is ignored.
    """
    import subprocess

    from memcli.git.hooks import this_program

    with suppress(OSError):
        child = subprocess.Popen(
            [*this_program(), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert child.stdin
        child.stdin.write(piped.encode())
        child.stdin.close()
        child.returncode = 0  # nobody waits for it


def embed_later(session: CommandContext, workspace: Workspace) -> bool:
    """Starts to compute the missing vectors of a store in the background. Returns whether it was started.

    Not while the clock is frozen: what such a command leaves behind must not depend on when it is looked at.
    """
    if not _may_embed(session, workspace):
        return False
    space = session.options["space"]
    chosen = [*([f"--space={space}"] if space else []), *(["--offline"] if session.options["offline"] else [])]
    start(["store", "index", "embed", "--background", f"--root={workspace.root}", *chosen])
    return True


def embed_soon(session: CommandContext, workspace: Workspace) -> None:
    """Has the missing vectors of a store computed, here if that takes a moment, as behind a small ingest; else as
    `embed_later` does."""
    if not _may_embed(session, workspace):
        return
    from memcli.app.space import embed_few

    # A colon is in the names of providers and of models of the user's own.
    if ":" not in workspace.embedder:  # those may take any time
        with suppress(MemcliError):
            if embed_few(workspace, _FEW):
                return
    embed_later(session, workspace)


def _may_embed(session: CommandContext, workspace: Workspace) -> bool:
    return not session.is_frozen and "off" not in (os.environ.get(SWITCH), workspace.embedder)


def run_alone(root: str, work: Callable[[Callable[[], bool]], object]) -> None:
    """Does the work at the lowest priority when no other process does it. One waits, for what came while it was done;
    more are not needed. There is nobody to tell of an error.

    The work gets a function that says whether the store is still the one at `root` that it began with. It is never made: once it
    is gone, or is another one, there is nothing to do.
    """
    give_way()
    layout, store = Layout(root), identity(root)

    def is_there() -> bool:
        return store is not None and identity(root) == store

    with suppress(MemcliError), ExitStack() as turn:
        with locked(layout.turn("next"), "the next background work", 0):
            turn.enter_context(locked(layout.turn("now"), "the background work", math.inf))
        if is_there():
            work(is_there)


def give_way() -> None:
    """Sets the priority of this process to the lowest there is, permanently."""
    if hasattr(os, "nice"):
        os.nice(_LOWEST)
    # Linux may weigh sessions against each other, and priorities within a session alone.
    with suppress(OSError, AttributeError):
        if os.getsid(0) == os.getpid():
            with open("/proc/self/autogroup", "w", encoding="ascii") as group:
                group.write(str(_LOWEST))
