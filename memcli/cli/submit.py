"""The parts of `memcli remember`: the candidate that the options describe, storing it, and the report with what it contradicts
or repeats.

Apart from the command, since the help and the completions import its options without what stores a memory.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from memcli.app.candidate import Candidate
from memcli.app.remember import HINTS, Outcome, Stored, prepare, remember
from memcli.app.repo import check_not_derived
from memcli.app.workspace import Workspace
from memcli.cli import arguments
from memcli.cli.arguments import asks_model, assignments, no_field, read_text, split_pairs
from memcli.cli.output import can_ask, has_input, is_terminal, redaction_note
from memcli.cli.verb import CommandContext
from memcli.codec.canonical import decode_object
from memcli.errors import MemcliError, NotFoundError, ProviderError, RefusedError, StoreError, UsageError
from memcli.model.findings import CONTRADICTS, DUPLICATES, RELATED, Found, Resolution
from memcli.model.memory import SESSION, TRIGGERED_KINDS, Json
from memcli.model.shapes import MEMORY_FIELDS
from memcli.regex import regex
from memcli.render.clean import clean_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.app.context import Snapshots
    from memcli.cli.commands.remember import RememberOptions
    from memcli.summarize import Describe

_HASH = regex(r"[0-9a-f]{7,64}")
_TEXT_LIMIT = 64 << 20
_OWN = "x_"
"""The prefix of the names of callers' own fields, which are stored unchanged."""
_SHOWN = 5
"""The most contradictions, and the most repetitions, that are printed; JSON has all."""
_COMPARED = 500
"""The most memories of a batch that are checked for contradictions: each is compared with the whole space."""
_QUESTIONS = 3
"""The number of invalid answers after which the command is cancelled."""


def prepare_one(
    session: CommandContext, options: RememberOptions
) -> tuple[Workspace, Candidate, Resolution | None, str | None]:
    """The workspace to store the memory in, the candidate that the options describe, the resolution of what it contradicts or
    repeats, and the id of the memory that it supersedes. Raises UsageError, RefusedError."""
    given = _given_fields(options)
    # The fields of --object override those that the configuration sets; options of the command line override both.
    own = given
    if options.configured and options.object is not None:
        alone = type(options)(**{name: getattr(options, name) for name in options.given})
        own = _given_fields(alone)
    text, file = options.text, options.file
    whole: dict[str, Json] = {}
    if options.object is not None:
        whole = _fields_of(read_text(None, "-", _TEXT_LIMIT) if options.object == "-" else options.object, "--object")
    if options.object is None or text is not None or file is not None:
        whole["raw"] = read_text(text, file, _TEXT_LIMIT)
    given = _with_source(given | whole | own, file)
    store = "global" if given.get("scope") == "global" else None
    workspace = session.open(create=True, semantic=options.semantic, model=options.model, store=store)
    if chooser := _snapshots(workspace, options):
        given |= {"context": chooser.about(given)}
    if given.get("scope") == SESSION:
        from memcli.app.living import over_scope, with_session

        given = with_session(workspace, given, options.session)
        workspace = over_scope(workspace, given)
    candidate = prepare(workspace, given, _describer(workspace, options))
    checked = _checked(session, workspace, [candidate], options)
    resolution, supersedes = _resolved(checked, options.supersedes, workspace.space)
    return workspace, candidate, resolution, supersedes


