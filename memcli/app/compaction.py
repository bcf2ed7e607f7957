"""Compaction by a language model: asked before a write for which there is no room, and never under the lock of a space."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.app.advised import is_mergeable, may_be_named
from memcli.app.consult import TEXT, consult
from memcli.app.workspace import Workspace, load_space
from memcli.claims.union import lacking
from memcli.codec.space import encode_space, memory_digest
from memcli.codec.splice import SpliceShelf
from memcli.errors import MemcliError, ProviderError, RefusedError, UsageError
from memcli.model.memory import Json, Memory
from memcli.model.space import Change, Space
from memcli.policy.draft import Draft
from memcli.policy.retention import excess_of, is_spent, surplus
from memcli.ports import Shelf
from memcli.prompts import compact

WITHIN_SECONDS = 30.0
MOST_DECISIONS = 3
"""So many memories a model decides about; of the rest that must go the order of value decides."""
MOST_CANDIDATES = 12
_BINDING = ("constraint", "negative")
"""Kinds that agents are held to: merged into another, they would bind nobody."""


def ask(workspace: Workspace, added: int, plan: Callable[[Shelf], Change]) -> Json:
    """What a model advises to do for a write that adds up to so many memories, as `advised.follow` reads it; None when there
    is room, or no valid answer: then the order of value decides, with a note. `plan` gives the change without any compaction.
    """
    space = load_space(workspace.store, workspace.space)
    most = space.policy.max_objects
    if most is None or len(space.objects) + added <= most:
        return None
    try:
        needed, new, candidates = _look(space, plan, workspace.clock())
    except MemcliError:  # the write itself will say so
        return None
    if needed <= 0 or not candidates:
        return None
    try:
        decisions = _decide(workspace, space, min(needed, MOST_DECISIONS), new, candidates)
    except (ProviderError, RefusedError, UsageError) as error:
        workspace.warn(f"{error.message}; the least valuable memories make room")
        return None
    return {"model": workspace.model, "decisions": [_seen(one, candidates) for one in decisions]}


def _look(space: Space, plan: Callable[[Shelf], Change], now: str) -> tuple[int, list[Memory], list[Memory]]:
    """How many memories must go that somebody could miss, those that come, and the least valuable of those that may go."""
    shelf = SpliceShelf(encode_space(space), space.name)
    draft = Draft(shelf)
    change = plan(shelf)
    draft.take(change)
    excess, spared = excess_of(draft, draft.grown), {memory.id for memory in change.put}
    free = surplus(draft.load().objects, draft.size, space.policy.compaction, now, spared)
    needed = excess - sum(map(is_spent, free))
    known = {memory.id: memory for memory in space.objects}
    new = [memory for memory in change.put if memory.id not in known or memory.hash != known[memory.id].hash]
    return needed, new, [memory for memory in free if may_be_named(memory, now)][:MOST_CANDIDATES]


def _decide(
    workspace: Workspace, space: Space, most: int, new: Sequence[Memory], candidates: Sequence[Memory]
) -> tuple[compact.Decision, ...]:
    """Raises ProviderError, RefusedError, UsageError."""
    shown = workspace.redactor.show([*new, *candidates], space.policy)
    stored = shown[len(new) :]
    mergeable = [
        number
        for number, (memory, clean) in enumerate(zip(candidates, stored, strict=True), 1)
        if memory.raw == clean.raw and is_mergeable(memory, compact.MOST_TEXT)
    ]
    told = [_told(memory, number in mergeable) for number, memory in enumerate(stored, 1)]
    prompt = compact.make([memory.raw or memory.summary_short for memory in shown[: len(new)]], told, most)
    decided = compact.reader(len(stored), mergeable, most)

    def read(data: Json) -> tuple[compact.Decision, ...]:
        decisions = decided(data)
        for one in decisions:
            if one.into and (wrong := _lost(one.text, candidates[one.target - 1], candidates[one.into - 1])):
                raise ValueError(wrong)
        return decisions

    return consult(workspace, prompt, read, within=WITHIN_SECONDS, keep=TEXT, may_wait=True)[0]


def _lost(text: str, gone: Memory, into: Memory) -> str:
    """What would be lost if `into` took `gone` in and said `text`; empty where nothing is."""
    if gone.kind != into.kind and gone.kind in _BINDING:
        return f"a memory of kind {gone.kind} can only become part of another {gone.kind}"
    return lacking(text, (gone.raw, into.raw))


def _told(memory: Memory, is_mergeable: bool) -> dict[str, Json]:
    return {
        "path": memory.path, "kind": memory.kind, "date": memory.updated_at[:10], "relevance": memory.relevance,
        "mergeable": is_mergeable, "text": memory.raw or memory.summary_short,
    }  # fmt: skip


def _seen(decision: compact.Decision, candidates: Sequence[Memory]) -> Json:
    """A decision, with the memories as they were when the model was asked."""
    target, into = (
        {"id": memory.id, "digest": memory_digest(memory)} if memory else None
        for memory in (candidates[number - 1] if number else None for number in (decision.target, decision.into))
    )
    return {"target": target, "into": into, "text": decision.text, "reason": decision.reason}
