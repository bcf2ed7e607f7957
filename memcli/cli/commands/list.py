"""`memcli list`"""

from __future__ import annotations

from memcli.cli.options import Options, argument, flag, kinds_option, option, rev_option, tags_option
from memcli.cli.session import Session
from memcli.cli.verb import verb


class ListOptions(Options):
    """What `memcli list` takes."""

    path: str = argument("[PATH]", "Only memories at or below this path.", default="")
    kind: list[str] = kinds_option()
    tag: list[str] = tags_option()
    limit: int | None = option("--limit", "-l", metavar="N", help="List at most N memories.", type=int, low=1)
    all: bool = flag("--all", "-a", help="Include forgotten and superseded memories.")
    rev: str | None = rev_option()


@verb(ListOptions)
def command(session: Session, options: ListOptions) -> None:
    """List memories in order of path."""
    from memcli.app.lookup import list_memories
    from memcli.cli import filters
    from memcli.render.memory import listing, summary_json

    kinds, tags = filters.kinds(session, options.kind), filters.tags(options.tag)
    found = list_memories(
        session.open(rev=options.rev), filters.path(options.path, "the path"), kinds, tags, options.all
    )
    shown = found[: options.limit]
    session.output.answer([summary_json(m) for m in shown], listing(shown))
    if more := len(found) - len(shown):
        session.output.note(f"{more} more (use --limit {len(found)})")
