"""The inbox: what is proposed waits here, out of recall, until somebody accepts or rejects it.

It is a store like the other, in `local/inbox`. A candidate remembers in its field `proposal` which fields were given,
so that accepting it is the same as remembering it. What was rejected leaves its hash, and is not proposed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.app.edit import edit as edit_memory
from memcli.app.remember import DROP, KEEP, Outcome, remember
from memcli.app.upsert import Candidate
from memcli.app.workspace import Workspace
from memcli.errors import ConflictError, NotFoundError
from memcli.model.memory import Json, Memory
from memcli.model.shapes import MEMORY_FIELDS
from memcli.model.space import Change, Space
from memcli.policy.replaced import Place
from memcli.ports import Shelf
from memcli.record import replace
from memcli.safety.injection.screening import ACCEPTED, UNTRUSTED

_PROPOSAL = "proposal"


def offer(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None = None,
    *,
    propose_all: bool = False,
    places: Sequence[Place] = (),
) -> list[Outcome]:
    """As `remember`, but where the policy of the space wants a review, or with `propose_all`, the candidates wait, and
    what stands at `places` stays.

    Raises what `remember` raises.
    """
    if not propose_all and (outcomes := remember(workspace, candidates, supersedes, may_wait=True, places=places)):
        return outcomes
    return propose(workspace, candidates, supersedes)


def propose(workspace: Workspace, candidates: Sequence[Candidate], supersedes: str | None = None) -> list[Outcome]:
    """Puts the candidates into the inbox, but for what is remembered, waits or was rejected already.

    Raises NotFoundError when there is nothing that the last one `supersedes`.
    """
    if not candidates:
        return []
    space = _load(workspace)
    supersedes = space.find(supersedes).id if supersedes else None  # a path may be another memory's by then
    known = _known(space, _load(_over_inbox(workspace)))
    found = [known(candidate) for candidate in candidates]
    new = [
        replace(
            candidate, given={**candidate.given, _PROPOSAL: _proposal(candidate, supersedes, candidates[-1], space)}
        )
        for candidate, same in zip(candidates, found, strict=True)
        if same is None
    ]
    proposed = iter(remember(_over_inbox(workspace), new, links=KEEP))
    return [
        replace(next(proposed), status="proposed")
        if same is None
        else Outcome("deduplicated", same.id, same.path, workspace.space, same.version)
        for same in found
    ]


def _proposal(candidate: Candidate, supersedes: str | None, last: Candidate, space: Space) -> dict[str, Json]:
    return {
        "given": sorted(candidate.given),
        "supersedes": supersedes if candidate is last else None,
        "target": _target(candidate, space),
    }


def _target(candidate: Candidate, space: Space) -> Json:
    """What a candidate with a path would change: the id and the text's hash of the memory that is there."""
    there = next((m for m in space.objects if m.path == candidate.given.get("path")), None)
    return None if there is None else [there.id, there.hash]


