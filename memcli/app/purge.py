"""Purge: delete memories that the caller names. Their policy has no say in it: a leaked secret must go at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memcli.app.alter import named
from memcli.app.workspace import Workspace
from memcli.model.memory import Memory
from memcli.model.references import made_current, removal
from memcli.model.space import Change
from memcli.ports import Shelf


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge deleted, and what is current again because what had superseded it is gone."""

    memories: tuple[Memory, ...]
    current: tuple[Memory, ...]


def find_named(workspace: Workspace, refs: Sequence[str], recursive: bool = False) -> list[Memory]:
    """The memories that a purge of `refs` would delete. Raises NotFoundError."""
    from memcli.codec.space import encode_space
    from memcli.codec.splice import SpliceShelf

    snapshot = workspace.store.open(workspace.space)
    try:
        return named(SpliceShelf(encode_space(snapshot.load()), workspace.space), refs, recursive)
    finally:
        snapshot.close()


def purge(workspace: Workspace, refs: Sequence[str], recursive: bool = False) -> Purged:
    """Deletes the memories that `refs` name, and every reference to them.

    With `recursive` each of `refs` may be a path, and all below it is meant too. Raises NotFoundError.
    """
    now = workspace.clock()
    purged = Purged((), ())

    def apply(shelf: Shelf) -> Change:
        nonlocal purged
        memories = named(shelf, refs, recursive)
        objects = shelf.load().objects
        change = removal(objects, {memory.id for memory in memories}, now)
        purged = Purged(tuple(memories), tuple(made_current(objects, change)))
        return change

    workspace.store.update(workspace.space, apply)
    return purged
