"""Transfer: a space out to a bundle and back in."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memcli.app.lookup import load
from memcli.app.workspace import Workspace
from memcli.codec.bundle import decode_bundle, encode_bundle
from memcli.errors import NotFoundError, RefusedError
from memcli.model.memory import Memory
from memcli.model.space import Change, Space, change_between
from memcli.ports import Shelf


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did. `kept` were newer in the store than in the bundle."""

    space: str
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    kept: int = 0
    removed: int = 0


def export_space(workspace: Workspace, name: str) -> tuple[Space, bytes]:
    """The space and the bytes of its bundle. Raises NotFoundError, CorruptError, RefusedError."""
    if name not in workspace.store.spaces():
        raise NotFoundError(f"no space {name!r}", "`memcli space list` shows what there is")
    space = load(workspace, name)
    if space.policy.is_private:
        raise RefusedError(
            f"space {name!r} is private (policy.visibility) and is not exported",
            f"`memcli space policy {name} --unset visibility` shares it",
        )
    return space, encode_bundle(space)


def import_bundle(
    workspace: Workspace, data: bytes, where: str, into: str | None = None, mode: str = "merge"
) -> Imported:
    """Takes a bundle into the space `into` (its own when None): all of it, or nothing.

    `merge` keeps the newer of two memories with one id; `replace` makes the space what the bundle holds.
    Raises CorruptError when the bundle was tampered with, LockedError, StoreError.
    """
    incoming = decode_bundle(data, where)
    target = into or incoming.name
    result = Imported(target)

    def apply(shelf: Shelf) -> Change:
        nonlocal result
        space = shelf.load()
        if mode == "replace" or not space.objects:
            result = _replaced(target, space, incoming)
            return change_between(space, replace(incoming, name=target))
        merged, result = _merged(space, incoming)
        return Change(tuple(merged), now=max(space.updated_at, incoming.updated_at))

    workspace.store.update(target, apply)
    return result


def _replaced(target: str, space: Space, incoming: Space) -> Imported:
    before = {m.id: m for m in space.objects}
    same = sum(before.get(m.id) == m for m in incoming.objects)
    created = sum(m.id not in before for m in incoming.objects)
    updated = len(incoming.objects) - same - created
    removed = len(before.keys() - {m.id for m in incoming.objects})
    return Imported(target, created, updated, same, 0, removed)


def _merged(space: Space, incoming: Space) -> tuple[list[Memory], Imported]:
    before = {m.id: m for m in space.objects}
    paths = {m.path: m.id for m in space.objects}
    taken: list[Memory] = []
    created = updated = same = kept = 0
    for memory in incoming.objects:
        mine = before.get(memory.id)
        if mine == memory:
            same += 1
        elif mine is not None and mine.updated_at > memory.updated_at:
            kept += 1
        else:
            created += mine is None
            updated += mine is not None
            clash = paths.get(memory.path, memory.id) != memory.id
            taken.append(replace(memory, path=f"{memory.path[:200]}-{memory.id[-8:]}") if clash else memory)
    return taken, Imported(space.name, created, updated, same, kept)
