"""`memcli remember`"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcli.cli import arguments
from memcli.cli.arguments import read_text
from memcli.cli.options import MEMORY, Options, argument, flag, option
from memcli.cli.output import redacted_told
from memcli.cli.submit import assignments, no_field, split_pairs
from memcli.cli.verb import RECALL, CommandContext, ToolDeclaration, verb
from memcli.errors import MemcliError, ProviderError, RefusedError, StoreError, UsageError
from memcli.model.findings import Resolution
from memcli.model.memory import Json
from memcli.model.roles import WRITER
from memcli.model.shapes import MEMORY_FIELDS

if TYPE_CHECKING:
    from memcli.app.candidate import Candidate
    from memcli.app.workspace import Workspace

_TEXT_LIMIT = 64 << 20
_OWN = "x_"
"""How the names of fields begin that are the caller's own: they are kept as they are."""


class RememberOptions(Options):
    """What `memcli remember` takes."""

    text: str | None = argument("[TEXT]", "The text; without it, or with `-`, read standard input.")
    file: str | None = option("--file", "-f", metavar="FILE", help="Read the text from FILE.")
    object: str | None = option(metavar="JSON", help="A complete memory as JSON; `-` reads standard input.")
    batch: str | None = option(metavar="FILE", help="Store one JSON object per line; `-` reads standard input.")
    keep_going: bool = flag(help="With --batch: store the valid lines and report the others.")
    kind: str | None = option("--kind", "-k", metavar="KIND", help="decision, fact, procedure, negative, ...")
    path: str | None = option("--path", "-p", metavar="PATH", help="project/module/topic, unique in its space.")
    path_hint: str | None = option(metavar="PATH", help="Suggested location.")
    project: str | None = option(metavar="NAME", help="The first segment of the path.")
    tag: list[str] = option("--tag", "-t", metavar="TAG", help="Add this tag. Repeatable.", many=True)
    pin: bool = flag(help="Include the memory in every recall.")
    relevance: str | None = option(metavar="high|medium|low", help="Relevance; high ranks first.")
    summary_micro: str | None = option(metavar="TEXT", help="A summary of one or two sentences.")
    summary_short: str | None = option(metavar="TEXT", help="A summary of one paragraph.")
    summary_long: str | None = option(metavar="TEXT", help="An abstract.")
    importance: float | None = option(metavar="0..1", help="Importance [default: by kind].", type=float)
    confidence: float | None = option(metavar="0..1", help="Confidence that the memory is true.", type=float)
    trust: float | None = option(metavar="0..1", help="Trust in the source.", type=float)
    scope: str | None = option(
        metavar="project|global|session",
        help="global uses the user-wide store; session lasts as long as the session [default: project].",
    )
    created_at: str | None = option(metavar="TIME", help="The time of creation [default: now].")
    valid_from: str | None = option(metavar="TIME", help="Not valid before this time.")
    valid_until: str | None = option(metavar="TIME", help="Not valid after this time.")
    season: str | None = option(metavar="SEASON", help="Rank higher in this season: 12-01..12-31, or a name.")
    source: str | None = option(metavar="SOURCE", help="user_stated, observed, inferred, ...")
    reason: str | None = option(metavar="TEXT", help="The reason for storing the memory.")
    commit: str | None = option(metavar="REV", help="The commit that the memory is about.")
    trigger: list[str] = option(
        metavar="TRIGGER",
        help="An RE2 pattern, symbol:NAME or path:GLOB; see `memcli guard --help`. Repeatable.",
        many=True,
    )
    enforce: bool = flag(help="Make `memcli guard` fail when a trigger matches.")
    link: list[str] = option(
        metavar="RELATION:ID", help="Link to a memory, such as relates_to:ID or depends_on:PATH. Repeatable.", many=True
    )
    anchor: list[str] = option(
        metavar="FILE",
        help="The code that the memory describes: FILE, FILE:10-42 or FILE::symbol. Repeatable.",
        many=True,
    )
    speaker: str | None = option(metavar="NAME", help="The person who said it.")
    group: str | None = option(
        metavar="NAME", help="Group memories recorded together, such as in one session or meeting."
    )
    context: int | None = option(
        metavar="[N]",
        help="Keep what was said about it: up to N tokens of the session, or of standard input [N: 1000].",
        type=int,
        low=1,
        high=100_000,
        bare="1000",
    )
    session: str | None = option(
        metavar="SESSION", help="The session of --context and of --scope session [default: the current one]."
    )
    meta: list[str] = option(metavar="NAME=VALUE", help="Set a metadata field. Repeatable.", many=True)
    set: list[str] = option(metavar="FIELD=JSON", help="Set any field. Repeatable.", many=True)
    id: str | None = option(metavar="ID", help="Use this id [default: derived from the path].")
    supersedes: str | None = option(
        metavar="ID", kind=MEMORY, help="Replace this memory and take over its path, kind, tags and pin."
    )
    no_check: bool = flag(help="Do not look for memories that this one contradicts or repeats.")
    keep_both: bool = flag(help="Accept a contradiction; memcli does not report it again.")
    merge: bool = flag(help="Strengthen the memory that this one repeats instead of storing another.")
    semantic: str | None = option(
        metavar="local|llm|off", help="How to fill missing fields; llm asks a language model [default: local]."
    )
    model: str | None = option(metavar="PROVIDER:MODEL", help="The language model of --semantic llm.")
    temperature: float | None = option(metavar="0..2", help="Its temperature [default: 0].", type=float, low=0, high=2)
    max_tokens: int | None = option(
        metavar="N", help="The longest answer of the model [default: 1200].", type=int, low=64, high=100_000
    )
    fallback: str | None = option(
        metavar="local", help="What to use when the model fails [default: nothing is stored]."
    )
    embed: bool = flag(help="Compute vectors now instead of at the next recall.")
    propose: bool = flag(help="Put the memory into the inbox for review.")
    yes: bool = flag(help="Store the memory even if the policy requires a review.")


