"""`memcli store`"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.options import REQUIRED, Options, argument, flag, option
from memcli.cli.output import ProgressBar
from memcli.cli.verb import Group, Session
from memcli.errors import MemcliError, UsageError

if TYPE_CHECKING:
    from memcli.app.store_copy import Copied
    from memcli.app.workspace import Workspace
    from memcli.model.space import Space
    from memcli.wiring.sides import Side

command = Group("store", "Copy spaces between folders and servers, and sync with a team's server.")


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


@command.verb(CopyOptions)
def copy(session: Session, options: CopyOptions) -> None:
    """Copy all spaces, or --space, with policies, audit log and trash to another store, and verify each by its hash.

    What TO has already is skipped, so that an interrupted copy can be resumed by the same command; what differs is refused
    unless --mode says otherwise. The spaces `repo` and `journal`, sessions and caches stay where they are.

    Example: memcli store copy . postgresql://ann@db.example.com/team
    """
    from memcli.store.layout import remove_unused
    from memcli.wiring.sides import Side

    if options.mode not in (None, "merge", "replace"):
        raise UsageError(f"no mode {options.mode!r}", "choose merge or replace")
    source = Side(options.source, session.options, os.environ)
    target = Side(options.target, session.options, os.environ)
    if source.identity == target.identity:
        raise UsageError("FROM and TO are the same store", "name two stores")
    is_new = False
    try:
        if not source.is_server:
            _open(session, source)
        is_new = target.make(os.environ)
        done = _copied(session, source, target, options.mode or "")
    except MemcliError:
        if is_new:
            remove_unused(target.root)
        raise
    session.output.confirm([one.to_json() for one in done], "\n".join(map(_told, done)) or "nothing to copy")


def _copied(session: Session, source: Side, target: Side, mode: str) -> Sequence[Copied]:
    from memcli.app.peer_log import point_of
    from memcli.app.store_copy import BATCH, check_copy, copied_spaces, copy_space
    from memcli.wiring.sides import sync_base

    def settled(space: Space) -> None:
        """Lets a later sync of the files begin from what both have."""
        if source.is_server != target.is_server:
            files, (server, there) = (source, (target, theirs)) if target.is_server else (target, (source, ours))
            point = point_of(there, space.name)
            if point.space == space:
                sync_base(files.root, server).save(point)

    ours, theirs = _open(session, source, target), _open(session, target, source)
    names = copied_spaces(ours, session.options["space"])
    check_copy(ours, theirs, names, is_shared=target.is_server)
    progress = ProgressBar("copying", session.output.quiet)
    batch = BATCH if target.is_server else 0
    try:
        return [copy_space(ours, theirs, name, mode, batch, progress, settled, source.shown) for name in names]
    finally:
        progress.close()


class SyncOptions(Options):
    """What `memcli store sync` takes."""

    name: str | None = argument("[SPACE]", "The space to sync [default: the current one].")
    with_: str | None = option(
        metavar="URL", help="The server to sync with, or a folder with a store [default: the configured server]."
    )
    accept_deletions: bool = flag(
        "--accept-deletions",
        help="Delete what the other side deleted, also more than 10 memories or 20 % of the space.",
    )
    as_new: bool = flag(
        "--as-new", help="Merge with a server that was wiped, replaced or restored; nothing is deleted."
    )


@command.verb(SyncOptions)
def sync(session: Session, options: SyncOptions) -> None:
    """Merge a space of this repository's files with that of the team's server, and store the result in both.

    Memories are merged as git merges them with the merge driver: both sides' additions survive, and where both changed one
    field, the newer value wins and the older one is recorded in metadata.conflicts. What one side purged for good does not
    come back, and what it deleted goes into the trash. A server that was wiped, replaced or restored from a backup, or whose
    audit log cannot be believed, is refused, and so are many deletions at once. What comes from the server waits for
    `memcli trust`, as imports do. If the server cannot be reached, nothing changes; run it again later.

    Example: memcli store sync main --with postgresql://ann@db.example.com/team
    """
    from memcli.app.store_sync import sync as sync_space
    from memcli.codec.merge import Merged
    from memcli.model.names import check_space
    from memcli.model.space import Space
    from memcli.render.changes import merged_text
    from memcli.wiring.sides import HERE, Side, sync_base, team_side

    here = Side(HERE, session.options, os.environ)
    there = team_side(options.with_, session.options, os.environ)
    if here.identity == there.identity:
        raise UsageError("a store cannot be synced with itself", "name another one with --with")
    ours, theirs = _open(session, here), _open(session, there, here)
    name = check_space(options.name or ours.space)
    base = sync_base(here.root, there)
    done = sync_space(
        ours, theirs, name, base,
        accept_deletions=options.accept_deletions, as_new=options.as_new, shown=there.shown,
    )  # fmt: skip
    session.output.confirm(
        done.to_json(),
        f"synced space {name} with {there.shown}: {done.received} received, {done.sent} sent; sha256 {done.hash}",
    )
    if done.conflicts or done.moved:
        session.output.note(merged_text(Merged(Space(name), done.conflicts, done.moved)))


def _open(session: Session, side: Side, beside: Side | None = None) -> Workspace:
    store, root = side.options(beside)
    return session.open(store=store, root=root)


def _told(done: Copied) -> str:
    parts = [f"{done.written} of {done.objects} memories written"]
    parts += [f"{done.removed} removed"] if done.removed else []
    parts += [f"{done.runs} runs of the trash"] if done.runs else []
    parts += [f"{done.entries} audit entries"] if done.entries else []
    return f"copied space {done.space}: {', '.join(parts)}; verified sha256 {done.hash}"
