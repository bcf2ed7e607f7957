"""`memcli remember`"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memcli.app.candidate import Candidate
from memcli.app.remember import HINTS, Outcome, prepare
from memcli.app.workspace import Workspace
from memcli.cli import filters
from memcli.cli.assignments import assignments, no_field, split_pairs
from memcli.cli.input import read_text
from memcli.cli.options import Options, argument, flag, option
from memcli.cli.origins import from_file, full_hash
from memcli.cli.output import redacted_told
from memcli.cli.session import Session
from memcli.cli.submit import submit
from memcli.cli.verb import verb
from memcli.codec.canonical import decode_object
from memcli.errors import MemcliError, StoreError, UsageError
from memcli.model.memory import TRIGGERED_KINDS, Json
from memcli.model.shapes import MEMORY_FIELDS

_TEXT_LIMIT = 64 << 20
_OWN = "x_"
"""How the names of fields begin that are the caller's own: they are kept as they are."""


class RememberOptions(Options):
    """What `memcli remember` takes."""

    text: str | None = argument("[TEXT]", "The text; `-` or nothing reads standard input.")
    file: str | None = option("--file", "-f", metavar="FILE", help="Take the text from FILE.")
    object: str | None = option(metavar="JSON", help="A whole memory as JSON; `-` reads it.")
    batch: str | None = option(metavar="FILE", help="Many memories, one JSON object a line.")
    keep_going: bool = flag(help="With --batch: store the good lines, report the bad.")
    kind: str | None = option("--kind", "-k", metavar="KIND", help="decision, fact, procedure, negative, ...")
    path: str | None = option("--path", "-p", metavar="PATH", help="project/module/topic; unique in its space.")
    path_hint: str | None = option(metavar="PATH", help="Where about it belongs.")
    project: str | None = option(metavar="NAME", help="The first segment of the path.")
    tag: list[str] = option("--tag", "-t", metavar="TAG", help="May be repeated.", many=True)
    pin: bool = flag(help="In front of every recall.")
    relevance: str | None = option(metavar="high|medium|low")
    summary_micro: str | None = option(metavar="TEXT")
    summary_short: str | None = option(metavar="TEXT")
    summary_long: str | None = option(metavar="TEXT")
    importance: float | None = option(metavar="0..1", type=float)
    confidence: float | None = option(metavar="0..1", type=float)
    trust: float | None = option(metavar="0..1", type=float)
    scope: str | None = option(metavar="project|global|session")
    created_at: str | None = option(metavar="TIME")
    valid_from: str | None = option(metavar="TIME")
    valid_until: str | None = option(metavar="TIME")
    source: str | None = option(metavar="SOURCE", help="user_stated, observed, inferred, ...")
    reason: str | None = option(metavar="TEXT", help="Why it is remembered.")
    commit: str | None = option(metavar="REV", help="The commit that it is about.")
    trigger: list[str] = option(metavar="TRIGGER", help="RE2, symbol:NAME or path:GLOB; see `guard`.", many=True)
    enforce: bool = flag(help="Where a trigger matches, `guard` fails.")
    link: list[str] = option(
        metavar="RELATION:ID", help="relates_to, depends_on, ... and an id or a path; may be repeated.", many=True
    )
    anchor: list[str] = option(
        metavar="FILE", help="The code that it speaks of: FILE, FILE:10-42 or FILE::symbol; may be repeated.", many=True
    )
    speaker: str | None = option(metavar="NAME", help="Who said it.")
    group: str | None = option(metavar="NAME", help="What it was recorded with: a session, a meeting, a commit.")
    meta: list[str] = option(metavar="NAME=VALUE", help="Metadata; may be repeated.", many=True)
    set: list[str] = option(metavar="FIELD=JSON", help="Any field at all; may be repeated.", many=True)
    id: str | None = option(metavar="ID", help="An id of your own.")
    supersedes: str | None = option(
        metavar="ID", help="The memory that this one replaces; its path, kind, tags and pin are taken over."
    )
    semantic: str | None = option(metavar="local|off", help="What fills the fields not given.")
    embed: bool = flag(help="Make the vectors now, not at the next recall.")
    propose: bool = flag(help="Put it into the inbox, for a person to accept.")
    yes: bool = flag(help="Store it also where the policy wants a review.")


@verb(RememberOptions)
def command(session: Session, options: RememberOptions) -> int:
    """Store a memory and print its id.

    The text is an argument, a file or standard input. Fields not given (path, kind, tags, summaries)
    are made from it. The same path again updates the memory there; the same text again strengthens it.

    Example: memcli remember "Never force-push main" --kind negative --pin
    """
    given = _given_fields(session, options)
    if options.batch is not None:
        return _store_batch(session, options, given)
    given = from_file(_whole(options) | given, options.file)
    workspace = session.open(create=True, semantic=options.semantic, store=_store(given))
    candidate = prepare(workspace, given)
    outcome = submit(workspace, [candidate], options.supersedes, propose=options.propose, yes=options.yes)[0]
    if options.embed:
        _embed(workspace, outcome.id)
    room = f" ({outcome.compacted} of the least valuable went: policy.max_objects)" if outcome.compacted else ""
    text = f"{outcome.status} {outcome.id} {outcome.path}{redacted_told(outcome.redactions)}{room}"
    session.output.confirm(outcome.to_json(), text)
    _tell_untrusted(session, [outcome])
    if outcome.status == "created":
        _tell_idle(session, {**candidate.derived, **candidate.given})
    return 0