@verb(
    RememberOptions,
    section=RECALL,
    line="Store a decision, warning, procedure or note",
    role=WRITER,
    tools=(
        ToolDeclaration(
            name="remember",
            is_idempotent=False,
            description=(
                "Store one fact that the code does not say: a decision with its reason, a rule, a procedure, a gotcha. "
                "Full sentences. A path that exists is updated; the same text twice is stored once. Secrets are redacted. "
                "It may wait for a person's review."
            ),
            fields=("text", "kind", "path", "tag", "anchor", "trigger", "supersedes", "reason", "context", "session"),
            content="Any JSON value to keep: goals, a ledger. Instead of text, or beside it.",
            reads_only=False,
        ),
    ),
)
def command(session: CommandContext, options: RememberOptions) -> int:
    """Store a memory and print its id.

    The text is an argument, a file or standard input. Missing fields (path, kind, tags, summaries) are derived from the text.
    Storing to an existing path updates that memory; storing the same text again strengthens it. Memories that it contradicts
    or repeats are named, and the former linked both ways; by meaning too with --embed.
    A season is a period (12-01..12-31, last 3 days of month), or a name that policy.seasons gives one.

    Example: memcli remember "Never force-push main" --kind negative --pin

    >>> memory.remember('Tokens live for 15 minutes.', path='auth/tokens', tag='auth')['status']
    'created'
    >>> memory.remember(batch=[{'raw': 'We use uv.'}, {'raw': 'We use ruff.'}])['created']
    2
    """
    from memcli.app.living import over_scope, with_session
    from memcli.app.remember import prepare
    from memcli.cli.submit import (
        asked,
        asked_summarizer,
        found_lines,
        from_file,
        kept_tokens,
        room_json,
        room_told,
        snapshots,
        submit,
        tell_idle,
        tell_untrusted,
    )

    given = _given_fields(session, options)
    if options.batch is not None:
        return _store_batch(session, options, given)
    # What an object says wins over the configuration, as it does over nothing else.
    own = _given_fields(session, options.own) if options.configured and options.object is not None else given
    given = from_file(given | _whole(options) | own, options.file)
    workspace = session.open(create=True, semantic=options.semantic, model=options.model, store=_store(given))
    if kept := snapshots(workspace, options):
        given |= {"context": kept.about(given)}
    given = with_session(workspace, given, options.session)
    workspace = over_scope(workspace, given)
    summarizer = asked_summarizer(workspace, options)
    candidate = prepare(workspace, given, summarizer)
    resolution, supersedes = asked(_checked(workspace, [candidate], options), options.supersedes, workspace.space)
    stored = submit(workspace, [candidate], supersedes, propose=options.propose, yes=options.yes, resolution=resolution)
    (outcome,) = stored.outcomes
    if options.embed:
        _embed(workspace, outcome.id)
    text = f"{outcome.status} {outcome.id} {outcome.path}{redacted_told(outcome.redactions)}{room_told(stored)}"
    session.output.confirm(
        {**outcome.to_json(), **kept_tokens(candidate), **room_json(stored)},
        "\n".join([text, *found_lines([outcome], is_accepted=resolution is not None and resolution.is_accepted)]),
    )
    tell_untrusted(session, [outcome])
    if outcome.status == "created":
        tell_idle(session, {**candidate.derived, **candidate.given})
    return 0


