"""How much there is in the spaces to read, by state, kind, relevance and tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memcli.app.catalogue import reading_asked
from memcli.app.workspace import Workspace
from memcli.model.memory import Json
from memcli.model.space import size_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_MOST_TAGS = 20


def stats(workspace: Workspace) -> dict[str, Json]:
    """How many memories there are, by state, kind, relevance and tag, and how much text. Raises CorruptError."""
    with reading_asked(workspace) as spaces:
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
        "bytes": {"space": sizes.get(workspace.space, 0)},
    }


def _most_first(counts: Iterable[Counter[str]]) -> dict[str, int]:
    """Each value with how often it occurs in all, most frequent first, then by name."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
