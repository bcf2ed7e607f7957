"""The inbox: what is proposed waits here, out of recall, until somebody accepts or rejects it.

It is a store like the other, in `inbox` of the private state. Each candidate says how it was proposed (see `app/candidate.py`).
What was rejected leaves its hash, and is not proposed again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from memcli.app.candidate import Candidate, as_proposal, as_proposed, candidate_of, note_of, with_note
from memcli.app.remember import DROP, KEEP, Outcome, Stored, remember, with_found
from memcli.app.workspace import Workspace, load_space
from memcli.errors import ConflictError, NotFoundError, UsageError, reporting_done
from memcli.model.findings import Found, Resolution
from memcli.model.memory import Json, Memory
from memcli.model.names import memory_id
from memcli.model.space import Change, Space, change_between
from memcli.policy.draft import plan_intake
from memcli.policy.retention import Place
from memcli.ports import Shelf
from memcli.record import replace

_LOOKED_AT = 50
"""So many candidates are compared with what is remembered when they are listed."""


def offer(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None = None,
    *,
    propose_all: bool = False,
    places: Sequence[Place] = (),
    told: Collection[str] = (),
    resolution: Resolution | None = None,
) -> Stored:
    """Stores the candidates as `remember` does, or puts them into the inbox.

    They go into the inbox with `propose_all`, and if the policy of the space wants a review; then the memories at
    `places` stay active. Raises what `remember` raises.
    """
    if not propose_all:
        stored = remember(
            workspace, candidates, supersedes, may_wait=True, places=places, told=told, resolution=resolution
        )
        if not stored.needs_review:
            return stored
    return Stored(with_found(propose(workspace, candidates, supersedes), resolution))


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
        as_proposal(candidate, supersedes if candidate is candidates[-1] else None, _target(candidate, space))
        for candidate, same in zip(candidates, found, strict=True)
        if same is None
    ]
    proposed = iter(remember(_over_inbox(workspace), new, links=KEEP, apart=True).outcomes)
    return [
        _proposed(candidate, next(proposed))
        if same is None
        else Outcome("deduplicated", same.id, same.path, workspace.space, same.version)
        for candidate, same in zip(candidates, found, strict=True)
    ]


def _proposed(candidate: Candidate, outcome: Outcome) -> Outcome:
    return replace(outcome, status="proposed", path=candidate.given.get("path", outcome.path))


def _target(candidate: Candidate, space: Space) -> Json:
    """What a candidate with a path would change: the id and the text's hash of the memory that is there."""
    there = next((m for m in space.objects if m.path == candidate.given.get("path")), None)
    return None if there is None else [there.id, there.hash]


