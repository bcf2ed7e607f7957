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
"""The environment variable that makes git hooks run in the foreground without a time limit, for scripts and tests."""
SWITCH = "MEMCLI_BACKGROUND"
"""The environment variable that disables background work with the value `off`."""
_LOWEST = 19
_FEW = 8
"""The most vectors that a command computes itself: including the start of the model they take less than a second."""
_LOOK_SECONDS = 1.0


def start(arguments: Sequence[str], piped: str = "") -> None:
    """Runs memcli with these arguments in a process of its own, with `piped` as standard input. It outlives this process and
    inherits none of its files. A failure to start it is ignored."""
    import subprocess

    from memcli.git.hooks import this_program

    with suppress(OSError):
        # Without the streams of this process: whoever reads what git prints would wait until the work is done. And in a session
        # of its own, so that Ctrl-C does not reach it.
        child = subprocess.Popen(
            [*this_program(), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert child.stdin
        child.stdin.write(piped.encode())
        child.stdin.close()
        child.returncode = 0  # or Python would warn that nobody has waited for it


def embed_missing(session: CommandContext, workspace: Workspace, *, few_at_once: bool = False) -> None:
    """Computes the missing vectors of a store in the background; with `few_at_once`, up to _FEW in this process."""
    # Not while the clock is frozen: the files that such a command leaves must not depend on when another process writes.
    if session.is_frozen or "off" in (os.environ.get(SWITCH), workspace.embedder):
        return
    # The names of providers and of the user's own models have a colon: those may take any time.
    if few_at_once and ":" not in workspace.embedder:
        from memcli.app.space import embed_few

        with suppress(MemcliError):
            if embed_few(workspace, _FEW):
                return
    space = session.options["space"]
    chosen = [*([f"--space={space}"] if space else []), *(["--offline"] if session.options["offline"] else [])]
    start(["store", "index", "embed", "--background", f"--root={workspace.root}", *chosen])


def run_alone(root: str, work: Callable[[Callable[[], bool]], object]) -> None:
    """Runs `work` at the lowest priority, while no other process runs background work on the store at `root`. Errors are ignored:
    the process has no output. It ends when the store is removed.

    `work` gets a function that returns whether the store still exists and is the one that it began with.
    """
    import threading

    lower_priority()
    layout, store = Layout(root), identity(root)

    def is_there() -> bool:
        return store is not None and identity(root) == store

    def end_with_store() -> None:
        # `work` may ask too late: at this priority, a batch of vectors takes minutes on a busy machine.
        while not is_over.wait(_LOOK_SECONDS):
            if not is_there():
                os._exit(0)

    is_over = threading.Event()
    threading.Thread(target=end_with_store, daemon=True).start()
    with suppress(MemcliError), ExitStack() as turn:
        turn.callback(is_over.set)
        # One process waits while another works, for what has been stored since that began; a third would find nothing to do.
        with locked(layout.turn("next"), "the next background work", 0):
            turn.enter_context(locked(layout.turn("now"), "the background work", math.inf))
        # A store that was deleted meanwhile must not be made again.
        if is_there():
            work(is_there)


def lower_priority() -> None:
    """Sets the priority of this process to the lowest, permanently."""
    if hasattr(os, "nice"):
        os.nice(_LOWEST)
    # With its autogroups, Linux compares priorities only within a session: that of the session is lowered, too.
    with suppress(OSError, AttributeError):
        if os.getsid(0) == os.getpid():
            with open("/proc/self/autogroup", "w", encoding="ascii") as group:
                group.write(str(_LOWEST))
