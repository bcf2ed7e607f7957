"""New memories from the command line: where they came from, and whether they are stored or proposed.

What is said of memories that were stored: what they contradict or repeat, what had no effect, what had to make room.

Parse `--set field=value` options.

The options that choose how missing fields are filled.

The snapshot of what was said about a memory, from standard input or a session.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from memcli.app.candidate import Candidate
from memcli.app.remember import Outcome, Stored, remember
from memcli.app.repo import check_is_told
from memcli.app.workspace import Workspace
from memcli.cli.arguments import read_text
from memcli.cli.output import can_ask, has_input, is_terminal
from memcli.cli.verb import CommandContext
from memcli.codec.canonical import decode_argument
from memcli.errors import NotFoundError, RefusedError, UsageError
from memcli.model.findings import CONTRADICTS, DUPLICATES, Found, Resolution
from memcli.model.memory import TRIGGERED_KINDS, Json
from memcli.model.shapes import MEMORY_FIELDS, Shape, part_of
from memcli.ports import Summarizer
from memcli.render.clean import clean_line
from memcli.summarize import LLM

if TYPE_CHECKING:
    from memcli.app.context import Snapshots


_HASH = re.compile(r"[0-9a-f]{7,64}")


def from_file(fields: Mapping[str, Json], file: str | None) -> dict[str, Json]:
    """Adds the file as the source, by its path in the repository, unless the fields name another source.

    Files outside the repository are not recorded: their paths mean nothing to others.
    """
    from memcli.store.layout import find_work_tree

    if file is None or file == "-":
        return dict(fields)
    root = find_work_tree(os.getcwd(), os.path.expanduser("~"))
    path = os.path.relpath(os.path.realpath(file), os.path.realpath(root or os.getcwd())).replace(os.sep, "/")
    if path.startswith("../") or path == "..":
        return dict(fields)
    from memcli.model.names import readable

    name = readable(path)
    metadata, provenance = fields.get("metadata", {}), fields.get("provenance", {})
    if not isinstance(metadata, Mapping) or not isinstance(provenance, Mapping):
        return dict(fields)  # which is refused later
    return {**fields, "metadata": {"source": name, **metadata}, "provenance": {"files": [name], **provenance}}


def full_hash(revision: str) -> str:
    """The full hash of the commit `revision`; outside a repository, a full hash as given.

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


def submit(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None = None,
    *,
    propose: bool,
    yes: bool,
    resolution: Resolution | None = None,
) -> Stored:
    """Stores the candidates or puts them into the inbox: proposals always go there; under `review: true`, so does everything
    that is not entered by a person at a terminal, unless `yes`. Raises what remember raises.
    """
    check_is_told(workspace)
    proposed = propose or bool(os.environ.get("MEMCLI_PROPOSE"))
    if not proposed and (yes or is_terminal()):
        return remember(workspace, candidates, supersedes, resolution=resolution)
    from memcli.app.inbox import offer

    return offer(workspace, candidates, supersedes, propose_all=proposed, resolution=resolution)


_SHOWN = 5
_COMPARED = 500
_QUESTIONS = 3


def checked(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None,
    *,
    keep_both: bool,
    merge: bool,
    embed: bool,
) -> Resolution | None:
    """What the candidates contradict and repeat, and what the options say of that; None for more than are compared."""
    if len(candidates) > _COMPARED:
        workspace.warn(f"more than {_COMPARED} memories at once are not checked for contradictions")
        return None
    from memcli.app.check import check

    checks = check(workspace, candidates, supersedes, by_meaning=embed)
    return Resolution(checks, is_accepted=keep_both, merges=merge)


def asked(resolution: Resolution | None, supersedes: str | None, space: str) -> tuple[Resolution | None, str | None]:
    """What the user, if there is one to ask, wants of the findings for one memory of `space`. Raises RefusedError."""
    found = [one for one in resolution.checks[0] if not one.adds] if resolution and resolution.checks else []
    if resolution is None or not found or supersedes or resolution.is_accepted or resolution.merges or not can_ask():
        return resolution, supersedes
    opposed = [one for one in found if one.kind == CONTRADICTS]
    first = next((one for one in opposed if one.space == space), (opposed or found)[0])
    if first.kind == DUPLICATES:
        answer = _choose(f"{first.id} {first.path} already says this", "merge", "keep both", "cancel")
        return Resolution(resolution.checks, merges=answer == "m", is_accepted=answer == "k"), supersedes
    ways = ["supersede it"] if first.space == space else []
    answer = _choose(f"this {said(first, space)}", *ways, "keep both", "cancel")
    if answer == "s":
        rest = [[one for one in found if one is not first]]
        return Resolution(rest), first.id
    return Resolution(resolution.checks, is_accepted=True), supersedes


