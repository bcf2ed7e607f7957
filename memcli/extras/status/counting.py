"""Counts of the memories in the spaces of a query by state, kind, relevance and tag, and of how often each is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memcli.app.catalogue import SpaceReader, reading
from memcli.app.redact import SUMMARY
from memcli.app.workspace import Workspace
from memcli.model.catalogue import CatalogueFilter
from memcli.model.memory import Json
from memcli.model.space import size_of
from memcli.model.usage import JUDGEMENTS, Access

_MOST_TAGS = 20


def stats(workspace: Workspace) -> dict[str, Json]:
    """The numbers of memories by state, kind, relevance and tag, of characters and bytes. Raises CorruptError."""
    with reading(workspace) as spaces:
        found = {space.name: space.counts() for space in spaces}
        sizes = {space.name: size_of(space.snapshot.fingerprint) for space in spaces}
    counts = list(found.values())
    sums = {
        name: sum(getattr(one, name) for one in counts)
        for name in ("objects", "active", "superseded", "pinned", "characters")
    }
    return {
        "space": workspace.space,
        **({"spaces": {name: one.objects for name, one in found.items()}} if len(found) > 1 else {}),
        **sums,
        "sessions": len(workspace.sessions.ids(workspace.space)),
        "oldest": min((one.oldest for one in counts if one.objects), default=""),
        "newest": max((one.newest for one in counts), default=""),
        "kinds": _most_first([one.kinds for one in counts]),
        "relevance": _most_first([one.relevance for one in counts]),
        "tags": dict(list(_most_first([one.tags for one in counts]).items())[:_MOST_TAGS]),
        "bytes": {"space": sum(sizes.values())},
    }


def _most_first(counts: Iterable[Counter[str]]) -> dict[str, int]:
    """The sum of the counters, the most frequent value first, then by name."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


_MOST = 20


def readership(workspace: Workspace) -> dict[str, Json]:
    """The active memories that were read most often and, in the order of paths, the first that were never read, with the number
    of each; and the feedback that `store maintain` has not applied yet, by kind. Raises CorruptError, StoreError."""
    read: list[tuple[SpaceReader, str, Access]] = []
    never: list[tuple[SpaceReader, str, Access]] = []
    with reading(workspace) as spaces:
        for space in spaces:
            counts = workspace.usage.counts(space.name)
            for _, what in space.places(CatalogueFilter()):
                # Without a sound index the file is read, which yields the memory itself.
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
    """Memories as JSON, redacted, with the number of accesses and the time of the last."""
    rows: list[Json] = []
    for space, name, access in chosen:
        memory = space.find(name)
        if memory is None:
            continue
        (shown,) = workspace.redactor.show([memory], space.policy, SUMMARY)
        about: dict[str, Json] = {"id": shown.id, "path": shown.path, "kind": shown.kind, "space": space.name}
        rows.append({**about, "accesses": access.count, "last_access": access.last_at} if access.count else about)
    return rows
