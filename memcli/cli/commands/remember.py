"""`memcli remember`"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memcli.cli.options import split_pairs, verb
from memcli.cli.session import Session
from memcli.cli.text import read_text
from memcli.errors import MemcliError, UsageError
from memcli.model.memory import Json

_Text = Annotated[str | None, typer.Option(metavar="TEXT")]
_Time = Annotated[str | None, typer.Option(metavar="TIME")]
_Unit = Annotated[float | None, typer.Option(metavar="0..1")]
_TEXT_LIMIT = 64 << 20


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
    commit: Annotated[str | None, typer.Option(metavar="REV", help="The commit it speaks of.")] = None,
    trigger: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="What brings up a warning; may be repeated.")
    ] = None,
    enforce: Annotated[bool, typer.Option("--enforce", help="A trigger that matches is an error.")] = False,
    link: Annotated[
        list[str] | None, typer.Option(metavar="RELATION:ID", help="relates_to, depends_on, ...; may be repeated.")
    ] = None,
    meta: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Metadata; may be repeated.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="FIELD=JSON", help="Any field at all; may be repeated.")
    ] = None,
    identifier: Annotated[str | None, typer.Option("--id", metavar="ID", help="An id of your own.")] = None,
    supersedes: Annotated[str | None, typer.Option(metavar="ID", help="The memory that this one replaces.")] = None,
    semantic: Annotated[str | None, typer.Option(metavar="local|off", help="What fills the fields not given.")] = None,
    embed: Annotated[bool, typer.Option("--embed", help="Make the vectors now, not at the next recall.")] = False,
) -> None:
    """Store a memory and print its id.

    The text is an argument, a file or standard input. Fields not given (path, kind, tags, summaries)
    are made from it. The same path again updates the memory there; the same text again strengthens it.

    Example: memcli remember "Never force-push main" --kind negative --pin
    """
    fields: dict[str, Json] = {
        "kind": kind, "path": path, "path_hint": path_hint, "project": project, "tags": tag, "pinned": pin or None,
        "relevance": relevance, "summary_micro": summary_micro, "summary_short": summary_short,
        "summary_long": summary_long, "importance": importance, "confidence": confidence, "trust": trust,
        "scope": scope, "created_at": created_at, "valid_from": valid_from, "valid_until": valid_until,
        "triggers": trigger, "enforce": enforce or None, "id": identifier, "metadata": split_pairs(meta, "--meta") or None,
        "provenance": {k: v for k, v in (("source", source), ("reason", reason), ("commit", commit)) if v} or None,
        "links": [_link(text) for text in link or []] or None,
    }  # fmt: skip
    given = {name: value for name, value in fields.items() if value is not None} | _assignments(set_)
    if batch is not None:
        _batch(session, batch, given, keep_going, semantic)
        return
    given = _whole(object_, text, file) | given
    from memcli.app.embed import embed_space
    from memcli.app.remember import prepare, remember

    with_store = session.open(create=True, semantic=semantic)
    outcome = remember(with_store, [prepare(with_store, given)], supersedes)[0]
    if embed:
        embed_space(with_store)
    session.output.confirm(outcome.to_json(), f"{outcome.status} {outcome.id} {outcome.path}")


def _whole(object_: str | None, text: str | None, file: str | None) -> dict[str, Json]:
    from memcli.codec.canonical import decode_object

    if object_ is None:
        return {"raw": read_text(text, file, _TEXT_LIMIT)}
    whole = decode_object(read_text(None, "-", _TEXT_LIMIT) if object_ == "-" else object_, "--object")
    if text is not None or file is not None:
        whole["raw"] = read_text(text, file, _TEXT_LIMIT)
    return whole


def _batch(session: Session, source: str, common: dict[str, Json], keep_going: bool, semantic: str | None) -> None:
    from memcli.app.remember import prepare, remember
    from memcli.codec.canonical import decode_object

    workspace = session.open(create=True, semantic=semantic)
    candidates = []
    failed: list[dict[str, Any]] = []
    for number, line in enumerate(read_text(None, source).split("\n"), 1):
        if not line.strip():
            continue
        try:
            candidates.append(prepare(workspace, {**common, **decode_object(line, "it")}))
        except MemcliError as error:
            if not keep_going:
                raise type(error)(
                    f"line {number}: {error.message}; nothing was stored", error.hint or "--keep-going stores the rest"
                ) from None
            failed.append({"line": number, "error": error.message})
            session.output.note(f"line {number}: {error.message}")
    outcomes = remember(workspace, candidates)
    counts = {status: sum(o.status == status for o in outcomes) for status in ("created", "updated", "deduplicated")}
    text = ", ".join(f"{n} {status}" for status, n in counts.items())
    session.output.confirm(
        {**counts, "space": workspace.space, "failed": failed, "memories": [o.to_json() for o in outcomes]},
        f"{text}{f', {len(failed)} failed' if failed else ''}",
    )
    if failed:
        raise typer.Exit(UsageError.exit_code)


def _assignments(pairs: list[str] | None) -> dict[str, Json]:
    from memcli.cli.assignments import assignments

    return assignments(pairs)


def _link(text: str) -> dict[str, Json]:
    relation, _, to = text.partition(":")
    if not to:
        raise UsageError(f"--link {text!r} is not RELATION:ID", "write --link relates_to:mem_...")
    return {"relation": relation, "to": to}
