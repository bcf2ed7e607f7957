"""`memcli watch`"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from memcli.cli.options import Options, argument, flag, option
from memcli.cli.output import redaction_note
from memcli.cli.verb import SHARE, CommandContext, verb
from memcli.errors import UsageError

if TYPE_CHECKING:
    from threading import Event

    from memcli.app.workspace import Workspace


_GRACE_SECONDS = 0.3


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Yields an event that SIGINT and SIGTERM set. A body that does not end within _GRACE_SECONDS afterwards is interrupted."""
    stop = threading.Event()

    def request_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.setitimer(signal.ITIMER_REAL, _GRACE_SECONDS)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt  # no `Exception`, so that no handler of the work swallows it

    # Work that blocks, as in a wait for a lock, does not see the event: the handler of the timer raises an error in it.
    handlers = {signal.SIGINT: request_stop, signal.SIGTERM: request_stop, signal.SIGALRM: interrupt}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield stop
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)  # before the handlers: without one SIGALRM ends the process
        for number, handler in before.items():
            signal.signal(number, handler)


class WatchOptions(Options):
    """What `memcli watch` takes."""

    paths: list[str] = argument("[FILE...]", "Watch only these files and folders.", many=True)
    glob: list[str] = option(metavar="PATTERN", help="Watch only files that match this glob. Repeatable.", many=True)
    git: bool = flag("--git/--no-git", help="Ingest new commits too.", default=True)
    embed: bool = flag(help="Compute vectors when idle, not only the index.")
    once: bool = flag(help="Ingest what changed since the last run, then exit.")
    status: bool = flag(help="Show whether a watch is running, and what it did.")


@verb(WatchOptions, section=SHARE, line="Read files as they change")
def command(session: CommandContext, options: WatchOptions) -> None:
    """Ingest files and commits as they change, until Ctrl-C.

    The memories go to the space `repo` unless --space names another. In a new clone, `repo` is first built from the history
    and all files; otherwise the first run records the work tree as a baseline. Later runs first ingest what changed in
    between. Files matched by .gitignore, and .memory itself, are ignored. The index is kept up to date.

    Example: memcli watch docs --glob '*.md'
    """
    if options.status:
        if options.paths or options.glob or options.once or options.embed:
            raise UsageError("--status cannot be used with other options", "run `memcli watch --status`")
        from memcli.extras.watch.storing import watch_status

        status = watch_status(session.open().over_repo())
        lines = [f"running, process {status['pid']}, since {status['since']}" if status["running"] else "not running"]
        lines.append(f"{status['files']} files watched, into space {status['space']}")
        if status["last_commit"]:
            lines.append(f"commits ingested up to {status['last_commit'][:10]}")
        if batch := status["last_batch"]:
            counts = ", ".join(f"{batch[n]} {n}" for n in ("created", "updated", "retired", "proposed") if batch.get(n))
            lines.append(f"last batch {batch['at']}: {counts or 'nothing new'}")
        if trouble := status["last_trouble"]:
            lines.append(f"last error {trouble['at']}: {trouble['message']}")
        session.output.answer(status, "\n".join(lines))
        return
    _watch(session, options)


def _watch(session: CommandContext, options: WatchOptions) -> None:
    """Watches until stopped. If the store is removed, waits until it is back."""
    import os

    from memcli.store.trust import is_off

    with stoppable() as stop:
        workspace = session.open(create=True).over_repo()
        while is_off(workspace.root, os.environ):
            if options.once or stop.wait(1):
                return
        if not options.once:
            session.keep_helper()
        all_is_new = False
        while _run(session, workspace, options, stop, all_is_new):
            session.output.note(f"the store was removed or replaced: waiting for {workspace.root}")
            while not os.path.isdir(workspace.root):
                if stop.wait(1):
                    return
            all_is_new = True  # the new store may lack what the old one had of any file
            workspace = session.open().over_repo()


def _run(session: CommandContext, workspace: Workspace, options: WatchOptions, stop: Event, all_is_new: bool) -> bool:
    """Watches until stopped, or until the store is removed or replaced, and then returns True."""
    from memcli.extras.watch.storing import open_watch

    output, upkeep = session.output, not session.is_frozen
    with open_watch(workspace, options, stop, all_is_new=all_is_new, upkeep=upkeep) as (watch, work_tree):
        if not options.once:
            output.note(f"watching {work_tree} into space {workspace.space}; press Ctrl-C to stop")
        for done in watch.run():
            if output.json:
                output.lines([{"at": workspace.clock(), **done.to_json()}])
            elif results := done.stored():
                more = f" and {len(done.paths) - 3} more" if len(done.paths) > 3 else ""
                line = f"{workspace.clock()}  {results}  {', '.join(done.paths[:3])}{more}"
                output.confirm(None, line.rstrip() + redaction_note(done.redactions))
        return watch.is_gone and not stop.is_set() and not options.once
