"""`memcli search`"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from memcli.cli.options import Rev, verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    query: Annotated[
        str, typer.Argument(metavar="[QUERY]", help="What to look for; without it, the newest come first.")
    ] = "",
    under: Annotated[str, typer.Option(metavar="PATH", help="The heading: only at this path and below it.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, metavar="N", help="At most N.")] = 20,
    recency_bias: Annotated[float, typer.Option(min=0, max=1, metavar="0..1", help="How much the date counts.")] = 0.3,
    rev: Rev = None,
) -> None:
    """Rank what lies under a heading by meaning and date, with the place that speaks of it.

    Example: memcli search "token lifetime" --under auth
    """
    from memcli.app.search import search
    from memcli.cli import filters
    from memcli.cli.text import decode
    from memcli.render.listing import found_text, summary_json

    query = decode(os.fsencode(query), "the question")
    found = search(session.open(rev=rev), query, filters.path(under, "--under"), limit, recency_bias)
    data = [
        {
            **summary_json(f.memory), "score": f.score, "similarity": f.similarity, "snippets": f.snippets,
            **({"content": f.memory.content} if f.memory.content is not None else {}),
        }
        for f in found
    ]  # fmt: skip
    session.output.answer(data, found_text([(f.memory, f.score, f.snippets) for f in found]))
    if not found and query.strip():
        session.output.note("nothing matches")