def report_one(
    session: CommandContext,
    options: RememberOptions,
    workspace: Workspace,
    candidate: Candidate,
    resolution: Resolution | None,
    stored: Stored,
) -> None:
    """Prints the outcome of a memory, and what it contradicts, repeats or is related to. With --embed, computes its vectors
    before; raises StoreError if that fails."""
    (outcome,) = stored.outcomes
    if options.embed:
        from memcli.app.space import embed_or_warn

        try:
            embed_or_warn(workspace)
        except Exception as error:  # noqa: BLE001 - whatever it is, the memory has been stored
            raise StoreError(
                f"stored memory {outcome.id}, but could not compute its vectors: {error}",
                "the next recall tries again",
            ) from None
    room, room_json = _room(stored)
    text = f"{outcome.status} {outcome.id} {outcome.path}{redaction_note(outcome.redactions)}{room}"
    is_accepted = resolution is not None and resolution.is_accepted
    ended = [f"supersedes {options.supersedes}"] if options.supersedes and outcome.status != "proposed" else []
    session.output.confirm(
        {**outcome.to_json(), **_context_tokens(candidate), **room_json},
        "\n".join([text, *ended, *found_lines([outcome], is_accepted=is_accepted)]),
    )
    _note_untrusted(session, [outcome])
    if outcome.status != "created":
        return
    fields = {**candidate.derived, **candidate.given}
    kind, is_enforced = fields.get("kind", ""), fields.get("enforce", False)
    if is_enforced and not fields.get("triggers"):
        session.output.note("--enforce has no effect without --trigger")
    elif fields.get("triggers") and not is_enforced and kind not in TRIGGERED_KINDS:
        session.output.note(
            f"triggers on `{kind}` memories are never checked: use --kind {' or '.join(TRIGGERED_KINDS)}"
        )


def store_batch(session: CommandContext, options: RememberOptions) -> int:
    """Stores the memories in the lines of --batch and prints their ids. Returns the exit code, 2 if a line was left out.

    Raises UsageError, and what `submit` raises.
    """
    common = _given_fields(options)
    if options.supersedes is not None:
        raise UsageError("--supersedes cannot be used with --batch", "store the memory that supersedes on its own")
    workspace = session.open(create=True, semantic=options.semantic, model=options.model)
    from memcli.app.living import over_scope

    workspace = over_scope(workspace, common)
    candidates, failed = _candidates(session, workspace, options, common)
    arguments.note_similar(session, (c.given["kind"] for c in candidates if "kind" in c.given))
    resolution = _checked(session, workspace, candidates, options)
    stored = submit(workspace, candidates, propose=options.propose, yes=options.yes, resolution=resolution)
    outcomes = stored.outcomes
    known = ("created", "updated", "deduplicated")
    counts = {status: sum(o.status == status for o in outcomes) for status in known}
    if proposed := sum(o.status == "proposed" for o in outcomes):
        counts["proposed"] = proposed
    redactions = sum((Counter(o.redactions) for o in outcomes), Counter[str]())
    _note_untrusted(session, outcomes)
    room, room_json = _room(stored)
    memories = [{**o.to_json(), **_context_tokens(c)} for o, c in zip(outcomes, candidates, strict=True)]
    data = {
        **counts,
        **room_json,
        "space": workspace.space,
        "redactions": redactions,
        "failed": failed,
        "memories": memories,
    }
    text = ", ".join(
        [*(f"{n} {status}" for status, n in counts.items()), *([f"{len(failed)} failed"] if failed else [])]
    )
    lines = [f"{text}{redaction_note(redactions)}{room}", *found_lines(outcomes, is_accepted=options.keep_both)]
    session.output.confirm(data, "\n".join(lines))
    return UsageError.exit_code if failed else 0


def _candidates(
    session: CommandContext, workspace: Workspace, options: RememberOptions, common: Mapping[str, Json]
) -> tuple[list[Candidate], list[dict[str, Any]]]:
    """The candidates in the lines of --batch, and the invalid lines with their errors. Raises the first error without
    --keep-going, and the first of a language model in any case."""
    from memcli.app.living import with_session

    candidates: list[Candidate] = []
    failed: list[dict[str, Any]] = []
    describe = _describer(workspace, options)
    chooser = _snapshots(workspace, options)
    for number, line in enumerate(read_text(None, options.batch or "-").split("\n"), 1):
        if not line.strip():
            continue
        try:
            given = with_session(workspace, {**common, **_fields_of(line, "it")}, options.session)
            if chooser:
                given |= {"context": chooser.about(given)}
            candidates.append(prepare(workspace, given, describe))
        except MemcliError as error:
            is_of_model = describe is not None and isinstance(error, ProviderError | RefusedError)
            if is_of_model or not options.keep_going:
                raise type(error)(
                    f"line {number}: {error.message}; nothing was stored",
                    error.hint or "--keep-going stores the valid lines",
                ) from None
            failed.append({"line": number, "error": error.message})
            session.output.note(f"line {number}: {error.message}")
    return candidates, failed


