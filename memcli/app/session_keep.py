"""Keep what a session yields, once: what somebody removed, forgot, rejected or rewrote since is not made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.app.candidate import Candidate
from memcli.app.check import resolution_for
from memcli.app.inbox import propose, rejected, waiting, withdraw
from memcli.app.remember import Outcome, remember
from memcli.app.session import made_from
from memcli.app.workspace import Workspace, load_space
from memcli.model.conversation import Session
from memcli.model.memory import Memory
from memcli.model.names import short_digest
from memcli.model.references import removal

Kept = Mapping[str, int]
"""What earlier ends of a session made: for each text and each path, as digests, the version of the memory then."""
_LENGTH = 32


def keep(
    over: Workspace, session: Session, candidates: Sequence[Candidate], kept: Kept, *, is_checked: bool = False
) -> tuple[list[Outcome | None], int]:
    """Remembers the candidates, but for those that an earlier end of the session has made. What became of each, None where
    it has been removed since; and how many memories had to make room."""
    objects = load_space(over.store, over.space).objects
    own = made_from(objects, session)
    forgotten = {memory.hash: memory for memory in objects if not memory.active}
    by_hash = forgotten | {memory.hash: memory for memory in own}
    by_path = {memory.path: memory for memory in own}

    def standing(candidate: Candidate) -> Memory | None:
        """What is there instead of the candidate: its text, or what somebody has made of it."""
        there = by_path.get(candidate.given.get("path", ""))
        is_edited = there is not None and _text(over, there.hash) not in kept and there.version > 1
        return by_hash.get(candidate.hash) or (there if is_edited else None)

    found = [standing(candidate) for candidate in candidates]
    is_new = [
        there is None and not is_removed(over, candidate, kept, by_path)
        for there, candidate in zip(found, candidates, strict=True)
    ]
    new = [candidate for candidate, wanted in zip(candidates, is_new, strict=True) if wanted]
    stored = remember(over, new, resolution=resolution_for(over, new) if is_checked and new else None)
    outcomes = iter(stored.outcomes)
    return [
        next(outcomes) if wanted else _unchanged(there, over) for there, wanted in zip(found, is_new, strict=True)
    ], stored.compacted


def is_removed(over: Workspace, candidate: Candidate, kept: Kept, there: Mapping[str, Memory]) -> bool:
    """Whether an earlier end made the candidate, or what was at its path, and it is not `there` any more."""
    path = candidate.given.get("path")
    return _text(over, candidate.hash) in kept or (path is not None and path not in there and _path(over, path) in kept)


def offer_facts(
    over: Workspace, session: Session, candidates: Sequence[Candidate], kept: Kept, *, at_once: bool
) -> list[Outcome]:
    """Remembers facts in the space of the session `at_once`, or proposes them, but for those that were offered before or
    were rejected. What was proposed and no longer holds is withdrawn."""
    hashes = {candidate.hash for candidate in candidates}
    own = made_from(waiting(over), session)
    withdraw(over, [memory for memory in own if memory.hash not in hashes and _text(over, memory.hash) in kept])
    new = [candidate for candidate in candidates if _text(over, candidate.hash) not in kept]
    if not at_once:
        return propose(over, new)
    refused = rejected(over)
    outcomes, _ = keep(
        over, session, [candidate for candidate in new if candidate.hash not in refused], kept, is_checked=True
    )
    return [outcome for outcome in outcomes if outcome is not None]


def drop_stale(over: Workspace, session: Session, told: set[str], kept: Kept) -> set[str]:
    """Drops what an earlier end of a session made, which went on since, and this one did not; which marks that takes out."""
    own = _stored(over, session)
    old = [memory for memory in own if memory.id not in told and _is_untouched(over, memory, kept)]
    if old:
        names, now = {memory.id for memory in old}, over.clock()
        over.store.update(over.space, lambda shelf: removal(shelf, names, now))
    return {mark for memory in old for mark in (_text(over, memory.hash), _path(over, memory.path))}


def marks(over: Workspace, session: Session, candidates: Sequence[Candidate]) -> Kept:
    """What is to be known of an end that has made the candidates."""
    versions = {memory.hash: memory.version for memory in _stored(over, session)}
    texts = {_text(over, candidate.hash): versions.get(candidate.hash, 0) for candidate in candidates}
    paths = {_path(over, path): 0 for candidate in candidates if (path := candidate.given.get("path"))}
    return {**texts, **paths}


def _stored(over: Workspace, session: Session) -> list[Memory]:
    """The memories of the space that were made from the session."""
    return [one for one in made_from(load_space(over.store, over.space).objects, session) if not one.session]


def _is_untouched(over: Workspace, memory: Memory, kept: Kept) -> bool:
    """Whether nobody has edited or pinned the memory."""
    return memory.version == kept.get(_text(over, memory.hash), 1) and not memory.pinned


def _unchanged(there: Memory | None, over: Workspace) -> Outcome | None:
    return None if there is None else Outcome("deduplicated", there.id, there.path, over.space, there.version)


def _text(over: Workspace, digest: str) -> str:
    return f"{over.space}:{short_digest(digest, _LENGTH)}"


def _path(over: Workspace, path: str) -> str:
    return f"{over.space}/{short_digest(path, _LENGTH)}"
