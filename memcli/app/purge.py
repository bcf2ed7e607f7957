"""Purge: delete memories that the caller names. Their policy has no say in it: a leaked secret must go at once."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app.edit import named
from memcli.app.workspace import Workspace, load_space
from memcli.codec.space import memory_digest
from memcli.model.memory import Memory
from memcli.model.references import made_current, removal
from memcli.model.removal import Run
from memcli.model.space import Change, Touched, is_named
from memcli.ports import Shelf
from memcli.record import Record, replace


class Purged(Record):
    """What a purge deleted; what is current again, because what had superseded it is gone; and what else still quotes
    the texts, where they were to be erased."""

    memories: tuple[Memory, ...]
    current: tuple[Memory, ...] = ()
    quotes: tuple[str, ...] = ()


def find_named(workspace: Workspace, refs: Sequence[str], recursive: bool = False) -> list[Memory]:
    """The memories that a purge of `refs` would delete. Raises NotFoundError."""
    from memcli.codec.space import encode_space
    from memcli.codec.splice import SpliceShelf

    shelf = SpliceShelf(encode_space(load_space(workspace.store, workspace.space)), workspace.space)
    return named(shelf, refs, recursive)


def find_trashed(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """The memories in the trash that `refs` name, by id or path."""
    return [memory for _, memories in _trashed(workspace, refs) for memory in memories]


def erase_trashed(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """Erases from the trash what `refs` name, by id or path, so that it cannot be restored; what that was."""
    erased: list[Memory] = []
    for run, memories in _trashed(workspace, refs):
        ids = {memory.id for memory in memories}
        workspace.erase_traces(workspace.space, ids)  # first, so that who is killed here can do it again
        workspace.trash.drop(run, ids)
        touched = [Touched(memory.id, "", memory_digest(memory), "") for memory in memories]
        workspace.audit.record(workspace.space, "erase", touched)
        erased += memories
    return erased


def purge(workspace: Workspace, refs: Sequence[str], recursive: bool = False, *, now: bool = False) -> Purged:
    """Deletes the memories that `refs` name, and every reference to them.

    With `recursive` each of `refs` may be a path, and all below it is meant too. With `now`, and where the policy
    grants no grace, no byte of the texts is left in the space, trash, caches and logs.
    Raises NotFoundError; LockedError when a reader holds what is to be erased.
    """
    time = workspace.clock()
    purged = Purged(())
    is_erased = now

    def apply(shelf: Shelf) -> Change:
        nonlocal purged, is_erased
        is_erased = now or shelf.header.policy.grace_days == 0
        memories = named(shelf, refs, recursive)
        objects = shelf.load().objects
        change = removal(objects, {memory.id for memory in memories}, time)
        purged = Purged(tuple(memories), tuple(made_current(objects, change)))
        return replace(change, erase=now)

    workspace.store.update(workspace.space, apply)
    if is_erased:
        with workspace.behind_the_write():
            return replace(purged, quotes=tuple(workspace.find_quotes(purged.memories)))
    return purged


def _trashed(workspace: Workspace, refs: Sequence[str]) -> list[tuple[Run, list[Memory]]]:
    """The runs that removed what `refs` name, by id or path, each with those memories."""
    runs = (run for run in workspace.trash.runs() if run.space.name == workspace.space)
    found = [(run, [memory for memory in run.space.objects if is_named(memory, refs)]) for run in runs]
    return [(run, memories) for run, memories in found if memories]
