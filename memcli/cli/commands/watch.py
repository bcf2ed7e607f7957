"""`memcli watch`"""

from __future__ import annotations

import signal
import threading
from typing import Annotated

import typer

from memcli.app.ingest import Ingested
from memcli.app.workspace import Workspace
from memcli.cli.options import verb
from memcli.cli.output import redacted_told
from memcli.cli.session import Session
from memcli.errors import LockedError


@verb
def command(
    session: Session,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE...]", help="Only these files and folders.")
    ] = None,
    glob: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Only files like this; may be repeated.")
    ] = None,
    git: Annotated[bool, typer.Option("--git/--no-git", help="New commits too.")] = True,
    once: Annotated[
        bool, typer.Option("--once", help="Catch up with what changed since the last time, and end.")
    ] = False,
) -> None:
    """Ingest files and commits as they change, until Ctrl-C.

    The first run takes the work tree as it is for known; later ones begin by catching up with what they missed.
    What .gitignore covers is left alone, and so is .memory itself.

    Example: memcli watch docs --glob '*.md'
    """
    from memcli.store.lock import locked
    from memcli.wiring.sources import open_watch

    workspace = session.open(create=True)
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    watch = open_watch(workspace, paths or (), glob or (), with_git=git, once=once, stop=stop)
    try:
        with locked(watch.lock, "the watch", wait=0):
            if not once:
                session.output.note(f"watching {watch.work_tree} into space {workspace.space}; Ctrl-C ends it")
            for done in watch.run():
                _tell(session, workspace, done)
    except LockedError as error:
        raise LockedError("another memcli watches this store", "end that one first") from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(session: Session, workspace: Workspace, done: Ingested) -> None:
    if session.output.json:
        session.output.lines([{"at": workspace.clock(), **done.to_json()}])
        return
    if not any((done.created, done.updated, done.retired, done.proposed)):
        return
    counts = (
        (done.created, "created"),
        (done.updated, "updated"),
        (done.retired, "retired"),
        (done.proposed, "proposed"),
    )
    told = ", ".join(f"{n} {name}" for n, name in counts if n)
    shown = ", ".join(done.paths[:3]) + (f" and {len(done.paths) - 3} more" if len(done.paths) > 3 else "")
    session.output.confirm(None, f"{workspace.clock()}  {told}  {shown}".rstrip() + redacted_told(done.redactions))