def _given_fields(options: RememberOptions) -> dict[str, Json]:
    """The memory fields that the options set. Raises UsageError."""
    if options.kind is not None:
        if "," in options.kind:
            raise UsageError(f"a memory has one kind, not {options.kind!r}", "use --tag to classify further")
        options.kind, options.kind_new = arguments.chosen_kind(options.kind, is_new=options.kind_new), True
    links: list[dict[str, Json]] = []
    for text in options.link:
        relation, _, to = text.partition(":")
        if not to:
            raise UsageError(f"--link {text!r} is not RELATION:ID", "write --link relates_to:mem_...")
        links.append({"relation": relation, "to": to})
    about = {"speaker": options.speaker, "group": options.group}
    metadata = split_pairs(options.meta, "--meta") | {name: value for name, value in about.items() if value}
    origin = {"source": options.source, "reason": options.reason}
    provenance = {name: value for name, value in origin.items() if value}
    if options.commit:
        provenance["commit"] = _full_hash(options.commit)
    fields: dict[str, Json] = {
        "kind": options.kind, "path": options.path, "path_hint": options.path_hint,
        "project": options.project, "tags": arguments.split_commas(options.tag) if options.tag else None,
        "pinned": options.pin or None, "relevance": options.relevance, "summary_micro": options.summary_micro,
        "summary_short": options.summary_short, "summary_long": options.summary_long,
        "importance": options.importance, "confidence": options.confidence, "trust": options.trust,
        "scope": options.scope, "created_at": options.created_at, "valid_from": options.valid_from,
        "valid_until": options.valid_until, "season": options.season, "triggers": options.trigger or None, "enforce": options.enforce or None,
        "id": options.id, "links": links or None, "anchors": options.anchor or None,
        "metadata": metadata or None, "provenance": provenance or None,
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value is not None} | assignments(options.set)


def _fields_of(text: str, where: str) -> dict[str, Json]:
    """The fields of a memory in JSON, named `where` in errors. Raises UsageError for an unknown field, and for `supersedes`,
    which only an option can set."""
    from memcli.app.usage import USAGE

    # `get --json` adds the usage, which is no field: its output can be stored again.
    fields = {name: value for name, value in decode_object(text, where).items() if name != USAGE}
    if "supersedes" in fields:
        hint = "use --supersedes, or a link with the relation supersedes"
        raise UsageError(f"{where} has an unknown field supersedes", hint)
    known = {*MEMORY_FIELDS, *HINTS}
    if unknown := [name for name in fields if name not in known and not name.startswith(_OWN)]:
        raise no_field(unknown[0], known, f"{where} has ")
    return fields


def _with_source(fields: Mapping[str, Json], file: str | None) -> dict[str, Json]:
    """Adds the file as the source, by its path in the repository, unless the fields name another source."""
    from memcli.store.layout import find_work_tree

    if file is None or file == "-":
        return dict(fields)
    root = find_work_tree(os.getcwd(), os.path.expanduser("~"))
    path = os.path.relpath(os.path.realpath(file), os.path.realpath(root or os.getcwd())).replace(os.sep, "/")
    if path.startswith("../") or path == "..":  # outside of the repository, where others do not have the file
        return dict(fields)
    from memcli.model.names import readable

    name = readable(path)
    metadata, provenance = fields.get("metadata", {}), fields.get("provenance", {})
    if not isinstance(metadata, Mapping) or not isinstance(provenance, Mapping):
        return dict(fields)  # `prepare` raises the error for these
    return {**fields, "metadata": {"source": name, **metadata}, "provenance": {"files": [name], **provenance}}


def _full_hash(revision: str) -> str:
    """The full hash of the commit `revision`; outside a repository `revision` itself if it is a hash.

    Raises NotFoundError for an unknown commit, UsageError if `revision` cannot name a commit.
    """
    from memcli.git.repository import find_repository

    try:
        repository = find_repository(os.getcwd())
    except NotFoundError:
        if _HASH.fullmatch(revision):
            return revision
        raise NotFoundError(
            f"cannot look up {revision!r}: not in a git repository",
            "give the full hash of the commit, or run the command in the repository",
        ) from None
    return repository.resolve(revision)


