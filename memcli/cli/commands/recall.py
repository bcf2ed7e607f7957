"""`memcli recall`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import Kinds, Rev, Tags, verb
from memcli.cli.session import Session
from memcli.model.recall import DEFAULT_LIMIT


@verb
def command(
    session: Session,
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="The question; `-` reads standard input.")
    ] = None,
    topics: Annotated[
        str | None, typer.Option(metavar="FILE", help="One question a line; one JSON bundle a line comes out.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-l", metavar="N", help="At most N memories.")] = DEFAULT_LIMIT,
    raw_limit: Annotated[int | None, typer.Option(metavar="N", help="The whole text of at most N of them.")] = None,
    include_raw: Annotated[bool, typer.Option("--include-raw", help="The whole text of each.")] = False,
    include_metadata: Annotated[bool, typer.Option("--include-metadata", help="The metadata of each.")] = False,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="json, md, prompt [piped] or table [terminal].")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="Never print more; say as much of what matters as fits.")
    ] = None,
    kind: Kinds = None,
    tag: Tags = None,
    under: Annotated[str, typer.Option(metavar="PATH", help="Only at this path and below it.")] = "",
    scope: Annotated[str | None, typer.Option(metavar="project|global|session")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only made at or after TIME.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only made before TIME.")] = None,
    rev: Rev = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="What was valid at TIME.")] = None,
    prefer_kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Rank this kind higher; may be repeated.")
    ] = None,
    prefer_tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Rank this tag higher; may be repeated.")
    ] = None,
    require_high_relevance: Annotated[
        bool, typer.Option("--require-high-relevance", help="Only what is marked high.")
    ] = False,
    min_score: Annotated[float | None, typer.Option(metavar="X", help="Only what scores at least X.")] = None,
    backend: Annotated[str | None, typer.Option(metavar="NAME", help="fusion [default] or basic.")] = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="NAME=X", help="What counts how much: semantic, keyword, recency, importance."),
    ] = None,
    recency_bias: Annotated[
        float | None, typer.Option(metavar="0..1", help="How much the date counts beside everything else.")
    ] = None,
    deadline: Annotated[
        int | None, typer.Option(metavar="MS", help="Answer by words alone when meaning takes longer than this.")
    ] = None,
    all_spaces: Annotated[bool, typer.Option("--all-spaces", help="Ask every space of the store.")] = False,
    no_global: Annotated[bool, typer.Option("--no-global", help="Leave the user-wide store out.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say what each score is made of.")] = False,
    include_untrusted: Annotated[
        bool, typer.Option("--include-untrusted", help="Also memories that carry instructions to an agent.")
    ] = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit with 3 when nothing matches.")] = False,
    from_diff: Annotated[
        str | None, typer.Option(metavar="FILE", help="Ask with a diff; `-` reads standard input.")
    ] = None,
    changed: Annotated[
        str | None, typer.Option(metavar="REV", help="Ask with what was committed and staged since REV.")
    ] = None,
) -> None:
    """Answer a question with the memories that matter, best first.

    Piped, it prints a fenced list for a language model; on a terminal, a table. Without a topic,
    --kind lists what there is of that kind. Nothing relevant is an answer too: it says so.
    Negatives, constraints and procedures whose triggers match lead; of a change also what is
    anchored in its files.

    Example: memcli recall "how do we deploy?" --limit 5 | llm "write the runbook"
    """
    from memcli.cli.recalling import recall

    # The parameters have the same names on both sides, so that one can go past Typer (see `hot.py`).
    code = recall(**{name: value for name, value in locals().items() if name != "recall"})
    if code:
        raise typer.Exit(code)
