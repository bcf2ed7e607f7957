"""Usage: records which memories are shown, and topics without an answer; reports the accesses of a memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memcli.app.workspace import Workspace
from memcli.model.memory import Json, Memory
from memcli.model.recall import ALL_REJECTED, BELOW_FLOOR, NO_MATCH, NOT_REPEATED, Bundle, Query
from memcli.model.usage import GET, JUDGEMENTS, MAX_TOPIC, RECALL, Access, Gap, Use
from memcli.policy.ageing import effective_confidence
from memcli.record import replace

ELSEWHERE = "global/"
"""The prefix of spaces of the user-wide store in a bundle."""
USAGE = "usage"
"""The key in the JSON of a memory under which `get` reports its use; it is no field of the memory."""
_DIGITS = 4
_FILTERS = (
    "kinds", "without_kinds", "tags", "under", "scope", "at", "since", "until", "changed_since", "min_score", "min_importance",
    "require_high_relevance", "edits", "ids",
)  # fmt: skip
"""Options of a query that exclude memories: without an answer, it is no gap, since other memories may answer it."""


def note_bundle(workspace: Workspace, bundle: Bundle, act: str = RECALL, without: Sequence[str] = ()) -> None:
    """Records the memories of a bundle, with the numbers with which they are printed; those of the user-wide store also there.
    Sections of the spaces `without` are left out: they are messages of sessions."""
    found: dict[str, list[tuple[str, int]]] = {}
    for number, section in enumerate((*bundle.sections, *bundle.always), 1):
        if section.space not in without:
            found.setdefault(section.space, []).append((section.memory.id, number))
    if not found:
        return
    at = workspace.clock()
    uses = [
        Use(at, act, space, tuple(name for name, _ in shown), places=tuple(n for _, n in shown))
        for space, shown in found.items()
    ]
    topic = "" if bundle.query.topic == NOT_REPEATED else bundle.query.topic
    # In the local state: to read a memory changes no file that git tracks.
    if workspace.is_noted:
        workspace.usage.note(uses, topic)
    theirs = [use for use in uses if use.space.startswith(ELSEWHERE)]
    # The upkeep of the user-wide store reads the log of that store alone.
    if theirs and (other := workspace.elsewhere):
        other.usage.note([replace(use, space=use.space.removeprefix(ELSEWHERE)) for use in theirs], topic)


def note_gap(workspace: Workspace, bundle: Bundle, space: str) -> None:
    """Records the topic of a bundle as a gap of the space, if the bundle has no answer or only weak evidence."""
    query = bundle.query
    topic = " ".join(query.topic.split())[:MAX_TOPIC]
    plain = Query(topic="", now="")
    if (
        not (bundle.is_weak or bundle.reason in (NO_MATCH, BELOW_FLOOR, ALL_REJECTED))
        or not topic
        or topic == NOT_REPEATED
        or any(getattr(query, name) != getattr(plain, name) for name in _FILTERS)
        or not workspace.is_noted
    ):
        return
    now = workspace.clock()
    workspace.gaps.note(Gap(topic, space, 1, now, now))


def note_read(workspace: Workspace, memories: Sequence[Memory]) -> list[dict[str, Json]]:
    """Records that memories were read in full, unless the workspace records nothing (`is_noted`). Returns the use of each before
    that: its accesses, the pending judgements that `store maintain` has not applied yet, by kind, and its confidence where
    that has decayed."""
    now = workspace.clock()
    if not workspace.is_noted:
        return [_standing(memory, Access(), (), now) for memory in memories]
    named = [memory.metadata.get("space") for memory in memories]
    spaces = [name if isinstance(name, str) and name else workspace.space for name in named]
    by_space: dict[str, dict[str, None]] = {}
    for memory, space in zip(memories, spaces, strict=True):
        by_space.setdefault(space, {})[memory.id] = None
    counts = {space: workspace.usage.counts(space, ids) for space, ids in by_space.items()}
    judged = workspace.usage.read(JUDGEMENTS)
    found = [
        _standing(
            memory,
            counts[space].get(memory.id, Access()),
            [use.act for use in judged if use.space == space and memory.id in use.ids],
            now,
        )
        for memory, space in zip(memories, spaces, strict=True)
    ]
    workspace.usage.note([Use(now, GET, space, tuple(ids)) for space, ids in by_space.items()])
    return found


def _standing(memory: Memory, access: Access, judged: Sequence[str], now: str) -> dict[str, Json]:
    found: dict[str, Json] = {}
    if access.count:
        found |= {"accesses": access.count, "last_access": access.last_at}
    left = round(effective_confidence(memory, now), _DIGITS)
    if left < round(memory.confidence * memory.trust, _DIGITS):
        found["effective_confidence"] = left
    pending = {act: judged.count(act) for act in JUDGEMENTS if act in judged}
    return found | ({"pending": pending} if pending else {})


def list_gaps(workspace: Workspace) -> list[Gap]:
    """The gaps of the space that the user named, or of all spaces; those of spaces whose policy no longer allows gaps are
    removed.

    Raises StoreError, LockedError.
    """
    gaps = workspace.gaps.read()
    allowed = {space for space in dict.fromkeys(gap.space for gap in gaps) if keeps_gaps(workspace, space)}
    drop_gaps(workspace, [gap for gap in gaps if gap.space not in allowed])
    wanted = {workspace.space} if workspace.is_space_named else allowed
    return [gap for gap in gaps if gap.space in allowed & wanted]


def keeps_gaps(workspace: Workspace, space: str) -> bool:
    """Whether the effective policy of the space allows gaps to be recorded."""
    return workspace.in_force(workspace.store.policy(space)).gaps


def drop_gaps(workspace: Workspace, gaps: Collection[Gap]) -> None:
    """Removes gaps, and the answers of models about them. Raises StoreError, LockedError."""
    if gaps:
        workspace.gaps.drop(gaps)
        workspace.answers.erase(only_questions=True)