def _snapshots(workspace: Workspace, options: RememberOptions) -> Snapshots | None:
    """What selects the pieces of conversation for --context, None without it: from standard input, unless the memory itself is
    read from there, else from the session. Raises UsageError, NotFoundError."""
    if options.context is None:
        return None
    from memcli.app.context import of_session, of_text

    named = (options.text, options.file, options.object, options.batch)
    is_read = "-" in named or named == (None, None, None, None)
    if options.session is None and not is_read and has_input() and (text := read_text("-", None)).strip():
        return of_text(workspace, text, options.context)
    return of_session(workspace, options.session or os.environ.get("MEMCLI_SESSION"), options.context)


def _context_tokens(candidate: Candidate) -> dict[str, Json]:
    """The number of tokens of a candidate's context, as JSON; empty without a context."""
    if "context" not in candidate.given:
        return {}
    from memcli.conversation.snapshot import tokens_of

    return {"context_tokens": tokens_of(candidate.given["context"])}


def _describer(workspace: Workspace, options: RememberOptions) -> Describe | None:
    """The semantic layer of the language model, which fills missing fields; None if the workspace uses another. Raises
    UsageError."""
    if options.fallback not in (None, "local"):
        raise UsageError(f"no fallback {options.fallback[:40]!r}", "use --fallback local")
    if not asks_model(workspace, options):
        return None
    from memcli.wiring import extra

    may_fall_back = options.fallback is not None
    consult = extra("advice.consult")
    summarizer = consult.AskingSummarizer(
        workspace, temperature=options.temperature, max_tokens=options.max_tokens, may_fall_back=may_fall_back
    )
    describe: Describe = summarizer.describe
    return describe


def _checked(
    session: CommandContext, workspace: Workspace, candidates: Sequence[Candidate], options: RememberOptions
) -> Resolution | None:
    """What the candidates contradict and repeat, with the decision that the options give; None if they are not compared."""
    if options.no_check:
        return None
    if len(candidates) > _COMPARED:
        workspace.warn(f"more than {_COMPARED} memories at once are not checked for contradictions")
        return None
    from memcli.app.check import check

    # To load the model takes longer than to store a memory: without --embed it is used only where it is at hand.
    by_meaning = options.embed or session.has_model
    checks = check(workspace, candidates, options.supersedes, by_meaning=by_meaning, waits=options.embed)
    return Resolution(checks, is_accepted=options.keep_both, merges=options.merge)


def _resolved(
    resolution: Resolution | None, supersedes: str | None, space: str
) -> tuple[Resolution | None, str | None]:
    """The resolution, and the id of the memory to supersede, after the user's decision about the findings for a memory of
    `space`; both unchanged without a terminal, or if the options decide. Raises RefusedError if the user cancels."""
    checked = resolution.checks[0] if resolution and resolution.checks else ()
    found = [one for one in checked if not one.adds and one.kind != RELATED]
    if resolution is None or not found or supersedes or resolution.is_accepted or resolution.merges or not can_ask():
        return resolution, supersedes
    opposed = [one for one in found if one.kind == CONTRADICTS]
    first = next((one for one in opposed if one.space == space), (opposed or found)[0])
    if first.kind == DUPLICATES:
        answer = _choose(f"{first.id} {first.path} already says this", "merge", "keep both", "cancel")
        return Resolution(resolution.checks, merges=answer == "m", is_accepted=answer == "k"), supersedes
    ways = ["supersede it"] if first.space == space else []
    answer = _choose(f"this {first.words(space)}", *ways, "keep both", "cancel")
    if answer == "s":
        rest = [[one for one in found if one is not first]]
        return Resolution(rest), first.id
    return Resolution(resolution.checks, is_accepted=True), supersedes


