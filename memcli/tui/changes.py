"""The changes that the browser can make to a memory, each with what is said when it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memcli.app.alter import edit, forget, pin, tag
from memcli.app.workspace import Workspace
from memcli.model.memory import Json, Memory
from memcli.render.clean import clean_line
from memcli.tui.tags import TagChange


@dataclass(frozen=True, slots=True)
class Change:
    """`act` writes to the store and may raise any MemcliError; `done` says what it did."""

    act: Callable[[], object]
    done: str


EditFields = Callable[[Memory], Mapping[str, Json]]
"""Lets the user edit a memory in a program of their own; returns the fields that changed."""
Make = Callable[[Workspace, Memory], Change]


def toggle_pin(workspace: Workspace, memory: Memory) -> Change:
    """Pins what is not pinned, unpins what is."""
    done = "unpinned" if memory.pinned else "pinned"
    return Change(lambda: pin(workspace, [memory.id], not memory.pinned), f"{done} {clean_line(memory.path)}")


def put_out(workspace: Workspace, memory: Memory) -> Change:
    """Forgets."""
    return Change(lambda: forget(workspace, [memory.id]), f"forgot {clean_line(memory.path)}; u brings it back")


def bring_back(workspace: Workspace, memory: Memory) -> Change:
    """Undoes forgetting."""
    return Change(lambda: edit(workspace, memory.id, {"active": True}), f"brought back {clean_line(memory.path)}")


def retag(change: TagChange) -> Make:
    """Adds and takes away tags."""
    said = " ".join([*(f"+{t}" for t in change.add), *(f"-{clean_line(t)}" for t in change.remove)])

    def make(workspace: Workspace, memory: Memory) -> Change:
        return Change(
            lambda: tag(workspace, [memory.id], change.add, change.remove), f"tags of {clean_line(memory.path)}: {said}"
        )

    return make


def set_fields(fields: Mapping[str, Json]) -> Make:
    """Sets fields, as the user edited them."""

    def make(workspace: Workspace, memory: Memory) -> Change:
        names = ", ".join(sorted(fields))
        return Change(lambda: edit(workspace, memory.id, fields), f"changed {clean_line(f'{names} of {memory.path}')}")

    return make