def _check_targets(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Raises ConflictError where the memory at the path of a candidate is another than when it was made, or two of the
    candidates have one path. What has gone meanwhile is in nobody's way."""
    space, seen = _load(workspace), dict[str, Memory]()
    for memory in memories:
        candidate, _ = candidate_of(memory)
        if "path" not in candidate.given:
            continue
        first = seen.setdefault(memory.path, memory)
        if first is not memory:
            raise ConflictError(
                f"{first.id} and {memory.id} are both proposed for {memory.path!r}; nothing was accepted",
                "accept one; then `memcli inbox edit` the path of the other, or reject it",
            )
        there, noted = _target(candidate, space), note_of(memory)
        if there is not None and "target" in noted and there != noted["target"] and there[1] != memory.hash:
            raise ConflictError(
                f"the memory at {memory.path!r} has changed since {memory.id} was proposed; nothing was accepted",
                f"see `memcli get {memory.path}`; then run `memcli inbox edit {memory.id} --set path=...`, or reject it",
            )


def take_in(workspace: Workspace, memories: Sequence[Memory], *, dry_run: bool) -> tuple[int, int]:
    """Takes in what waits, or was rejected, in the inbox of another clone: how many are proposed here, and rejected.

    What is remembered here, waits, was rejected or lies in the trash is not proposed again; what was rejected there is no
    longer waiting here. With `dry_run`, stores nothing. Those that come from elsewhere are checked by `check_note` before. Raises as `propose`.
    """
    space, inbox = _load(workspace), _load(_over_inbox(workspace))
    refused = {*rejected(workspace), ""}
    stubs = [_stub(memory) for memory in memories if not memory.active and memory.hash not in refused]
    refused |= {memory.hash for memory in stubs}
    runs = (run for run in workspace.trash.runs() if run.space.name == workspace.space)
    known = refused | {memory.hash for memory in (*space.objects, *inbox.objects)}
    known |= {memory.hash for run in runs for memory in run.space.objects}
    new = list({memory.hash: memory for memory in memories if memory.active and memory.hash not in known}.values())
    if not dry_run:
        if stubs:
            workspace.inbox.update(workspace.space, partial(_with_rejected, stubs=stubs))
        proposals = [candidate_of(memory) for memory in new]
        there = {memory.id for memory in space.objects}
        propose(workspace, [candidate for candidate, old in proposals if old not in there])
        for candidate, old in proposals:
            if old in there:
                propose(workspace, [candidate], old)
    return len(new), len(stubs)


def _with_rejected(shelf: Shelf, stubs: Sequence[Memory]) -> Change:
    """Takes stubs into the inbox, and rejects what waits there with the texts of such."""
    before, hashes = shelf.load(), {memory.hash for memory in stubs}
    waits = [_stub(memory) for memory in before.objects if memory.active and memory.hash in hashes]
    known = {memory.hash for memory in waits}
    others = tuple(replace(m, id=memory_id(before.name, m.hash)) for m in stubs if m.hash not in known)
    mine = before.put(waits, before.updated_at)
    return change_between(before, plan_intake(mine, Space(before.name, objects=others), "merge", is_new=False).after)


def waiting(workspace: Workspace) -> list[Memory]:
    """The candidates that wait, in order of path."""
    found = (as_proposed(m) for m in _load(_over_inbox(workspace)).objects if m.active)
    return sorted(found, key=lambda m: (m.path, m.id))


def show(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """The candidates that `refs` name. Raises NotFoundError for the first that does not wait, UsageError for a path that
    several wait for."""
    space = replace(_load(_over_inbox(workspace)), objects=tuple(waiting(workspace)))
    for ref in refs:
        ids = [memory.id for memory in space.objects if memory.path == ref]
        if len(ids) > 1:
            raise UsageError(f"{ref!r} has {len(ids)} proposals: {', '.join(ids)}", "use the id of one of them")
    try:
        return list({m.id: m for m in (space.find(ref) for ref in refs)}.values())
    except NotFoundError as error:
        raise NotFoundError(f"{error.message} in the inbox", "`memcli inbox` lists the proposals") from None


def accept(workspace: Workspace, memories: Sequence[Memory]) -> Stored:
    """Remembers the candidates and takes them out of the inbox. Interrupted, it can be done again.

    What was to supersede a memory that has gone meanwhile is remembered all the same. Raises ConflictError where the
    memory at the path of a candidate has changed since it was proposed.
    """
    from memcli.app.maintain import carry_out, is_plan

    upkeep = [memory for memory in memories if is_plan(memory)]
    memories = [memory for memory in memories if memory not in upkeep]
    _check_targets(workspace, memories)
    there = {memory.id for memory in _load(workspace).objects}
    memories = workspace.redactor.rewrite(memories, workspace.store.policy(workspace.space))
    found = [candidate_of(memory) for memory in memories]
    proposals = [(candidate, supersedes if supersedes in there else None) for candidate, supersedes in found]
    plain = [candidate for candidate, supersedes in proposals if supersedes is None]
    done: list[Stored] = []
    with reporting_done(lambda: f"{n} accepted" if (n := sum(len(each.outcomes) for each in done)) else ""):
        done.append(remember(workspace, plain, links=DROP, resolution=_checked(workspace, plain)))
        for candidate, old in proposals:
            if old is not None:
                alone = _checked(workspace, [candidate], old)
                is_first = not any(each.compacted for each in done)  # a model that is slow is waited for once
                done.append(remember(workspace, [candidate], old, links=DROP, resolution=alone, asks=is_first))
    with workspace.behind_the_write():
        withdraw(workspace, memories)
    outcomes = [outcome for each in done for outcome in each.outcomes]
    for memory in upkeep:
        outcomes += carry_out(workspace, memory)
        withdraw(workspace, [memory])
    return Stored(outcomes, sum(each.compacted for each in done))


def findings(workspace: Workspace, memories: Sequence[Memory]) -> list[Sequence[Found]]:
    """For each of the first candidates that wait: what it contradicts and repeats, but for what it is to supersede."""
    found = []
    for candidate, supersedes in map(candidate_of, memories[:_LOOKED_AT]):
        alone = _checked(workspace, [candidate], supersedes)
        found.append(alone.checks[0] if alone.checks else ())
    return found


def _checked(workspace: Workspace, candidates: Sequence[Candidate], supersedes: str | None = None) -> Resolution:
    from memcli.app.check import check

    return Resolution(check(workspace, candidates, supersedes))


def reject(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Takes the candidates out of the inbox for good: their hashes stay, their texts do not. What a plan of upkeep was
    to change is left alone until it changes."""
    from memcli.app.maintain import is_plan, turn_down

    upkeep = [memory for memory in memories if is_plan(memory)]
    for memory in upkeep:
        turn_down(workspace, memory)
    withdraw(workspace, upkeep)
    ids = [memory.id for memory in memories if memory not in upkeep]
    _change(workspace, memories, lambda shelf: Change(tuple(_stub(m) for name in ids if (m := shelf.get(name)))))


def rejected(workspace: Workspace) -> set[str]:
    """The hashes of the texts that somebody has rejected."""
    return {as_proposed(memory).hash for memory in _load(_over_inbox(workspace)).objects if not memory.active}


def withdraw(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Takes the candidates out of the inbox as if they had never been proposed."""
    _change(workspace, memories, lambda shelf: Change(drop=frozenset(m.id for m in memories if shelf.get(m.id))))


def settle(workspace: Workspace, hashes: Collection[str]) -> None:
    """Takes candidates out of the inbox whose texts, by their hashes, were remembered in another way."""
    withdraw(workspace, [memory for memory in waiting(workspace) if memory.hash in hashes])


def _stub(memory: Memory) -> Memory:
    stub = Memory(
        id=memory.id, path=memory.path, kind=memory.kind, metadata={"hash": memory.hash},
        created_at=memory.created_at, updated_at=memory.updated_at, active=False,
    )  # fmt: skip
    proposed = as_proposed(memory).path
    return stub if proposed == memory.path else with_note(stub, {"path": proposed})


def edit(workspace: Workspace, ref: str, fields: Mapping[str, Json]) -> Memory:
    """Changes fields of a candidate, which then are given. Raises UsageError naming the wrong field."""
    (memory,) = show(workspace, [ref])
    from memcli.app.edit import edit as edit_memory

    edited, _ = edit_memory(_over_inbox(workspace), memory.id, fields)
    known = note_of(edited)
    given = sorted({*known.get("given", []), *(name for name in fields if fields[name] is not None)})
    place = {"path": edited.path} if "path" in fields else {}
    edited = with_note(edited, {**known, **place, "given": given})
    _change(workspace, [edited], lambda _: Change((edited,)))
    return as_proposed(edited)


def _over_inbox(workspace: Workspace) -> Workspace:
    """The workspace over the inbox."""
    return workspace.copy_with(store=workspace.inbox)


def _load(workspace: Workspace) -> Space:
    return load_space(workspace.store, workspace.space)


def _change(workspace: Workspace, memories: Sequence[Memory], change: Callable[[Shelf], Change]) -> None:
    now = workspace.clock()
    if memories:
        workspace.inbox.update(workspace.space, lambda shelf: replace(change(shelf), now=now))


def _known(*spaces: Space) -> Callable[[Candidate], Memory | None]:
    """Finds the memory that a candidate would only repeat: by its text, and its path where one is given."""
    by_hash: dict[str, list[Memory]] = {}
    for space in spaces:
        for memory in map(as_proposed, space.objects):
            by_hash.setdefault(memory.hash, []).append(memory)

    def find_known(candidate: Candidate) -> Memory | None:
        path = candidate.given.get("path")
        same = (m for m in by_hash.get(candidate.hash, ()) if path in (None, m.path))
        return next(same, None)

    return find_known
