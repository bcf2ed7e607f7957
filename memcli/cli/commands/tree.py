"""`memcli tree`"""

from __future__ import annotations

from memcli.cli.options import Options, argument, rev_option
from memcli.cli.session import Session
from memcli.cli.verb import verb


class TreeOptions(Options):
    """What `memcli tree` takes."""

    path: str = argument("[PATH]", "Only memories at or below this path.", default="")
    rev: str | None = rev_option()


@verb(TreeOptions)
def command(session: Session, options: TreeOptions) -> None:
    """Show the tree of paths, for people and for system prompts."""
    from memcli.app.lookup import list_memories
    from memcli.cli import filters
    from memcli.model.tree import tree
    from memcli.render.memory import tree_json, tree_text

    root = tree(list_memories(session.open(rev=options.rev), filters.path(options.path, "the path")))
    session.output.answer(tree_json(root), tree_text(root))
