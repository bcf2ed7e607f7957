"""`memcli store sync`"""

from __future__ import annotations

import os

from memcli.cli.commands.store.copy import open_side
from memcli.cli.options import Options, argument, flag, option
from memcli.cli.verb import CommandContext, verb
from memcli.errors import UsageError


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


@verb(SyncOptions)
def command(session: CommandContext, options: SyncOptions) -> None:
    """Merge a space of this repository's files with that of the team's server, and store the result in both.

    Memories are merged as git merges them with the merge driver: both sides' additions survive, and where both changed one
    field, the newer value wins and the older one is recorded in metadata.conflicts. What one side purged for good does not
    come back, and what it deleted goes into the trash. A server that was wiped, replaced or restored from a backup, or whose
    audit log cannot be believed, is refused, and so are many deletions at once. What comes from the server waits for
    `memcli trust`, as imports do. If the server cannot be reached, nothing changes; run it again later.

    Example: memcli store sync main --with postgresql://ann@db.example.com/team

    >>> memory.store_sync()
    Traceback (most recent call last):
    memcli.errors.UsageError: no server to sync with
    """
    from memcli.app.store_sync import sync as sync_space
    from memcli.codec.merge import Merged
    from memcli.model.names import check_space
    from memcli.model.space import Space
    from memcli.render.changes import merged_text
    from memcli.wiring.build import HERE, SyncSide, sync_base, team_side

    here = SyncSide(HERE, session.options, os.environ)
    there = team_side(options.with_, session.options, os.environ)
    if here.identity == there.identity:
        raise UsageError("a store cannot be synced with itself", "name another one with --with")
    ours, theirs = open_side(session, here), open_side(session, there, here)
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
