"""The inbox: proposed memories wait in it, outside of recall, until somebody accepts or rejects them (`extras/inbox/`).

It is a second store, in the folder `inbox` of the private state. Each proposal records the given fields (see
`app/candidate.py`). The hash of a rejected one stays as an inactive stub, so that it is not proposed again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from memcli.app.candidate import Candidate, as_proposal, as_proposed, candidate_of, note_of, with_note
from memcli.app.remember import KEEP, Outcome, Stored, remember, with_found
from memcli.app.workspace import Workspace, load_space
from memcli.model.findings import Resolution
from memcli.model.memory import Json, Memory
from memcli.model.names import memory_id
from memcli.model.space import Change, Space, change_between
from memcli.policy.draft import plan_intake
from memcli.policy.retention import Place
from memcli.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Shelf

PLAN = "upkeep"
"""The key in the note of a proposal that is a plan of upkeep: its value is the ids of the memories that would change."""


def offer(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None = None,
    *,
    propose_all: bool = False,
    places: Sequence[Place] = (),
    retained: Collection[str] = (),
    resolution: Resolution | None = None,
) -> Stored:
    """Stores the candidates as `remember` does, or puts them into the inbox: with `propose_all`, and if the policy of the space
    demands a review; the memories at `places` then stay active. Raises as `remember`.
    """
    if not propose_all:
        stored = remember(
            workspace, candidates, supersedes, may_wait=True, places=places, retained=retained, resolution=resolution
        )
        if not stored.needs_review:
            return stored
    return Stored(with_found(propose(workspace, candidates, supersedes), resolution))


def propose(workspace: Workspace, candidates: Sequence[Candidate], supersedes: str | None = None) -> list[Outcome]:
    """Puts the candidates into the inbox, without those that are stored, proposed or rejected already.

    Raises NotFoundError when the memory that the last one `supersedes` does not exist.
    """
    if not candidates:
        return []
    space = load_space(workspace.store, workspace.space)
    # By id: another memory may have the path when the proposal is accepted.
    supersedes = space.find(supersedes).id if supersedes else None
    by_hash: dict[str, list[Memory]] = {}
    for memory in map(as_proposed, (*space.objects, *load_space(workspace.inbox, workspace.space).objects)):
        by_hash.setdefault(memory.hash, []).append(memory)
    found = []
    for candidate in candidates:  # a duplicate has the same text, and the given path
        path = candidate.given.get("path")
        found.append(next((m for m in by_hash.get(candidate.hash, ()) if path in (None, m.path)), None))
    new = [
        as_proposal(candidate, supersedes if candidate is candidates[-1] else None, target_of(candidate, space))
        for candidate, same in zip(candidates, found, strict=True)
        if same is None
    ]
    over = workspace.copy_with(store=workspace.inbox)
    proposed = iter(remember(over, new, links=KEEP, apart=True).outcomes)
    outcomes = []
    for candidate, same in zip(candidates, found, strict=True):
        if same is None:
            outcome = next(proposed)
            path = candidate.given.get("path", outcome.path)
            outcomes.append(replace(outcome, status="proposed", path=path))
        else:
            outcomes.append(Outcome("deduplicated", same.id, same.path, workspace.space, same.version))
    return outcomes


def target_of(candidate: Candidate, space: Space) -> Json:
    """The id and the hash of the memory at the path of a candidate, None if there is none."""
    there = next((m for m in space.objects if m.path == candidate.given.get("path")), None)
    return None if there is None else [there.id, there.hash]


def take_in(workspace: Workspace, memories: Sequence[Memory], *, dry_run: bool) -> tuple[int, int]:
    """Merges the inbox of another clone, `memories`, into this one; returns the number of new proposals, and of new rejections.

    Memories that are stored here, proposed, rejected or in the trash are not proposed again; proposals that were rejected
    there are rejected here. With `dry_run`, changes nothing. Check the memories by `check_note` before. Raises as `propose`.
    """
    space, inbox = load_space(workspace.store, workspace.space), load_space(workspace.inbox, workspace.space)
    refused = {*rejected(workspace), ""}
    stubs = [stub_of(memory) for memory in memories if not memory.active and memory.hash not in refused]
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
        # A call has one `supersedes`, for its last candidate: each proposal with one needs a call of its own.
        propose(workspace, [candidate for candidate, old in proposals if old not in there])
        for candidate, old in proposals:
            if old in there:
                propose(workspace, [candidate], old)
    return len(new), len(stubs)


def _with_rejected(shelf: Shelf, stubs: Sequence[Memory]) -> Change:
    """Adds stubs of rejected proposals to the inbox, and rejects waiting proposals with the same texts."""
    before, hashes = shelf.load(), {memory.hash for memory in stubs}
    waits = [stub_of(memory) for memory in before.objects if memory.active and memory.hash in hashes]
    known = {memory.hash for memory in waits}
    others = tuple(replace(m, id=memory_id(before.name, m.hash)) for m in stubs if m.hash not in known)
    mine = before.put(waits, before.updated_at)
    return change_between(before, plan_intake(mine, Space(before.name, objects=others), "merge", is_new=False).after)


def waiting(workspace: Workspace) -> list[Memory]:
    """The waiting proposals, in order of path."""
    found = (as_proposed(m) for m in load_space(workspace.inbox, workspace.space).objects if m.active)
    return sorted(found, key=lambda m: (m.path, m.id))


def rejected(workspace: Workspace) -> set[str]:
    """The hashes of the texts of rejected proposals."""
    return {
        as_proposed(memory).hash for memory in load_space(workspace.inbox, workspace.space).objects if not memory.active
    }


def is_plan(memory: Memory) -> bool:
    """Whether a proposal is a plan of upkeep, not a memory."""
    return PLAN in note_of(memory)


def withdraw(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Removes proposals from the inbox, so that they can be proposed again."""
    change_inbox(workspace, memories, lambda shelf: Change(drop=frozenset(m.id for m in memories if shelf.get(m.id))))


def stub_of(memory: Memory) -> Memory:
    """The stub of a rejected proposal, which stays in the inbox: its hash and path, without its text."""
    stub = Memory(
        id=memory.id, path=memory.path, kind=memory.kind, metadata={"hash": memory.hash},
        created_at=memory.created_at, updated_at=memory.updated_at, active=False,
    )  # fmt: skip
    proposed = as_proposed(memory).path
    return stub if proposed == memory.path else with_note(stub, {"path": proposed})


def change_inbox(workspace: Workspace, memories: Sequence[Memory], change: Callable[[Shelf], Change]) -> None:
    """Applies `change` to the inbox of the space; does nothing when `memories`, those to change, are empty."""
    now = workspace.clock()
    if memories:
        workspace.inbox.update(workspace.space, lambda shelf: replace(change(shelf), now=now))
