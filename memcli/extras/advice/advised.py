"""The decisions of a language model about a full space, carried out as far as they still fit when the space is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from memcli.app.candidate import Describe, follows, is_read
from memcli.app.upsert import AdvisedStep
from memcli.codec.canonical import encode
from memcli.codec.space import memory_digest
from memcli.model.links import is_found, link_key, union
from memcli.model.memory import Json, Memory, holds, increased
from memcli.model.names import text_hash
from memcli.model.space import Change
from memcli.model.tokens import count_tokens
from memcli.policy.draft import Draft, consistent
from memcli.policy.retention import excess_of
from memcli.ports import Shelf
from memcli.record import replace
from memcli.safety.screening import is_marked, screened
from memcli.safety.secrets.redact_memory import FLAGS, with_flags

_OWN_SHAPE = ("content", "procedure", "episode", "chunks", "context", "season", "valid_from", "valid_until", "extra")
"""Fields that belong to the text of a memory, and that a merged text would contradict or lose."""


def may_be_named(memory: Memory, now: str) -> bool:
    """Whether a model may decide about the memory."""
    # Pinned and enforced memories are protected, those that carry instructions are not shown to a model, and invalid ones
    # are removed first anyway.
    return memory.active and holds(memory, now) and not (memory.pinned or memory.enforce or is_marked(memory))


def is_mergeable(memory: Memory, most_tokens: int) -> bool:
    """Whether the memory has no content but its text, of at most `most_tokens`, and was not read from a file or commit."""
    has_shape = any(getattr(memory, name) for name in _OWN_SHAPE)
    return not has_shape and not is_read({"provenance": memory.provenance}) and count_tokens(memory.raw) <= most_tokens


def follow(
    draft: Draft, advice: Json, spared: Collection[str], now: str, describe: Describe, keep: Callable[[Memory], None]
) -> list[AdvisedStep]:
    """Carries out the advice in a write that lacks room, and returns the steps. Memories that change are put into the draft by
    `keep`; the caller removes the targets of the steps."""
    excess = excess_of(draft, draft.grown)
    done = []
    for step in _steps(draft, advice, excess, spared, now, describe) if excess else ():
        done.append(step)
        if step.merged is None:
            continue
        # The target is superseded by the merged memory, and links to it lead there now.
        gone, merged = step.target, step.merged
        over = Draft(draft)
        over.take(Change((merged, replace(gone, superseded_by=merged.id))))
        for memory in draft.load().objects:
            if memory.id not in (gone.id, merged.id) and any(link["to"] == gone.id for link in memory.links):
                links = ({**link, "to": merged.id} if link["to"] == gone.id else link for link in memory.links)
                over.take(Change((replace(memory, links=union((), links, link_key)),)))
        if any(map(is_found, merged.links)):
            from memcli.app.contradictions import settled

            over.take(Change(tuple(settled(over, merged))))  # links for contradictions that the new text has settled
        for memory in over.change().put:
            keep(memory)
    return done


def _steps(
    shelf: Shelf, advice: Json, excess: int, spared: Collection[str], now: str, describe: Describe
) -> Iterator[AdvisedStep]:
    """The steps of the advice that remove up to `excess` memories from a space. The caller puts each step into the shelf before
    it takes the next one."""
    # A decision is skipped if a memory of it has changed since the model saw it.
    free = {m.id: m for m in shelf.load().objects if not m.pinned and m.id not in spared}
    may_stay = len(free) - excess
    count = 0
    for decision in advice["decisions"]:
        target = _unchanged(shelf, free, decision["target"], now)
        if target is None or count >= excess:
            continue
        merged = None
        if decision["into"] is not None:
            into = _unchanged(shelf, free, decision["into"], now)
            # A merge keeps `into`, so there must be one memory more than those that have to go.
            if into is not None and may_stay > 0:
                merged = _merged(into, target, decision["text"], now, describe)
            if merged is None:
                continue
            del free[merged.id]  # a later decision must not remove what it has taken in
            may_stay -= 1
        del free[target.id]
        count += 1
        yield AdvisedStep(target, merged, decision["reason"], advice["model"])


def _unchanged(shelf: Shelf, free: Mapping[str, Memory], seen: Json, now: str) -> Memory | None:
    """The memory that the model saw, with links as earlier steps have changed them; None if it changed otherwise, or must
    stay."""
    memory = free.get(seen["id"])
    fits = memory is not None and may_be_named(memory, now) and memory_digest(memory) == seen["digest"]
    return shelf.get(seen["id"]) if fits else None


def _merged(into: Memory, target: Memory, text: str, now: str, describe: Describe) -> Memory | None:
    """`into` with the merged text, described locally; None if that carries instructions."""
    links = (link for link in (*into.links, *target.links) if link["to"] not in (into.id, target.id))
    # Described locally, since the space is locked here and a model is never called under a lock.
    made: dict[str, Json] = {name: value for name, value in follows(describe, into, text).items() if value}
    made["chunks"] = tuple({**one, "chunk_id": f"{into.id}#{n}"} for n, one in enumerate(made.get("chunks", ())))
    metadata = with_flags({**into.metadata, "hash": text_hash(text, b"")}, target.metadata.get(FLAGS, ()))
    files = union(into.provenance.get("files", ()), target.provenance.get("files", ()))
    provenance = {**into.provenance, **({"files": list(files)} if files else {})}
    # It says what both said: as important as the more important of them, no surer than the less sure.
    merged = replace(
        into, **{"summary_micro": "", "summary_short": "", "summary_long": "", **made},
        raw=text, metadata=metadata, importance=max(into.effective_importance(), target.effective_importance()),
        confidence=min(into.confidence, target.confidence), trust=min(into.trust, target.trust),
        provenance=provenance, strength=increased(into.strength, target.strength), links=union((), links, link_key),
        triggers=union(into.triggers, target.triggers), anchors=union(into.anchors, target.anchors, encode),
        updated_at=now, version=increased(into.version),
    )  # fmt: skip
    merged = screened(consistent(replace(merged, tags=union(merged.tags, target.tags))))
    return None if is_marked(merged) else merged
