"""Readership: which memories are read most often, and which were never read."""

from __future__ import annotations

from memcli.app.catalogue import SpaceReader
from memcli.app.lookup import reading_asked
from memcli.app.redact import SUMMARY
from memcli.app.workspace import Workspace
from memcli.model.catalogue import CatalogueFilter
from memcli.model.memory import Json
from memcli.model.usage import JUDGEMENTS, Access

_MOST = 20


def readership(workspace: Workspace) -> dict[str, Json]:
    """The memories that are read most often, most often first, and the first by path of those that never were, with how many
    there are of each; and the judgements that `maintain` has not applied yet, by kind. Raises CorruptError, StoreError."""
    read: list[tuple[SpaceReader, str, Access]] = []
    never: list[tuple[SpaceReader, str, Access]] = []
    with reading_asked(workspace) as spaces:
        for space in spaces:
            counts = workspace.usage.counts(space.name)
            for _, what in space.places(CatalogueFilter()):
                name = what if isinstance(what, str) else what.id
                access = counts.get(name, Access())
                (read if access.count else never).append((space, name, access))
        read.sort(key=lambda one: (-one[2].count, one[2].last_at, one[0].name, one[1]))
        uses = [use for use in workspace.usage.read() if use.space in {space.name for space in spaces}]
        return {
            "active": len(read) + len(never), "read": len(read), "never": len(never),
            "most": _rows(workspace, read[:_MOST]), "unread": _rows(workspace, never[:_MOST]),
            "pending": {act: count for act in JUDGEMENTS if (count := sum(use.act == act for use in uses))},
        }  # fmt: skip


def _rows(workspace: Workspace, chosen: list[tuple[SpaceReader, str, Access]]) -> list[Json]:
    """Memories as they may be shown, with their accesses."""
    rows: list[Json] = []
    for space, name, access in chosen:
        memory = space.find(name)
        if memory is None:
            continue
        (shown,) = workspace.redactor.show([memory], space.policy, SUMMARY)
        about: dict[str, Json] = {"id": shown.id, "path": shown.path, "kind": shown.kind, "space": space.name}
        rows.append({**about, "accesses": access.count, "last_access": access.last_at} if access.count else about)
    return rows
