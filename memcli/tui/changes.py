"""The changes that the browser can make. Each writes to the store, may raise any MemcliError, and returns what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.app.edit import edit, forget, pin, tag
from memcli.app.workspace import Workspace
from memcli.model.memory import Json, Memory
from memcli.record import Record
from memcli.render.clean import clean_line
from memcli.tui.catalogue import Scope
from memcli.tui.editing import Edit, Editor
from memcli.tui.tags import TagChange


class Done(Record):
    """What was done, in words, to the memory of the id `name`."""

    text: str
    name: str


Make = Callable[[Workspace, Memory], Done]


def toggle_pin(workspace: Workspace, memory: Memory) -> Done:
    """Pins what is not pinned, unpins what is."""
    pin(workspace, [memory.id], not memory.pinned)
    return Done(f"{'unpinned' if memory.pinned else 'pinned'} {clean_line(memory.path)}", memory.id)


def put_out(workspace: Workspace, memory: Memory) -> Done:
    """Forgets."""
    forget(workspace, [memory.id])
    return Done(f"forgot {clean_line(memory.path)}; press u to undo", memory.id)


def bring_back(workspace: Workspace, memory: Memory) -> Done:
    """Undoes forgetting."""
    edit(workspace, memory.id, {"active": True})
    return Done(f"restored {clean_line(memory.path)}", memory.id)


def retag(change: TagChange) -> Make:
    """Adds and takes away tags."""
    said = " ".join([*(f"+{t}" for t in change.add), *(f"-{clean_line(t)}" for t in change.remove)])

    def make(workspace: Workspace, memory: Memory) -> Done:
        tag(workspace, [memory.id], change.add, change.remove)
        return Done(f"tags of {clean_line(memory.path)}: {said}", memory.id)

    return make


def save(workspace: Workspace, editor: Editor, scope: Scope, edited: Edit, fields: Mapping[str, Json]) -> Done:
    """Saves what the user edited, and deletes the draft. A new memory gets the place, kind and tags that are browsed."""
    if edited.memory is None:
        kind = scope.kinds[0] if len(scope.kinds) == 1 else None
        given = {"path_hint": scope.path or None, "kind": kind, "tags": list(scope.tags) or None}
        outcome = editor.add(workspace, {**{k: v for k, v in given.items() if v is not None}, **fields})
        done = Done(f"{outcome.status} {clean_line(outcome.path)}", outcome.id)
    else:
        memory, _ = edit(workspace, edited.memory.id, fields, edited.expected)
        names = ", ".join("text" if name == "raw" else name for name in sorted(fields))
        done = Done(f"changed {clean_line(f'{names} of {memory.path}')}", memory.id)
    edited.draft.remove()
    return done
