"""`archive`: what is old, worth little and not in use no longer takes part in recall. It is kept, and can be restored.

Time alone archives logs, episodes, and what memcli has read or inferred. What somebody told may still hold however old it
is, and a question about it would get another answer: it is archived only where something newer contradicts it. What was
superseded takes no part in recall already.
"""

from __future__ import annotations

from collections.abc import Mapping

from memcli.clock import days_between
from memcli.model.links import is_contradiction
from memcli.model.memory import TALK_KINDS, Memory
from memcli.model.shapes import OBSERVED
from memcli.model.tokens import count_tokens
from memcli.policy.ageing import confirmed_at
from memcli.record import replace
from memcli.upkeep.step import Given, Memories, UpkeepStep, as_edit, is_current
from memcli.upkeep.worth import Worth

NAME = "archive"
_INFERRED = "inferred"


def propose(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory that is to go out of recall, in order of id."""
    worth = Worth(memories, given)
    outdated = _outdated(memories, given.now)
    going = (
        memory
        for _, memory in sorted(memories.items())
        if (memory.id in outdated or not is_told(memory))
        and not worth.is_spared(memory)
        and not worth.is_reason(memory)
        and worth.of(memory) < given.policy.archive_below
    )
    return [_step(memory, worth, memories, outdated.get(memory.id), given.now) for memory in going]


def is_told(memory: Memory) -> bool:
    """Whether a person or an agent told it as something that holds: it is no log or episode, and memcli has not read it in
    a file or a commit, nor inferred it."""
    is_derived = memory.kind == _INFERRED or memory.provenance.get("source") in (OBSERVED, _INFERRED)
    return not is_derived and memory.kind not in TALK_KINDS


def _outdated(memories: Memories, now: str) -> Mapping[str, str]:
    """For each memory that another one contradicts the id of that one: of two that somebody told, and that nobody wants to
    keep both, the one that says that it holds, or else the one that was confirmed last."""
    links = [(memory, link) for memory in memories.values() for link in memory.links if is_contradiction(link)]
    decided = {frozenset((memory.id, link["to"])) for memory, link in links if link.get("accepted")}
    found: dict[str, str] = {}
    for memory, link in sorted(links, key=lambda one: not one[1].get("holds")):
        other, pair = memories.get(link["to"]), frozenset((memory.id, link["to"]))
        if other is None or pair in decided or not all(is_told(m) and is_current(m, now) for m in (memory, other)):
            continue
        decided.add(pair)
        is_newer = (confirmed_at(memory), memory.id) > (confirmed_at(other), other.id)
        holds, gone = (memory, other) if link.get("holds") or is_newer else (other, memory)
        found.setdefault(gone.id, holds.id)
    return found


def _step(memory: Memory, worth: Worth, memories: Memories, outdated_by: str | None, now: str) -> UpkeepStep:
    factors = f"importance {memory.effective_importance():g} x confidence {worth.confidence(memory):.2f}"
    rival = worth.rival(memory)
    beside = f", not helpful where {memories[rival].path} was" if rival else ""
    why = f"{memories[outdated_by].path} contradicts it, " if outdated_by else ""
    age = days_between(memory.updated_at, now)
    return UpkeepStep(
        task=NAME,
        id=memory.id,
        path=memory.path,
        action="archive",
        reason=f"{why}worth {worth.of(memory):.2f} ({factors}{beside}), {age:.0f} days old",
        memories=(as_edit(replace(memory, active=False)),),
        tokens=count_tokens(memory.raw),
    )
