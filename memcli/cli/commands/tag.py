"""`memcli tag`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import Refs, verb
from memcli.cli.session import Session
from memcli.errors import UsageError


@verb
def command(
    session: Session,
    refs: Refs,
    add: Annotated[list[str] | None, typer.Option("--add", "-a", metavar="TAG", help="May be repeated.")] = None,
    remove: Annotated[list[str] | None, typer.Option("--remove", "-r", metavar="TAG", help="May be repeated.")] = None,
) -> None:
    """Add or remove tags.

    Example: memcli tag auth/tokens --add security --remove draft
    """
    from memcli.app.alter import tag
    from memcli.render.listing import summary_json

    if not add and not remove:
        raise UsageError("no tag given", "use --add TAG or --remove TAG")
    memories = tag(session.open(), refs, add or (), remove or ())
    text = "\n".join(f"{m.id} {m.path}: {', '.join(m.tags) or 'no tags'}" for m in memories)
    session.output.confirm([summary_json(m) for m in memories], text)