def _given_fields(session: Session, options: RememberOptions) -> dict[str, Json]:
    """The fields of a memory that the options name. Raises UsageError."""
    fields: dict[str, Json] = {
        "kind": filters.one_kind(session, options.kind), "path": options.path, "path_hint": options.path_hint,
        "project": options.project, "tags": filters.parts(options.tag) if options.tag else None,
        "pinned": options.pin or None, "relevance": options.relevance, "summary_micro": options.summary_micro,
        "summary_short": options.summary_short, "summary_long": options.summary_long,
        "importance": options.importance, "confidence": options.confidence, "trust": options.trust,
        "scope": options.scope, "created_at": options.created_at, "valid_from": options.valid_from,
        "valid_until": options.valid_until, "triggers": options.trigger or None, "enforce": options.enforce or None,
        "id": options.id, "links": [_link(text) for text in options.link] or None, "anchors": options.anchor or None,
        "metadata": {
            **split_pairs(options.meta, "--meta"), **_present(speaker=options.speaker, group=options.group)
        } or None,
        "provenance": _present(
            source=options.source, reason=options.reason, commit=full_hash(options.commit) if options.commit else None
        ) or None,
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value is not None} | assignments(options.set)


def _present(**values: str | None) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value}


def _tell_idle(session: Session, fields: Mapping[str, Any]) -> None:
    """Says so when nobody will ever look at a trigger, or at --enforce."""
    kind, is_enforced = fields.get("kind", ""), fields.get("enforce", False)
    if is_enforced and not fields.get("triggers"):
        session.output.note("--enforce does nothing without a --trigger")
    elif fields.get("triggers") and not is_enforced and kind not in TRIGGERED_KINDS:
        session.output.note(
            f"triggers of kind {kind} are looked at by nobody: give --kind {' or '.join(TRIGGERED_KINDS)}"
        )


def _tell_untrusted(session: Session, outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.untrusted:
            session.output.note(
                f"{outcome.id} carries {', '.join(outcome.untrusted)} and stays out of recall; "
                f"`memcli trust {outcome.id}` lets it in"
            )


def _embed(workspace: Workspace, name: str) -> None:
    from memcli.app.embed import embed_space

    try:
        embed_space(workspace)
    except Exception as error:  # noqa: BLE001 - whatever it was, the memory is there
        raise StoreError(
            f"memory {name} was stored, but has no vectors: {error}", "the next recall makes them"
        ) from None


def _store(given: dict[str, Json]) -> str | None:
    """A memory of the scope `global` is of the user, not of the project: it goes to the user-wide store."""
    return "global" if given.get("scope") == "global" else None


def _whole(options: RememberOptions) -> dict[str, Json]:
    """The fields that the memory as a whole brings along: its text, or those of --object. Raises UsageError."""
    text, file, given = options.text, options.file, options.object
    if given is None:
        return {"raw": read_text(text, file, _TEXT_LIMIT)}
    whole = _fields_of(read_text(None, "-", _TEXT_LIMIT) if given == "-" else given, "--object")
    if text is not None or file is not None:
        whole["raw"] = read_text(text, file, _TEXT_LIMIT)
    return whole


def _fields_of(text: str, where: str) -> dict[str, Json]:
    """The fields of a memory in JSON. Raises UsageError for what only an option can do."""
    fields = decode_object(text, where)
    if "supersedes" in fields:
        raise UsageError(
            f"{where} has the field supersedes, which no memory has",
            "use --supersedes, or a link of the relation supersedes",
        )
    known = {*MEMORY_FIELDS, *HINTS}
    if unknown := [name for name in fields if name not in known and not name.startswith(_OWN)]:
        raise no_field(unknown[0], known, f"{where} has ")
    return fields


def _store_batch(session: Session, options: RememberOptions, common: Mapping[str, Json]) -> int:
    workspace = session.open(create=True, semantic=options.semantic)
    candidates, failed = _candidates(session, workspace, options, common)
    filters.note_similar(session, (c.given["kind"] for c in candidates if "kind" in c.given))
    outcomes = submit(workspace, candidates, propose=options.propose, yes=options.yes)
    known = ("created", "updated", "deduplicated")
    counts = {status: sum(o.status == status for o in outcomes) for status in known}
    if proposed := sum(o.status == "proposed" for o in outcomes):
        counts["proposed"] = proposed
    text = ", ".join(f"{n} {status}" for status, n in counts.items())
    redactions = sum((Counter(o.redactions) for o in outcomes), Counter[str]())
    _tell_untrusted(session, outcomes)
    session.output.confirm(
        {
            **counts,
            "space": workspace.space,
            "redactions": redactions,
            "failed": failed,
            "memories": [o.to_json() for o in outcomes],
        },
        f"{text}{f', {len(failed)} failed' if failed else ''}{redacted_told(redactions)}",
    )
    return UsageError.exit_code if failed else 0


def _candidates(
    session: Session, workspace: Workspace, options: RememberOptions, common: Mapping[str, Json]
) -> tuple[list[Candidate], list[dict[str, Any]]]:
    """What the lines of --batch are, and which cannot be stored. Raises the first error, unless --keep-going."""
    candidates: list[Candidate] = []
    failed: list[dict[str, Any]] = []
    for number, line in enumerate(read_text(None, options.batch or "-").split("\n"), 1):
        if not line.strip():
            continue
        try:
            candidates.append(prepare(workspace, {**common, **_fields_of(line, "it")}))
        except MemcliError as error:
            if not options.keep_going:
                raise type(error)(
                    f"line {number}: {error.message}; nothing was stored", error.hint or "--keep-going stores the rest"
                ) from None
            failed.append({"line": number, "error": error.message})
            session.output.note(f"line {number}: {error.message}")
    return candidates, failed


def _link(text: str) -> dict[str, Json]:
    relation, _, to = text.partition(":")
    if not to:
        raise UsageError(f"--link {text!r} is not RELATION:ID", "write --link relates_to:mem_...")
    return {"relation": relation, "to": to}