def _check_targets(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Raises ConflictError where the memory at the path of a candidate is not the one that was there when it was made."""
    space = _load(workspace)
    for memory in memories:
        proposal = memory.extra.get(_PROPOSAL)
        candidate, _ = _candidate(memory)
        if not isinstance(proposal, dict) or "target" not in proposal or "path" not in candidate.given:
            continue
        if _target(candidate, space) not in (proposal["target"], [memory.id, memory.hash]):
            raise ConflictError(
                f"the memory at {memory.path!r} has changed since {memory.id} was proposed; nothing was accepted",
                f"`memcli get {memory.path}` shows it; `memcli inbox edit {memory.id} --set path=...`, or reject it",
            )


def waiting(workspace: Workspace) -> list[Memory]:
    """The candidates that wait, in order of path."""
    return sorted((m for m in _load(_over_inbox(workspace)).objects if m.active), key=lambda m: (m.path, m.id))


def show(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """The candidates that `refs` name. Raises NotFoundError for the first that does not wait."""
    space = replace(_load(_over_inbox(workspace)), objects=tuple(waiting(workspace)))
    try:
        return list({m.id: m for m in (space.find(ref) for ref in refs)}.values())
    except NotFoundError as error:
        raise NotFoundError(f"{error.message} waits in the inbox", "`memcli inbox` shows what does") from None


def accept(workspace: Workspace, memories: Sequence[Memory]) -> list[Outcome]:
    """Remembers the candidates and takes them out of the inbox. Interrupted, it can be done again.

    What was to supersede a memory that has gone meanwhile is remembered all the same. Raises ConflictError where the
    memory at the path of a candidate has changed since it was proposed.
    """
    _check_targets(workspace, memories)
    there = {memory.id for memory in _load(workspace).objects}
    found = [_candidate(memory) for memory in memories]
    proposals = [(candidate, supersedes if supersedes in there else None) for candidate, supersedes in found]
    plain = [candidate for candidate, supersedes in proposals if supersedes is None]
    outcomes = remember(workspace, plain, links=DROP)
    for candidate, supersedes in proposals:
        if supersedes is not None:
            outcomes += remember(workspace, [candidate], supersedes, links=DROP)
    with workspace.behind_the_write():
        _change(workspace, memories, lambda shelf: Change(drop=frozenset(m.id for m in memories if shelf.get(m.id))))
    return outcomes


def reject(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Takes the candidates out of the inbox for good: their hashes stay, their texts do not."""
    stubs = tuple(
        Memory(
            id=m.id, path=m.path, kind=m.kind, metadata={"hash": m.hash}, created_at=m.created_at,
            updated_at=m.updated_at, active=False,
        )
        for m in memories
    )  # fmt: skip
    _change(workspace, memories, lambda _: Change(stubs))


def edit(workspace: Workspace, ref: str, fields: Mapping[str, Json]) -> Memory:
    """Changes fields of a candidate, which then are given. Raises UsageError naming the wrong field."""
    (memory,) = show(workspace, [ref])
    edited, _ = edit_memory(_over_inbox(workspace), memory.id, fields)
    proposal = edited.extra.get(_PROPOSAL)
    known = proposal if isinstance(proposal, dict) else {}
    given = sorted({*known.get("given", []), *(name for name in fields if fields[name] is not None)})
    edited = replace(edited, extra={**edited.extra, _PROPOSAL: {**known, "given": given}})
    _change(workspace, [edited], lambda _: Change((edited,)))
    return edited


def _over_inbox(workspace: Workspace) -> Workspace:
    """The workspace over the inbox."""
    return replace(workspace, store=workspace.inbox)


def _load(workspace: Workspace) -> Space:
    snapshot = workspace.store.open(workspace.space)
    try:
        return snapshot.load()
    finally:
        snapshot.close()


def _change(workspace: Workspace, memories: Sequence[Memory], change: Callable[[Shelf], Change]) -> None:
    now = workspace.clock()
    if memories:
        workspace.inbox.update(workspace.space, lambda shelf: replace(change(shelf), now=now))


def _known(*spaces: Space) -> Callable[[Candidate], Memory | None]:
    """Finds the memory that a candidate would only repeat: by its text, and its path where one is given."""
    by_hash: dict[str, list[Memory]] = {}
    for space in spaces:
        for memory in space.objects:
            by_hash.setdefault(memory.hash, []).append(memory)

    def find_known(candidate: Candidate) -> Memory | None:
        path = candidate.given.get("path")
        same = (m for m in by_hash.get(candidate.hash, ()) if path in (None, m.path))
        return next(same, None)

    return find_known


def _candidate(memory: Memory) -> tuple[Candidate, str | None]:
    """What was proposed, as it would have been remembered, and what it takes the place of."""
    proposal = memory.extra.get(_PROPOSAL)
    known = proposal if isinstance(proposal, dict) else {}
    given = {*known.get("given", []), "raw", "metadata"}
    fields = {name: getattr(memory, name) for name in MEMORY_FIELDS if name not in ("id", "version")}
    fields["metadata"] = {k: v for k, v in memory.metadata.items() if k not in (UNTRUSTED, ACCEPTED)}
    if "id" in given:
        fields["id"] = memory.id
    for name in ("created_at", "updated_at"):
        if name not in given:
            del fields[name]
    rest = {name: value for name, value in memory.extra.items() if name != _PROPOSAL}
    first = {name: value for name, value in fields.items() if name in given}
    second = {name: value for name, value in fields.items() if name not in given}
    supersedes = known.get("supersedes")
    return Candidate({**first, **rest}, second, memory.hash), supersedes if isinstance(supersedes, str) else None
