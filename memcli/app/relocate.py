"""Relocate: let the memories of a file that moved go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.app.workspace import Workspace
from memcli.model.memory import Json, Memory, increased
from memcli.model.names import check_path
from memcli.model.shapes import OBSERVED
from memcli.model.space import Change
from memcli.policy.retention import without
from memcli.ports import Shelf
from memcli.record import Record, replace


class FilePlace(Record):
    """How a memory knows a file: the name in its metadata, and the path that it and its parts are at and below."""

    name: str
    path: str


def relocate(workspace: Workspace, moves: Sequence[tuple[FilePlace, FilePlace]]) -> int:
    """Gives the memories of each file its new name and place; ids and what was before stay. Returns how many.

    Those of commits stay where they are. One that was put elsewhere by hand, or whose new place is taken, is
    deactivated: what is there will be told of the file.
    """
    known = [(_known(workspace, old), _known(workspace, new)) for old, new in moves]
    by_old = {old.name: (old, new) for old, new in known}
    now = workspace.clock()
    count = 0

    def apply(shelf: Shelf) -> Change:
        nonlocal count
        files = [m for m in shelf.load().objects if m.metadata.get("source") in by_old and _is_of_file(m)]
        changed, apart = [], []
        for memory in files:
            old, new = by_old[memory.metadata["source"]]
            rest = memory.path.removeprefix(old.path)
            is_apart = rest == memory.path or (rest and not rest.startswith("/"))
            if is_apart or shelf.at(new.path + rest) is not None:
                apart.append(replace(memory, version=increased(memory.version)))
            else:
                changed.append(_moved(memory, old, replace(new, path=new.path + rest), now))
        count = len(changed) + len(apart)
        gone = without(shelf, apart, now)
        return replace(gone, put=(*gone.put, *changed), now=now)

    workspace.store.update(workspace.space, apply)
    return count


def _known(workspace: Workspace, place: FilePlace) -> FilePlace:
    """The place as it would be remembered: without what is secret in its name."""
    fields: dict[str, Json] = {"path": place.path, "metadata": {"source": place.name}}
    clean = workspace.redactor.take_in(workspace.space, fields).fields
    return FilePlace(clean["metadata"]["source"], check_path(clean["path"]))


def _moved(memory: Memory, old: FilePlace, new: FilePlace, now: str) -> Memory:
    provenance = dict(memory.provenance)
    if isinstance(files := provenance.get("files"), list | tuple):
        provenance["files"] = [new.name if file == old.name else file for file in files]
    return replace(
        memory,
        path=new.path,
        summary_micro=_said(memory.summary_micro, old.name, new.name),
        summary_short=_said(memory.summary_short, old.name, new.name),
        summary_long=_said(memory.summary_long, old.name, new.name),
        metadata={**memory.metadata, "source": new.name},
        provenance=provenance,
        anchors=tuple(_anchor(anchor, old.name, new.name) for anchor in memory.anchors),
        updated_at=now,
        version=increased(memory.version),
    )


def _said(summary: str, old: str, new: str) -> str:
    """The summary with the new name where it begins with the old one; elsewhere it may be any word."""
    rest = summary.removeprefix(f"{old}: ")
    return summary if rest == summary else f"{new}: {rest}"


def _anchor(anchor: Mapping[str, Json], old: str, new: str) -> Mapping[str, Json]:
    return {**anchor, "file": new} if anchor.get("file") == old else anchor


def _is_of_file(memory: Memory) -> bool:
    is_read = memory.provenance.get("source") == OBSERVED
    return memory.active and is_read and memory.kind != "diff" and "commit" not in memory.provenance
