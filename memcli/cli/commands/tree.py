"""`memcli tree`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import Rev, verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="Only at this path and below it.")] = "",
    rev: Rev = None,
) -> None:
    """Show the hierarchy of paths, as a system prompt can show it."""
    from memcli.app.lookup import list_memories
    from memcli.cli import filters
    from memcli.model.tree import tree
    from memcli.render.listing import tree_json, tree_text

    root = tree(list_memories(session.open(rev=rev), filters.path(path, "the path")))
    session.output.answer(tree_json(root), tree_text(root))