def _checked(workspace: Workspace, candidates: Sequence[Candidate], options: RememberOptions) -> Resolution | None:
    """What the candidates contradict and repeat; None where nobody is to look."""
    from memcli.cli.submit import checked

    if options.no_check:
        return None
    both, merge, embed = options.keep_both, options.merge, options.embed
    return checked(workspace, candidates, options.supersedes, keep_both=both, merge=merge, embed=embed)


def _given_fields(session: CommandContext, options: RememberOptions) -> dict[str, Json]:
    """The memory fields that the options set. Raises UsageError."""
    from memcli.cli.submit import full_hash

    fields: dict[str, Json] = {
        "kind": arguments.one_kind(session, options.kind), "path": options.path, "path_hint": options.path_hint,
        "project": options.project, "tags": arguments.parts(options.tag) if options.tag else None,
        "pinned": options.pin or None, "relevance": options.relevance, "summary_micro": options.summary_micro,
        "summary_short": options.summary_short, "summary_long": options.summary_long,
        "importance": options.importance, "confidence": options.confidence, "trust": options.trust,
        "scope": options.scope, "created_at": options.created_at, "valid_from": options.valid_from,
        "valid_until": options.valid_until, "season": options.season, "triggers": options.trigger or None, "enforce": options.enforce or None,
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


def _embed(workspace: Workspace, name: str) -> None:
    from memcli.app.space import embed_or_warn

    try:
        embed_or_warn(workspace)
    except Exception as error:  # noqa: BLE001 - whatever it was, the memory is there
        raise StoreError(
            f"stored memory {name}, but could not compute its vectors: {error}", "the next recall tries again"
        ) from None


def _store(given: dict[str, Json]) -> str | None:
    """Stores candidates; memories of scope `global` go to the user-wide store."""
    return "global" if given.get("scope") == "global" else None


def _whole(options: RememberOptions) -> dict[str, Json]:
    """The fields of the text or of --object. Raises UsageError."""
    text, file, given = options.text, options.file, options.object
    if given is None:
        return {"raw": read_text(text, file, _TEXT_LIMIT)}
    whole = _fields_of(read_text(None, "-", _TEXT_LIMIT) if given == "-" else given, "--object")
    if text is not None or file is not None:
        whole["raw"] = read_text(text, file, _TEXT_LIMIT)
    return whole


def _fields_of(text: str, where: str) -> dict[str, Json]:
    """The fields of a memory in JSON. Raises UsageError for fields that only an option can set."""
    from memcli.app.remember import HINTS
    from memcli.app.usage import USAGE
    from memcli.codec.canonical import decode_object

    fields = {name: value for name, value in decode_object(text, where).items() if name != USAGE}
    if "supersedes" in fields:
        hint = "use --supersedes, or a link with the relation supersedes"
        raise UsageError(f"{where} has an unknown field supersedes", hint)
    known = {*MEMORY_FIELDS, *HINTS}
    if unknown := [name for name in fields if name not in known and not name.startswith(_OWN)]:
        raise no_field(unknown[0], known, f"{where} has ")
    return fields


def _store_batch(session: CommandContext, options: RememberOptions, common: Mapping[str, Json]) -> int:
    from memcli.app.living import over_scope
    from memcli.cli.submit import found_lines, kept_tokens, room_json, room_told, submit, tell_untrusted

    if options.supersedes is not None:
        raise UsageError("--supersedes cannot be used with --batch", "store the memory that supersedes on its own")
    workspace = session.open(create=True, semantic=options.semantic, model=options.model)
    workspace = over_scope(workspace, common)
    candidates, failed = _candidates(session, workspace, options, common)
    arguments.note_similar(session, (c.given["kind"] for c in candidates if "kind" in c.given))
    resolution = _checked(workspace, candidates, options)
    stored = submit(workspace, candidates, propose=options.propose, yes=options.yes, resolution=resolution)
    outcomes = stored.outcomes
    known = ("created", "updated", "deduplicated")
    counts = {status: sum(o.status == status for o in outcomes) for status in known}
    if proposed := sum(o.status == "proposed" for o in outcomes):
        counts["proposed"] = proposed
    text = ", ".join(f"{n} {status}" for status, n in counts.items())
    redactions = sum((Counter(o.redactions) for o in outcomes), Counter[str]())
    tell_untrusted(session, outcomes)
    session.output.confirm(
        {
            **counts,
            **room_json(stored),
            "space": workspace.space,
            "redactions": redactions,
            "failed": failed,
            "memories": [
                {**outcome.to_json(), **kept_tokens(candidate)}
                for outcome, candidate in zip(outcomes, candidates, strict=True)
            ],
        },
        "\n".join(
            [
                f"{text}{f', {len(failed)} failed' if failed else ''}{redacted_told(redactions)}{room_told(stored)}",
                *found_lines(outcomes, is_accepted=options.keep_both),
            ]
        ),
    )
    return UsageError.exit_code if failed else 0


def _candidates(
    session: CommandContext, workspace: Workspace, options: RememberOptions, common: Mapping[str, Json]
) -> tuple[list[Candidate], list[dict[str, Any]]]:
    """The candidates in the lines of --batch, and the lines that cannot be stored. Raises the first error, unless --keep-going."""
    from memcli.app.living import with_session
    from memcli.app.remember import prepare
    from memcli.cli.submit import asked_summarizer, snapshots

    candidates: list[Candidate] = []
    failed: list[dict[str, Any]] = []
    summarizer = asked_summarizer(workspace, options)
    kept = snapshots(workspace, options)
    for number, line in enumerate(read_text(None, options.batch or "-").split("\n"), 1):
        if not line.strip():
            continue
        try:
            given = with_session(workspace, {**common, **_fields_of(line, "it")}, options.session)
            if kept:
                given |= {"context": kept.about(given)}
            candidates.append(prepare(workspace, given, summarizer))
        except MemcliError as error:
            is_of_model = summarizer is not None and isinstance(error, ProviderError | RefusedError)
            if is_of_model or not options.keep_going:
                raise type(error)(
                    f"line {number}: {error.message}; nothing was stored",
                    error.hint or "--keep-going stores the valid lines",
                ) from None
            failed.append({"line": number, "error": error.message})
            session.output.note(f"line {number}: {error.message}")
    return candidates, failed


def _link(text: str) -> dict[str, Json]:
    relation, _, to = text.partition(":")
    if not to:
        raise UsageError(f"--link {text!r} is not RELATION:ID", "write --link relates_to:mem_...")
    return {"relation": relation, "to": to}
