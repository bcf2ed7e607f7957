"""`memcli list`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import Kinds, Rev, Tags, verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="Only at this path and below it.")] = "",
    kind: Kinds = None,
    tag: Tags = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-l", min=1, metavar="N", help="At most N; says how many more there are.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Forgotten and superseded ones too.")] = False,
    rev: Rev = None,
) -> None:
    """List memories in order of path."""
    from memcli.app.lookup import list_memories
    from memcli.cli import filters
    from memcli.render.listing import listing, summary_json

    kinds, tags = filters.kinds(session, kind), filters.tags(tag)
    found = list_memories(session.open(rev=rev), filters.path(path, "the path"), kinds, tags, everything)
    shown = found[:limit]
    session.output.answer([summary_json(m) for m in shown], listing(shown))
    if more := len(found) - len(shown):
        session.output.note(f"{more} more; --limit {len(found)} lists all")
