"""What `memcli remember` does, apart from how its options are declared."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memcli.app.remember import Outcome, prepare, remember
from memcli.app.upsert import Candidate
from memcli.app.workspace import Workspace
from memcli.cli import filters
from memcli.cli.assignments import assignments, split_pairs
from memcli.cli.origins import from_file, full_hash
from memcli.cli.output import is_terminal, redacted_told
from memcli.cli.session import Session
from memcli.cli.text import read_text
from memcli.codec.canonical import decode_object
from memcli.errors import MemcliError, StoreError, UsageError
from memcli.model.memory import TRIGGERED_KINDS, Json

_TEXT_LIMIT = 64 << 20


def store_memory(
    session: Session,
    *,
    text: str | None = None,
    file: str | None = None,
    object_: str | None = None,
    batch: str | None = None,
    keep_going: bool = False,
    kind: str | None = None,
    path: str | None = None,
    path_hint: str | None = None,
    project: str | None = None,
    tag: list[str] | None = None,
    pin: bool = False,
    relevance: str | None = None,
    summary_micro: str | None = None,
    summary_short: str | None = None,
    summary_long: str | None = None,
    importance: float | None = None,
    confidence: float | None = None,
    trust: float | None = None,
    scope: str | None = None,
    created_at: str | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
    source: str | None = None,
    reason: str | None = None,
    commit: str | None = None,
    trigger: list[str] | None = None,
    enforce: bool = False,
    link: list[str] | None = None,
    anchor: list[str] | None = None,
    speaker: str | None = None,
    group: str | None = None,
    meta: list[str] | None = None,
    set_: list[str] | None = None,
    identifier: str | None = None,
    supersedes: str | None = None,
    semantic: str | None = None,
    embed: bool = False,
    propose: bool = False,
    yes: bool = False,
) -> int:
    """Stores one memory, or a batch; returns the exit code. Raises UsageError and what remember raises."""
    fields: dict[str, Json] = {
        "kind": filters.one_kind(session, kind), "path": path, "path_hint": path_hint, "project": project,
        "tags": filters.parts(tag) if tag else None, "pinned": pin or None,
        "relevance": relevance, "summary_micro": summary_micro, "summary_short": summary_short,
        "summary_long": summary_long, "importance": importance, "confidence": confidence, "trust": trust,
        "scope": scope, "created_at": created_at, "valid_from": valid_from, "valid_until": valid_until,
        "triggers": trigger, "enforce": enforce or None, "id": identifier,
        "metadata": {**split_pairs(meta, "--meta"), **_given(speaker=speaker, group=group)} or None,
        "provenance": _given(source=source, reason=reason, commit=full_hash(commit) if commit else None) or None,
        "links": [_link(text) for text in link or []] or None,
        "anchors": anchor,
    }  # fmt: skip
    given = {name: value for name, value in fields.items() if value is not None} | assignments(set_)
    if batch is not None:
        return _batch(session, batch, given, keep_going, semantic, Route(propose, yes))
    given = from_file(_whole(object_, text, file) | given, file)
    workspace = session.open(create=True, semantic=semantic, store=_store(given))
    candidate = prepare(workspace, given)
    outcome = Route(propose, yes).store(workspace, [candidate], supersedes)[0]
    if embed:
        _embed(workspace, outcome.id)
    room = f" ({outcome.compacted} of the least valuable went: policy.max_objects)" if outcome.compacted else ""
    text = f"{outcome.status} {outcome.id} {outcome.path}{redacted_told(outcome.redactions)}{room}"
    session.output.confirm(outcome.to_json(), text)
    _tell_untrusted(session, [outcome])
    if outcome.status == "created":
        _tell_idle(session, {**candidate.derived, **candidate.given})
    return 0


def _given(**values: str | None) -> dict[str, Json]:
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


@dataclass(frozen=True, slots=True)
class Route:
    """Whether what is remembered goes in or waits: proposals always wait; under `review: true` so does everything
    that no person at a terminal says, unless it is told to go in."""

    propose: bool
    yes: bool

    def store(
        self, workspace: Workspace, candidates: Sequence[Candidate], supersedes: str | None = None
    ) -> list[Outcome]:
        proposed = self.propose or bool(os.environ.get("MEMCLI_PROPOSE"))
        if not proposed and (self.yes or is_terminal()):
            return remember(workspace, candidates, supersedes)
        from memcli.app.inbox import offer

        return offer(workspace, candidates, supersedes, propose_all=proposed)


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


def _whole(object_: str | None, text: str | None, file: str | None) -> dict[str, Json]:
    if object_ is None:
        return {"raw": read_text(text, file, _TEXT_LIMIT)}
    whole = _fields_of(read_text(None, "-", _TEXT_LIMIT) if object_ == "-" else object_, "--object")
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
    return fields


def _batch(
    session: Session, source: str, common: dict[str, Json], keep_going: bool, semantic: str | None, route: Route
) -> int:
    workspace = session.open(create=True, semantic=semantic)
    candidates = []
    failed: list[dict[str, Any]] = []
    for number, line in enumerate(read_text(None, source).split("\n"), 1):
        if not line.strip():
            continue
        try:
            candidates.append(prepare(workspace, {**common, **_fields_of(line, "it")}))
        except MemcliError as error:
            if not keep_going:
                raise type(error)(
                    f"line {number}: {error.message}; nothing was stored", error.hint or "--keep-going stores the rest"
                ) from None
            failed.append({"line": number, "error": error.message})
            session.output.note(f"line {number}: {error.message}")
    filters.note_similar(session, (c.given["kind"] for c in candidates if "kind" in c.given))
    outcomes = route.store(workspace, candidates)
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


def _link(text: str) -> dict[str, Json]:
    relation, _, to = text.partition(":")
    if not to:
        raise UsageError(f"--link {text!r} is not RELATION:ID", "write --link relates_to:mem_...")
    return {"relation": relation, "to": to}