def _choose(what: str, *ways: str) -> str:
    """The first letter of the way that the user chooses. Raises RefusedError for the last one."""
    letters = [way[0] for way in ways]
    offered = ", ".join(f"[{way[0]}]{way[1:]}" for way in ways)
    for _ in range(_QUESTIONS):
        sys.stderr.write(f"memcli: {clean_line(what)}\n{offered}? ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1]
        if not line or answer == letters[-1]:
            break
        if answer in letters:
            return answer
    raise RefusedError(f"cancelled: {what}", "nothing was stored")


def found_lines(outcomes: Sequence[Outcome], *, is_accepted: bool = False, can_repeat: bool = True) -> Iterator[str]:
    """What the memories contradict and repeat, and what can be done about it: with options, if the command takes them and
    `can_repeat`; nothing if it `is_accepted`."""
    contradicting = [(outcome, one) for outcome in outcomes for one in outcome.told(CONTRADICTS)]
    repeating = [(outcome, one) for outcome in outcomes for one in outcome.told(DUPLICATES)]
    named = len(outcomes) > 1
    for outcome, one in contradicting[:_SHOWN]:
        yield f"{f'{outcome.id} ' if named else ''}{said(one, outcome.space)}"
    if contradicting and not is_accepted:
        yield f"  to resolve it, {_way_on(contradicting, can_repeat=can_repeat, is_one=not named)}"
    for outcome, one in repeating[:_SHOWN]:
        yield f"{f'{outcome.id} ' if named else ''}{said(one, outcome.space)}"
    if can_repeat and any(one.space == outcome.space and not one.adds for outcome, one in repeating):
        yield "  to strengthen that one instead, repeat the command with --merge"
    left = max(0, len(contradicting) - _SHOWN) + max(0, len(repeating) - _SHOWN)
    if left:
        yield f"  and {left} more (see --json)"


def _way_on(contradicting: Sequence[tuple[Outcome, Found]], *, can_repeat: bool, is_one: bool) -> str:
    here = [(outcome, one) for outcome, one in contradicting if one.space == outcome.space]
    if not here:
        return "edit or forget the one that does not hold"
    outcome, one = here[0]
    if can_repeat and is_one:
        return f"repeat the command with --supersedes {one.id} (the new one holds) or --keep-both"
    link = f"run `memcli link {outcome.id} {one.id} --relation supersedes` (the first one holds)"
    return f"{link}, or repeat the command with --keep-both" if can_repeat else link


def said(one: Found, space: str) -> str:
    """One finding for a memory of `space` as text."""
    newer = "; the newer one holds" if one.newer_holds else ""
    elsewhere = f"{one.space}:" if one.space != space else ""
    return f"{one.kind} {one.id} {elsewhere}{one.path} ({one.reason}{newer})"


def by_kind(found: Sequence[Found], space: str) -> dict[str, Json]:
    """Findings for a memory of `space` as JSON; those kinds that there are."""
    kinds = {one.kind for one in found}
    return {kind: [one.to_json(space) for one in found if one.kind == kind] for kind in sorted(kinds)}


def tell_idle(session: CommandContext, fields: Mapping[str, Any]) -> None:
    """Warns if a trigger or --enforce has no effect."""
    kind, is_enforced = fields.get("kind", ""), fields.get("enforce", False)
    if is_enforced and not fields.get("triggers"):
        session.output.note("--enforce has no effect without --trigger")
    elif fields.get("triggers") and not is_enforced and kind not in TRIGGERED_KINDS:
        session.output.note(
            f"triggers on `{kind}` memories are never checked: use --kind {' or '.join(TRIGGERED_KINDS)}"
        )


def room_told(stored: Stored) -> str:
    """How many memories were removed to make room, as text."""
    return f" ({stored.compacted} removed to make room: policy.max_objects)" if stored.compacted else ""


def room_json(stored: Stored) -> dict[str, Json]:
    """How many memories were removed to make room."""
    return {"compacted": stored.compacted} if stored.compacted else {}


def tell_untrusted(session: CommandContext, outcomes: Sequence[Outcome]) -> None:
    """Warns of memories that recall withholds."""
    for outcome in outcomes:
        if outcome.untrusted:
            session.output.note(
                f"{outcome.id} contains {', '.join(outcome.untrusted)} and is excluded from recall; "
                f"`memcli trust {outcome.id}` accepts it"
            )


_OTHER_NAMES = {
    "text": "raw",
    "body": "raw",
    "type": "kind",
    "title": "path",
    "summary": "summary_short",
    "expires": "valid_until",
}
_PLAIN = ("number", "integer", "boolean")


Pairs = list[str] | Mapping[str, Json] | None
"""`name=value` arguments; a mapping of names to values, if a program gives them."""


def assignments(pairs: Pairs, fields: Mapping[str, Shape] | None = None) -> dict[str, Json]:
    """Parses `field=value` arguments: text fields as text, other fields as JSON. `field=null` resets to the default.

    If `fields` is given, `field.part=value` sets one part of an object field. The values of a mapping are taken as they are.
    Raises UsageError if a value that must be JSON is not.
    """
    shapes = MEMORY_FIELDS if fields is None else fields
    given = split_pairs(pairs, "--set")
    for name in given:
        if name not in shapes and (fields is None or name.partition(".")[0] not in shapes):
            raise no_field(name, shapes)
    if isinstance(pairs, Mapping):
        return given
    return {name: _value(name, value, part_of(name, shapes)[1]) for name, value in given.items()}


def no_field(name: str, known: Collection[str], where: str = "") -> UsageError:
    """What to raise for a field that is none of those that are `known`."""
    from difflib import get_close_matches

    meant = _OTHER_NAMES.get(name) or next(iter(get_close_matches(name, sorted(known), 1)), "")
    hint = f"did you mean {meant!r}?" if meant in known else f"fields: {', '.join(sorted(known))}"
    return UsageError(f"{where}no field {name!r}", hint)


def _value(name: str, value: str, shape: Shape) -> Json:
    if value == "null":
        return None
    if shape.get("type") == "string":
        return value
    if name in ("anchors", "triggers") and not value.lstrip().startswith("["):
        return [value]
    if name == "tags" and not value.lstrip().startswith("["):
        return [tag for tag in value.split(",") if tag.strip()]
    try:
        return decode_argument(value, f"--set {name}")
    except UsageError:
        if shape.get("type") in _PLAIN or (not shape.get("type") and value[:1].isalpha()):
            return value  # text, which is right where any JSON is, and else is refused by the field's name
        raise


def split_pairs(pairs: Pairs, option: str) -> dict[str, Any]:
    """Splits `name=value` arguments into a mapping. Raises UsageError if `=` is missing."""
    if isinstance(pairs, Mapping):
        return dict(pairs)
    found = {}
    for pair in pairs or []:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise UsageError(f"{option} {pair!r} is not name=value", f"write {option} name=value")
        found[name.strip()] = value
    return found


class LayerOptions(Protocol):
    """Those of the commands that read sessions."""

    given: frozenset[str]
    model: str | None


class SemanticOptions(LayerOptions, Protocol):
    """Those of `remember`."""

    temperature: float | None
    max_tokens: int | None
    fallback: str | None


def asked_summarizer(workspace: Workspace, options: SemanticOptions) -> Summarizer | None:
    """The semantic layer by a language model; None where the workspace has another. Raises UsageError."""
    if options.fallback not in (None, "local"):
        raise UsageError(f"no fallback {options.fallback[:40]!r}", "use --fallback local")
    if workspace.semantic != LLM:
        _check_unused(options)
        return None
    from memcli.app.consult import AskingSummarizer, Tuning

    _check_model(workspace)
    return AskingSummarizer(
        workspace,
        Tuning(
            temperature=options.temperature,
            max_tokens=options.max_tokens,
            may_fall_back=options.fallback is not None,
        ),
    )


def asks_model(workspace: Workspace, options: LayerOptions) -> bool:
    """Whether a language model reads a session. Raises UsageError."""
    if workspace.semantic != LLM:
        _check_unused(options)
        return False
    _check_model(workspace)
    return True


def _check_model(workspace: Workspace) -> None:
    if workspace.model:
        from memcli.model.conversation import model_name

        model_name(workspace.model)


def _check_unused(options: LayerOptions) -> None:
    for name in ("model", "temperature", "max_tokens", "fallback"):
        if name in options.given:
            raise UsageError(f"--{name.replace('_', '-')} needs --semantic llm", "add it, or leave the option out")


class SnapshotOptions(Protocol):
    """Those of `remember`."""

    text: str | None
    file: str | None
    object: str | None
    batch: str | None
    context: int | None
    session: str | None


def snapshots(workspace: Workspace, options: SnapshotOptions) -> Snapshots | None:
    """What chooses the snapshot of a memory, where one is asked for: of standard input, if no memory is read from there,
    else of the session. Raises UsageError, NotFoundError."""
    if options.context is None:
        return None
    from memcli.app.context import of_session, of_text

    if options.session is None and not _is_read(options) and has_input() and (text := read_text("-", None)).strip():
        return of_text(workspace, text, options.context)
    return of_session(workspace, options.session or os.environ.get("MEMCLI_SESSION"), options.context)


def _is_read(options: SnapshotOptions) -> bool:
    """Whether the memories are read from standard input."""
    named = (options.text, options.file, options.object, options.batch)
    return "-" in named or named == (None, None, None, None)


def kept_tokens(candidate: Candidate) -> dict[str, Json]:
    """How many tokens of context are kept."""
    if "context" not in candidate.given:
        return {}
    from memcli.conversation.snapshot import tokens_of

    return {"context_tokens": tokens_of(candidate.given["context"])}
