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
    everything: Annotated[bool, typer.Option("--all", "-a", help="Forgotten and superseded ones too.")] = False,
    rev: Rev = None,
) -> None:
    """List memories in order of path."""
    from memcli.app.lookup import list_memories
    from memcli.render.listing import listing, summary_json

    found = list_memories(session.open(rev=rev), path, kind or (), tag or (), everything)
    session.output.answer([summary_json(m) for m in found], listing(found))
