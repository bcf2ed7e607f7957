"""`memcli search`"""

from __future__ import annotations

import os

from memcli.cli.options import Options, argument, option, rev_option
from memcli.cli.verb import Session, verb


class SearchOptions(Options):
    """What `memcli search` takes."""

    query: str = argument("[QUERY]", "The words to search for; without them, list the newest first.", default="")
    under: str = option(metavar="PATH", help="Search only below this path.", default="")
    limit: int = option("--limit", "-l", metavar="N", help="Show at most N memories.", type=int, low=1, default=20)
    recency_bias: float = option(metavar="0..1", help="Weight of the date.", type=float, low=0, high=1, default=0.3)
    rev: str | None = rev_option()


@verb(SearchOptions)
def command(session: Session, options: SearchOptions) -> None:
    """Rank the memories under a heading by meaning and date, with the passage that matches.

    Example: memcli search "token lifetime" --under auth
    """
    query = options.query
    from memcli.app.search import search
    from memcli.cli import arguments
    from memcli.cli.arguments import decode
    from memcli.render.memory import found_text, summary_json

    query = decode(os.fsencode(query), "the question")
    found = search(
        session.open(rev=options.rev),
        query,
        arguments.path(options.under, "--under"),
        options.limit,
        options.recency_bias,
    )
    data = [
        {
            **summary_json(f.memory), "score": f.score, "similarity": f.similarity, "snippets": f.snippets,
            **({"content": f.memory.content} if f.memory.content is not None else {}),
        }
        for f in found
    ]  # fmt: skip
    session.output.answer(data, found_text([(f.memory, f.score, f.snippets) for f in found]))
    if not found and query.strip():
        session.output.note("no match")
