"""`memcli store copy`"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.options import REQUIRED, Options, argument, option
from memcli.cli.output import ProgressBar
from memcli.cli.verb import CommandContext, verb
from memcli.errors import MemcliError, UsageError

if TYPE_CHECKING:
    from memcli.app.store_copy import Copied
    from memcli.app.workspace import Workspace
    from memcli.model.space import Space
    from memcli.wiring.build import SyncSide


class CopyOptions(Options):
    """What `memcli store copy` takes."""

    source: str = argument("FROM", "A folder with a store, or the URL of a server; `.`: this store.", default=REQUIRED)
    target: str = argument(
        "TO", "A folder, which is created if it is missing, or the URL of a server.", default=REQUIRED
    )
    mode: str | None = option(
        metavar="merge|replace",
        help="merge: keep the newer version of each memory; replace: make each space equal to that of FROM.",
    )


@verb(CopyOptions, returns="Objects")
def command(session: CommandContext, options: CopyOptions) -> None:
    """Copy all spaces, or --space, with policies, audit log and trash to another store, and verify each by its hash.

    What TO has already is skipped, so that an interrupted copy can be resumed by the same command; what differs is refused
    unless --mode says otherwise. The spaces `repo` and `journal`, sessions and caches stay where they are.

    Example: memcli store copy . postgresql://ann@db.example.com/team

    >>> [row['space'] for row in memory.store_copy('.', 'copy')]
    ['main']
    """
    from memcli.store.layout import remove_unused
    from memcli.wiring.build import SyncSide

    if options.mode not in (None, "merge", "replace"):
        raise UsageError(f"no mode {options.mode!r}", "choose merge or replace")
    source = SyncSide(options.source, session.options, os.environ)
    target = SyncSide(options.target, session.options, os.environ)
    if source.identity == target.identity:
        raise UsageError("FROM and TO are the same store", "name two stores")
    is_new = False
    try:
        if not source.is_server:
            open_side(session, source)
        is_new = target.make(os.environ)
        done = _copied(session, source, target, options.mode or "")
    except MemcliError:
        if is_new:
            remove_unused(target.root)
        raise
    session.output.confirm([one.to_json() for one in done], "\n".join(map(_line, done)) or "nothing to copy")


def _copied(session: CommandContext, source: SyncSide, target: SyncSide, mode: str) -> Sequence[Copied]:
    from memcli.app.history import point_of
    from memcli.app.store_copy import BATCH, check_copy, copied_spaces, copy_space
    from memcli.wiring.build import sync_base

    def settled(space: Space) -> None:
        """Lets a later sync of the files begin from what both have."""
        if source.is_server != target.is_server:
            files, (server, there) = (source, (target, theirs)) if target.is_server else (target, (source, ours))
            point = point_of(there, space.name)
            if point.space == space:
                sync_base(files.root, server).save(point)

    ours, theirs = open_side(session, source, target), open_side(session, target, source)
    names = copied_spaces(ours, session.options["space"])
    check_copy(ours, theirs, names, is_shared=target.is_server)
    progress = ProgressBar("copying", session.output.quiet)
    batch = BATCH if target.is_server else 0
    try:
        return [copy_space(ours, theirs, name, mode, batch, progress, settled, source.shown) for name in names]
    finally:
        progress.close()


def open_side(session: CommandContext, side: SyncSide, beside: SyncSide | None = None) -> Workspace:
    """Opens one side of a copy or a sync."""
    store, root = side.options(beside)
    return session.open(store=store, root=root)


def _line(done: Copied) -> str:
    parts = [f"{done.written} of {done.objects} memories written"]
    parts += [f"{done.removed} removed"] if done.removed else []
    parts += [f"{done.runs} runs of the trash"] if done.runs else []
    parts += [f"{done.entries} audit entries"] if done.entries else []
    return f"copied space {done.space}: {', '.join(parts)}; verified sha256 {done.hash}"
