"""The review of proposed memories.

An accepted one is stored as `remember` stores it. Of a rejected one the inbox keeps only the hash, so that it is not proposed
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.app.candidate import as_proposed, candidate_of, note_of, with_note
from memcli.app.check import check
from memcli.app.edit import edit as edit_memory
from memcli.app.inbox import change_inbox, is_plan, stub_of, target_of, waiting, withdraw
from memcli.app.remember import DROP, Stored, remember
from memcli.app.workspace import Workspace, load_space
from memcli.errors import ConflictError, NotFoundError, UsageError, reporting_done
from memcli.model.findings import Found, Resolution
from memcli.model.memory import Json, Memory
from memcli.model.space import Change
from memcli.record import replace
from memcli.wiring import extra

_MOST_COMPARED = 50
"""The most candidates that a list compares with the stored memories."""


def _check_targets(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Raises ConflictError if two candidates have the same path, or if the memory at the path of a candidate has changed since
    it was proposed. A memory that has been deleted since is no conflict."""
    space, seen = load_space(workspace.store, workspace.space), dict[str, Memory]()
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
        there, noted = target_of(candidate, space), note_of(memory)
        if there is not None and "target" in noted and there != noted["target"] and there[1] != memory.hash:
            raise ConflictError(
                f"the memory at {memory.path!r} has changed since {memory.id} was proposed; nothing was accepted",
                f"see `memcli get {memory.path}`; then run `memcli inbox edit {memory.id} --set path=...`, or reject it",
            )


def show(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """The candidates that `refs` name. Raises NotFoundError for the first that is not in the inbox, UsageError for a path that
    several candidates have."""
    space = replace(load_space(workspace.inbox, workspace.space), objects=tuple(waiting(workspace)))
    for ref in refs:
        ids = [memory.id for memory in space.objects if memory.path == ref]
        if len(ids) > 1:
            raise UsageError(f"{ref!r} has {len(ids)} proposals: {', '.join(ids)}", "use the id of one of them")
    try:
        return list({m.id: m for m in (space.find(ref) for ref in refs)}.values())
    except NotFoundError as error:
        raise NotFoundError(f"{error.message} in the inbox", "`memcli inbox` lists the proposals") from None


def accept(workspace: Workspace, memories: Sequence[Memory]) -> Stored:
    """Stores the candidates, carries out the plans of upkeep, and removes both from the inbox. Can be repeated after an
    interruption.

    A candidate that supersedes a memory which no longer exists is stored all the same. Raises ConflictError if the memory at
    the path of a candidate has changed since it was proposed.
    """
    upkeep = [memory for memory in memories if is_plan(memory)]
    memories = [memory for memory in memories if memory not in upkeep]
    _check_targets(workspace, memories)
    there = {memory.id for memory in load_space(workspace.store, workspace.space).objects}
    # They may have waited for long: the policy may have changed, or somebody have edited the file.
    memories = workspace.redactor.rewrite(memories, workspace.store.policy(workspace.space))
    found = [candidate_of(memory) for memory in memories]
    # One whose target has gone would fail after others were stored, and could never be accepted.
    proposals = [(candidate, supersedes if supersedes in there else None) for candidate, supersedes in found]
    plain = [candidate for candidate, supersedes in proposals if supersedes is None]
    done: list[Stored] = []
    with reporting_done(lambda: f"{n} accepted" if (n := sum(len(each.outcomes) for each in done)) else ""):
        done.append(remember(workspace, plain, links=DROP, resolution=Resolution(check(workspace, plain, None))))
        for candidate, old in proposals:
            if old is not None:
                alone = Resolution(check(workspace, [candidate], old))
                is_first = not any(each.compacted for each in done)  # a slow model delays the command only once
                done.append(remember(workspace, [candidate], old, links=DROP, resolution=alone, asks=is_first))
    # They are stored: if they stay in the inbox, a warning says so, and to accept them again changes nothing.
    with workspace.behind_the_write():
        withdraw(workspace, memories)
    outcomes = [outcome for each in done for outcome in each.outcomes]
    for memory in upkeep:
        outcomes += extra("upkeep.maintain").carry_out(workspace, memory)
        withdraw(workspace, [memory])
    return Stored(outcomes, sum(each.compacted for each in done))


def findings(workspace: Workspace, memories: Sequence[Memory]) -> list[Sequence[Found]]:
    """For each of the first _MOST_COMPARED candidates: the memories that it contradicts or repeats, without the one it supersedes."""
    found = []
    for candidate, supersedes in map(candidate_of, memories[:_MOST_COMPARED]):
        checks = check(workspace, [candidate], supersedes)
        found.append(checks[0] if checks else ())
    return found


def reject(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Removes the candidates from the inbox, but for their hashes. A rejected plan of upkeep is not proposed again until one of
    its memories changes."""
    upkeep = [memory for memory in memories if is_plan(memory)]
    for memory in upkeep:
        extra("upkeep.maintain").turn_down(workspace, memory)
    withdraw(workspace, upkeep)
    ids = [memory.id for memory in memories if memory not in upkeep]
    change_inbox(workspace, memories, lambda shelf: Change(tuple(stub_of(m) for name in ids if (m := shelf.get(name)))))


def edit(workspace: Workspace, ref: str, fields: Mapping[str, Json]) -> Memory:
    """Changes fields of a candidate and marks them as given, as if the proposer had set them. Raises UsageError naming a wrong
    field."""
    (memory,) = show(workspace, [ref])
    edited, _ = edit_memory(workspace.copy_with(store=workspace.inbox), memory.id, fields)
    known = note_of(edited)
    given = sorted({*known.get("given", []), *(name for name in fields if fields[name] is not None)})
    place = {"path": edited.path} if "path" in fields else {}
    edited = with_note(edited, {**known, **place, "given": given})
    change_inbox(workspace, [edited], lambda _: Change((edited,)))
    return as_proposed(edited)
