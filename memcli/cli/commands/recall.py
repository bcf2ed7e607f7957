"""`memcli recall`"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import typer

from memcli.cli.options import Kinds, Tags, verb
from memcli.cli.output import is_terminal
from memcli.cli.session import Session
from memcli.cli.text import read_text
from memcli.clock import normalize_time
from memcli.errors import NotFoundError, UsageError
from memcli.model.recall import DEFAULT_LIMIT, Query

_MAX_TOPIC = 10_000
_FORMATS = ("json", "md", "prompt", "table")


@verb
def command(
    session: Session,
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="The question; `-` reads standard input.")
    ] = None,
    topics: Annotated[
        str | None, typer.Option(metavar="FILE", help="One question a line; one JSON bundle a line comes out.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-l", min=1, max=10_000, metavar="N", help="At most N memories.")
    ] = DEFAULT_LIMIT,
    raw_limit: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="The whole text of at most N of them.")
    ] = None,
    include_raw: Annotated[bool, typer.Option("--include-raw", help="The whole text of each.")] = False,
    include_metadata: Annotated[bool, typer.Option("--include-metadata", help="The metadata of each.")] = False,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="json, md, prompt [piped] or table [terminal].")
    ] = None,
    kind: Kinds = None,
    tag: Tags = None,
    under: Annotated[str, typer.Option(metavar="PATH", help="Only at this path and below it.")] = "",
    scope: Annotated[str | None, typer.Option(metavar="project|global|session")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only made at or after TIME.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only made before TIME.")] = None,
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
    explain: Annotated[bool, typer.Option("--explain", help="Say what each score is made of.")] = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit with 3 when nothing matches.")] = False,
) -> None:
    """Answer a question with the memories that matter, best first.

    Piped, it prints a fenced list for a language model; on a terminal, a table. Without a topic,
    --kind lists what there is of that kind. Nothing relevant is an answer too: it says so.

    Example: memcli recall "how do we deploy?" --limit 5 | llm "write the runbook"
    """
    from memcli.app.recall import recall

    name = _format(session, format_)
    workspace = session.open(backend=backend)
    query = Query(
        topic="", now=workspace.clock(), limit=limit, raw_limit=raw_limit,
        include_raw=include_raw or raw_limit is not None, include_metadata=include_metadata, kinds=tuple(kind or ()),
        tags=tuple(tag or ()), under=under, scope=scope, since=_time(since), until=_time(until), at=_time(at),
        prefer_kinds=tuple(prefer_kind or ()), prefer_tags=tuple(prefer_tag or ()),
        require_high_relevance=require_high_relevance, min_score=min_score, explain=explain,
    )  # fmt: skip
    if topics is not None:
        from memcli.codec.recall import bundle_to_json

        lines = (check_topic(line) for line in _lines(topics))
        bundles = recall(workspace, (replace(query, topic=line) for line in lines))
        session.output.lines(bundle_to_json(bundle) for bundle in bundles)
        return
    if topic is None and not kind:
        raise UsageError("no topic", 'ask a question: memcli recall "which database?", or list a kind with --kind')
    from memcli.render import RENDERERS

    asked = check_topic(read_text(topic, None) if topic == "-" else topic or "")
    bundle = next(iter(recall(workspace, [replace(query, topic=asked)])))
    session.output.write(RENDERERS[name]()(bundle))
    if fail_empty and bundle.reason:
        raise typer.Exit(NotFoundError.exit_code)


def check_topic(text: str) -> str:
    """`text` as a topic: on one line, of bearable length."""
    return " ".join(text.replace("\0", " ").split())[:_MAX_TOPIC]


def _time(text: str | None) -> str | None:
    return None if text is None else normalize_time(text)


def _format(session: Session, name: str | None) -> str:
    if name is not None and name not in _FORMATS:
        raise UsageError(f"no format {name!r}", f"there are {', '.join(_FORMATS)}")
    return "json" if session.output.json else name or ("table" if is_terminal() else "prompt")


def _lines(source: str) -> Iterator[str]:
    text = read_text(None, source)
    yield from text.removesuffix("\n").split("\n") if text else ()