def _choose(what: str, *choices: str) -> str:
    """Asks the user about `what`. Returns the first letter of the choice; raises RefusedError for the last one, which cancels."""
    letters = [choice[0] for choice in choices]
    shown = ", ".join(f"[{choice[0]}]{choice[1:]}" for choice in choices)
    for _ in range(_QUESTIONS):
        sys.stderr.write(f"memcli: {clean_line(what)}\n{shown}? ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1]
        # At the end of the input nobody has chosen, which is no consent.
        if not line or answer == letters[-1]:
            break
        if answer in letters:
            return answer
    raise RefusedError(f"cancelled: {what}", "nothing was stored")


def submit(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None = None,
    *,
    propose: bool,
    yes: bool,
    resolution: Resolution | None = None,
) -> Stored:
    """Stores the candidates, or puts them into the inbox: with `propose` always; if the policy has `review: true`, unless they are
    entered at a terminal or `yes` is set. Raises what `remember` raises."""
    check_not_derived(workspace)
    proposed = propose or bool(os.environ.get("MEMCLI_PROPOSE"))
    if not proposed:
        may_wait = not (yes or is_terminal())
        stored = remember(workspace, candidates, supersedes, may_wait=may_wait, resolution=resolution)
        if not stored.needs_review:
            return stored
    from memcli.app.inbox import offer

    return offer(workspace, candidates, supersedes, propose_all=True, resolution=resolution)


def _room(stored: Stored) -> tuple[str, dict[str, Json]]:
    """The number of memories removed because of policy.max_objects, as text and as JSON; both empty for none."""
    if not stored.compacted:
        return "", {}
    return f" ({stored.compacted} removed to make room: policy.max_objects)", {"compacted": stored.compacted}


def _note_untrusted(session: CommandContext, outcomes: Sequence[Outcome]) -> None:
    """Warns of memories that recall withholds because they contain instructions to an agent."""
    for outcome in outcomes:
        if outcome.untrusted:
            session.output.note(
                f"{outcome.id} contains {', '.join(outcome.untrusted)} and is excluded from recall; "
                f"`memcli trust {outcome.id}` accepts it"
            )


def found_lines(outcomes: Sequence[Outcome], *, is_accepted: bool = False, can_repeat: bool = True) -> Iterator[str]:
    """What the memories contradict and repeat, and the command that resolves it: the same one with another option if it
    `can_repeat`. Contradictions that are accepted (`is_accepted`) need none."""
    contradicting = [(outcome, one) for outcome in outcomes for one in outcome.findings(CONTRADICTS)]
    repeating = [(outcome, one) for outcome in outcomes for one in outcome.findings(DUPLICATES)]
    named = len(outcomes) > 1
    for outcome, one in contradicting[:_SHOWN]:
        yield f"{f'{outcome.id} ' if named else ''}{one.words(outcome.space)}"
    if contradicting and not is_accepted:
        # Only ways out that there are: a memory of another space cannot be superseded, and the caller may be a command
        # without these options.
        way = "edit or forget the one that does not hold"
        if here := [(outcome, one) for outcome, one in contradicting if one.space == outcome.space]:
            outcome, one = here[0]
            way = f"run `memcli link {outcome.id} {one.id} --relation supersedes` (the first one holds)"
            if can_repeat and named:
                way = f"{way}, or repeat the command with --keep-both"
            elif can_repeat:
                way = f"repeat the command with --supersedes {one.id} (the new one holds) or --keep-both"
        yield f"  to resolve it, {way}"
    for outcome, one in repeating[:_SHOWN]:
        yield f"{f'{outcome.id} ' if named else ''}{one.words(outcome.space)}"
    if can_repeat and any(one.space == outcome.space and not one.adds for outcome, one in repeating):
        yield "  to strengthen that one instead, repeat the command with --merge"
    if related := outcomes[0].findings(RELATED) if outcomes and not named else ():
        yield f"related: {', '.join(f'{one.id} {one.where(outcomes[0].space)}' for one in related)}"
        way = (
            "store it again with --supersedes ID"
            if can_repeat
            else f"run `memcli link {outcomes[0].id} ID --relation supersedes`"
        )
        yield f"  if the new memory replaces one of them, {way}"
    left = max(0, len(contradicting) - _SHOWN) + max(0, len(repeating) - _SHOWN)
    if left:
        yield f"  and {left} more (see --json)"


def by_kind(found: Sequence[Found], space: str) -> dict[str, Json]:
    """The findings for a memory of `space` as JSON, by kind."""
    kinds = {one.kind for one in found}
    return {kind: [one.to_json(space) for one in found if one.kind == kind] for kind in sorted(kinds)}
