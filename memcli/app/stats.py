"""Count what a space holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memcli.app.lookup import load
from memcli.app.workspace import Workspace
from memcli.model.memory import Json

_MOST_TAGS = 20


def stats(workspace: Workspace) -> dict[str, Json]:
    """How many memories there are, by state, kind, relevance and tag, and how much text. Raises CorruptError."""
    objects = load(workspace).objects
    return {
        "space": workspace.space,
        "objects": len(objects),
        "active": sum(m.active for m in objects),
        "superseded": sum(m.superseded_by is not None for m in objects),
        "pinned": sum(m.pinned for m in objects),
        "characters": sum(len(m.raw) for m in objects),
        "oldest": min((m.created_at for m in objects), default=""),
        "newest": max((m.updated_at for m in objects), default=""),
        "kinds": _counts(m.kind for m in objects),
        "relevance": _counts(m.relevance for m in objects),
        "tags": dict(list(_counts(tag for m in objects for tag in m.tags).items())[:_MOST_TAGS]),
    }


def _counts(values: Iterable[str]) -> dict[str, int]:
    """Each value with how often it occurs, most frequent first, then by name."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))
