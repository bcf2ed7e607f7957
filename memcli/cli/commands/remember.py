"""`memcli remember`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session

_Text = Annotated[str | None, typer.Option(metavar="TEXT")]
_Time = Annotated[str | None, typer.Option(metavar="TIME")]
_Unit = Annotated[float | None, typer.Option(metavar="0..1")]


@verb
def command(
    session: Session,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The text; `-` or nothing reads standard input.")
    ] = None,
    file: Annotated[str | None, typer.Option("--file", "-f", metavar="FILE", help="Take the text from FILE.")] = None,
    object_: Annotated[
        str | None, typer.Option("--object", metavar="JSON", help="A whole memory as JSON; `-` reads it.")
    ] = None,
    batch: Annotated[
        str | None, typer.Option("--batch", metavar="FILE", help="Many memories, one JSON object a line.")
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="With --batch: store the good lines, report the bad.")
    ] = False,
    kind: Annotated[
        str | None, typer.Option("--kind", "-k", metavar="KIND", help="decision, fact, procedure, negative, ...")
    ] = None,
    path: Annotated[
        str | None, typer.Option("--path", "-p", metavar="PATH", help="project/module/topic; unique in its space.")
    ] = None,
    path_hint: Annotated[str | None, typer.Option(metavar="PATH", help="Where about it belongs.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="The first segment of the path.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="May be repeated.")] = None,
    pin: Annotated[bool, typer.Option("--pin", help="In front of every recall.")] = False,
    relevance: Annotated[str | None, typer.Option(metavar="high|medium|low")] = None,
    summary_micro: _Text = None,
    summary_short: _Text = None,
    summary_long: _Text = None,
    importance: _Unit = None,
    confidence: _Unit = None,
    trust: _Unit = None,
    scope: Annotated[str | None, typer.Option(metavar="project|global|session")] = None,
    created_at: _Time = None,
    valid_from: _Time = None,
    valid_until: _Time = None,
    source: Annotated[str | None, typer.Option(metavar="SOURCE", help="user_stated, observed, inferred, ...")] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it is remembered.")] = None,
    commit: Annotated[str | None, typer.Option(metavar="REV", help="The commit that it is about.")] = None,
    trigger: Annotated[
        list[str] | None, typer.Option(metavar="TRIGGER", help="RE2, symbol:NAME or path:GLOB; see `guard`.")
    ] = None,
    enforce: Annotated[bool, typer.Option("--enforce", help="Where a trigger matches, `guard` fails.")] = False,
    link: Annotated[
        list[str] | None,
        typer.Option(metavar="RELATION:ID", help="relates_to, depends_on, ... and an id or a path; may be repeated."),
    ] = None,
    anchor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="The code that it speaks of: FILE, FILE:10-42 or FILE::symbol; may be repeated."
        ),
    ] = None,
    speaker: Annotated[str | None, typer.Option(metavar="NAME", help="Who said it.")] = None,
    group: Annotated[
        str | None, typer.Option(metavar="NAME", help="What it was recorded with: a session, a meeting, a commit.")
    ] = None,
    meta: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Metadata; may be repeated.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="FIELD=JSON", help="Any field at all; may be repeated.")
    ] = None,
    identifier: Annotated[str | None, typer.Option("--id", metavar="ID", help="An id of your own.")] = None,
    supersedes: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="The memory that this one replaces; its path, kind, tags and pin are taken over."
        ),
    ] = None,
    semantic: Annotated[str | None, typer.Option(metavar="local|off", help="What fills the fields not given.")] = None,
    embed: Annotated[bool, typer.Option("--embed", help="Make the vectors now, not at the next recall.")] = False,
    propose: Annotated[bool, typer.Option("--propose", help="Put it into the inbox, for a person to accept.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Store it also where the policy wants a review.")] = False,
) -> None:
    """Store a memory and print its id.

    The text is an argument, a file or standard input. Fields not given (path, kind, tags, summaries)
    are made from it. The same path again updates the memory there; the same text again strengthens it.

    Example: memcli remember "Never force-push main" --kind negative --pin
    """
    from memcli.cli.remembering import store_memory

    # The parameters have the same names on both sides, so that one can go past Typer (see `hot.py`).
    code = store_memory(**{name: value for name, value in locals().items() if name != "store_memory"})
    if code:
        raise typer.Exit(code)
