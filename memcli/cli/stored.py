"""What is said of memories that were stored: what they contradict or repeat, what had no effect, what had to make room."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memcli.app.candidate import Candidate
from memcli.app.remember import Outcome, Stored
from memcli.app.workspace import Workspace
from memcli.cli.console import can_ask
from memcli.cli.verb import CommandContext
from memcli.errors import RefusedError
from memcli.model.findings import CONTRADICTS, DUPLICATES, Found, Resolution
from memcli.model.memory import TRIGGERED_KINDS, Json
from memcli.render.clean import clean_line

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
