"""Check: finds the stored memories that a new one contradicts or repeats, and those about the same matter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing

from memcli.app.candidate import Candidate
from memcli.app.workspace import Workspace, shows_damage
from memcli.claims.claim import Claim, claim_of, neighbours, terms_of
from memcli.claims.comparison import Relation, compare
from memcli.model.findings import DUPLICATES, RELATED, Checks, Found
from memcli.model.memory import Memory, holds
from memcli.model.names import beginnings
from memcli.model.shapes import OBSERVED
from memcli.record import replace
from memcli.settings import REPO
from memcli.text.words import query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from memcli.index.view import IndexedSpace
    from memcli.ports import Snapshot

_Near: TypeAlias = "tuple[Memory, float | None]"
"""A memory that may be about the same matter, and its cosine to the new one, if that is known."""

UNCLAIMING_KINDS = ("log", "episode", "diff", "code")
"""Kinds that record events, or are code: they claim nothing that a later memory could contradict."""

_TEXT, _TERMS = 1500, 24
"""Terms are taken from so many characters of a claim, at most so many."""
_ROWS = 16
"""The number of rows that the index returns for these terms."""
_ALIKE_ROWS, _NEAR_ROWS = 8, 8
"""At most so many memories are compared that share words with a claim, and so many that are near in meaning."""
_NEAR = 0.55
"""The least cosine of a memory that is near in meaning."""
_MANY = 64
"""From so many candidates on, they are compared with the whole space, not each with the memories that the index finds for it."""
# Rules find few contradictions surely: what is only near is shown to the caller, who often is a language model.
MOST_RELATED = 3
"""The maximum number of memories about the same matter in an answer."""


def check(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None = None,
    *,
    by_meaning: bool = False,
    waits: bool = False,
) -> Checks:
    """The findings for each candidate: the active memories that it contradicts or repeats, and at most MOST_RELATED others
    about the same matter, without the memory that the last candidate `supersedes`.

    An index that needs much work first is skipped, unless the check `waits` for it. With `by_meaning`, existing vectors are
    used too.
    """
    claims = [claim_of(_text(candidate)) for candidate in candidates]
    found: list[list[Found]] = [[] for _ in candidates]
    stored: set[tuple[int, str]] = set()
    if not any(claim.statements for claim in claims):
        return [()] * len(candidates)
    spaces = workspace.spaces_to_read
    for space in spaces if spaces[0] == workspace.space else [workspace.space]:
        # Memories that were read from the repository are no claims (see `is_claim`).
        if space == REPO or workspace.store.policy(space).is_derived:
            continue
        try:
            with closing(workspace.store.open(space)) as snapshot:
                for place, memories in _near_claims(workspace, snapshot, claims, by_meaning=by_meaning, waits=waits):
                    ended = supersedes if supersedes and place == len(candidates) - 1 else ""
                    found[place] += _compared(workspace, space, candidates[place], claims[place], memories, ended)
                    stored.update((place, memory.hash) for memory, _ in memories if space == workspace.space)
        except Exception as error:  # noqa: BLE001 - the write reports errors of the store
            if shows_damage(error):
                workspace.index.rebuild(space)
    # With each other, too, but for pairs of which one was found stored.
    for later, earlier in neighbours([terms_of(claim.text) for claim in claims]) if len(claims) > 1 else ():
        one, other = candidates[later], candidates[earlier]
        path = other.given.get("path") or other.derived.get("path", "")
        is_known = (later, other.hash) in stored or (earlier, one.hash) in stored
        if is_known or one.hash == other.hash or one.given.get("path", "") == path:
            continue
        cosine = None
        # Cached: the search by meaning has just embedded both texts. The vectors are integers, so this needs no NumPy.
        texts = (claims[later].text, claims[earlier].text) if by_meaning else ()
        vectors = [known[1] for text in texts if (known := workspace.index.question(text)) is not None]
        if len(vectors) == 2:
            a, b = (memoryview(vector).cast("b") for vector in vectors)
            norms = sum(x * x for x in a) * sum(y * y for y in b)
            cosine = sum(x * y for x, y in zip(a, b, strict=True)) / norms**0.5 if norms else None
        finding = compare(claims[later], claims[earlier], cosine)
        if finding is not None and finding.kind != RELATED:
            found[later].append(_found(finding, "", path, workspace.space, other.hash, earlier))
    if supersedes:
        found[-1] = [one for one in found[-1] if not _is_named(one, supersedes)]
    return [tuple(_ordered(each, workspace.space)) for each in found]


def _ordered(found: Sequence[Found], space: str) -> Iterator[Found]:
    """Contradictions, then duplicates, then the nearest that are related."""
    yield from sorted(
        (one for one in found if one.kind != RELATED), key=lambda one: (one.kind, one.space != space, one.path)
    )
    related = [one for one in found if one.kind == RELATED]
    yield from sorted(related, key=lambda one: (-one.score, one.space != space, one.path))[:MOST_RELATED]


def _text(candidate: Candidate) -> str:
    """The text of a candidate, empty where it makes no claims."""
    fields = {**candidate.derived, **candidate.given}
    is_read = fields.get("provenance", {}).get("source") == OBSERVED
    is_current = fields.get("active", True) and not fields.get("superseded_by")
    claims = fields.get("kind") not in UNCLAIMING_KINDS and is_current and not is_read
    return str(fields.get("raw", "")) if claims else ""


def _near_claims(
    workspace: Workspace, snapshot: Snapshot, claims: Sequence[Claim], *, by_meaning: bool, waits: bool
) -> Iterator[tuple[int, list[_Near]]]:
    """For each claim, by its index, the memories of a space that may be about the same matter: as the index finds them, or for
    many claims by the terms of all memories of the space."""
    if len(claims) >= _MANY and not by_meaning:
        known = snapshot.load().objects
        first = len(known)
        every = [*(terms_of(memory.raw) for memory in known), *(terms_of(claim.text) for claim in claims)]
        found: dict[int, list[_Near]] = {}
        for later, earlier in neighbours(every, range(first, len(every))):
            if earlier < first:
                found.setdefault(later - first, []).append((known[earlier], None))
        yield from found.items()
        return
    view = workspace.index.view(snapshot) if waits else workspace.index.at_hand(snapshot)
    if view is None:
        return
    with closing(view):
        for place, claim in enumerate(claims):
            if claim.statements:
                yield place, _near(view, claim, by_meaning=by_meaning)


def _near(view: IndexedSpace, claim: Claim, *, by_meaning: bool) -> list[_Near]:
    """The memories that share most words with a claim; with `by_meaning`, also the nearest ones, and the cosines of all."""
    wanted = query_terms(claim.text[:_TEXT])[:_TERMS]
    rows: list[int] = []
    if wanted:  # memories that share the most and rarest terms come first
        stats = view.lexical(wanted, _ROWS)
        weight = {term: math.log(1 + stats.size / count) for term, count in stats.frequencies.items() if count}
        shared = {row: sum(weight[term] for term in terms) for row, terms in stats.counts.items()}
        rows = sorted(shared, key=lambda row: (-round(shared[row], 4), row))[:_ALIKE_ROWS]
    found = view.dense([claim.text]) if by_meaning else None
    if not found:
        return [(memory, None) for memory in view.fetch(rows)]
    best = found[0].by_row()
    nearest = sorted((row for row, cosine in best.items() if cosine >= _NEAR), key=lambda row: (-best[row], row))
    rows = list(dict.fromkeys([*rows, *nearest[:_NEAR_ROWS]]))
    return [(memory, best.get(row)) for row, memory in zip(rows, view.fetch(rows), strict=True)]


def is_claim(memory: Memory, now: str) -> bool:
    """Whether the memory makes claims that are valid at `now`."""
    is_read = memory.provenance.get("source") == OBSERVED
    is_due = memory.valid_from is None or memory.valid_from <= now
    return memory.active and holds(memory, now) and is_due and memory.kind not in UNCLAIMING_KINDS and not is_read


def _compared(
    workspace: Workspace, space: str, candidate: Candidate, claim: Claim, near: Sequence[_Near], ended: str
) -> Iterator[Found]:
    """The findings for a candidate among memories that are not its own earlier version. Contradictions that were accepted for
    an earlier version are not found again, except those of `ended`, the memory that it supersedes."""
    given = candidate.given
    own = []
    for memory, _ in near if space == workspace.space else ():
        # The memory that the candidate will update, or repeats exactly.
        is_itself = memory.id == given.get("id") or memory.path == given.get("path") or memory.hash == candidate.hash
        # What it supersedes is another memory, even at its path: what was accepted for that says nothing of this text.
        if is_itself and not (ended and _is_named(memory, ended)):
            own.append(memory)
    accepted = {link["to"] for memory in own for link in memory.links if link.get("accepted")}
    for memory, cosine in near:
        if (
            memory.hash == candidate.hash
            or memory in own
            or memory.id in accepted
            or not is_claim(memory, workspace.clock())
        ):
            continue
        finding = compare(claim, claim_of(memory.raw), cosine)
        if finding is None:
            continue
        # An imported candidate may be older than the stored memory, and then cannot replace it.
        if given.get("created_at", memory.created_at) < memory.created_at:
            finding = replace(finding, newer_holds=False)
        # A duplicate with a field that the stored memory would not take over adds something, and is not merged.
        adds = next((name for name in _ALONE if given.get(name) and given[name] != getattr(memory, name)), "")
        if finding.kind == DUPLICATES and adds and not finding.adds:
            reason = f"{finding.reason}, but it lacks the {adds.replace('_', ' ')}"
            finding = replace(finding, reason=reason, adds=adds)
        yield _found(finding, memory.id, memory.path, space, memory.hash)


def _is_named(one: Memory | Found, ref: str) -> bool:
    return one.path == ref or one.id.startswith(beginnings(ref))


_ALONE = ("content", "triggers", "enforce", "procedure", "season", "valid_from", "valid_until")
"""Fields that a stored memory keeps unchanged when its text is remembered once more."""


def _found(finding: Relation, name: str, path: str, space: str, digest: str, place: int = -1) -> Found:
    return Found(
        finding.kind, finding.reason, name, path, space, digest, finding.newer_holds, place, finding.adds, finding.score
    )
