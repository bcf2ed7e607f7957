"""Links between memories: identity, links that the check of contradictions made, dangling links, and chains of supersession.
Also the runs of the trash, which store the links that a removal cut."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping

from memcli.errors import UsageError
from memcli.model.memory import Json, Memory, increased
from memcli.model.names import check_space
from memcli.model.space import Change, Policy, Space
from memcli.record import Record, field, replace
from memcli.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.ports import Shelf

CONTRADICTS = "contradicts"
CHECK = "check"
"""The value of `by` in a link that the check of a new memory made."""


def link_key(link: Mapping[str, Json]) -> Hashable:
    """A key that is equal for links with the same target and relation, of which a memory has one."""
    return link["to"], link["relation"]


def union(
    first: Iterable[Any], second: Iterable[Any], key: Callable[[Any], Hashable] = lambda item: item
) -> tuple[Any, ...]:
    """The items of both, and of those with an equal key only the first."""
    merged: dict[Hashable, Any] = {}
    for item in (*first, *second):
        merged.setdefault(key(item), item)
    return tuple(merged.values())


def is_found(link: Mapping[str, Json]) -> bool:
    """Whether the check made the link, so that it is removed when the texts no longer contradict each other."""
    return is_contradiction(link) and link.get("by") == CHECK


def contradicted(memory: Memory) -> list[str]:
    """The ids of the memories that the memory contradicts."""
    return [link["to"] for link in memory.links if is_contradiction(link)]


def is_contradiction(link: Json) -> bool:
    """Whether a value of `links` is a valid link that contradicts."""
    # Of any type: files are edited by hand, and bundles come from elsewhere.
    return isinstance(link, Mapping) and link.get("relation") == CONTRADICTS and isinstance(link.get("to"), str)


class Lineage(Record):
    """The version of a space. `store` is the id of the schema of a server, empty for a store in files; `version` counts the
    writes, and `epoch` how often the space was deleted and created again."""

    store: str = ""
    epoch: int = 0
    version: int = 0

    def follows(self, earlier: Lineage) -> bool:
        """Whether this may be a later version of the same space in the same store."""
        # By the id of the schema, not the address: behind it a server may have been wiped, restored or replaced.
        return self.store == earlier.store and (self.epoch, self.version) >= (earlier.epoch, earlier.version)


class SyncPoint(Record):
    """The common base of a sync: the `space` that two stores had, the `lineage` of the other one, the number of `entries` of
    its audit log then, and `head`, the hash of the last of them. Where this store has not taken over everything, `there` has
    the digests of the memories of the other one by id, empty for a memory that it did not have."""

    space: Space
    lineage: Lineage = Lineage()
    entries: int = 0
    head: str = ""
    there: Mapping[str, str] = field(default_factory=dict)


_SYNC = "store sync"
_NAME = regex(r"\d{8}T\d{6}Z-[0-9a-f]{8}(-\d+)?\Z")


class Severed(Record):
    """The references that the remaining memory `id` lost when other memories were removed. `space` is its space where that is
    not the space of the removed ones."""

    id: str
    links: tuple[Mapping[str, Json], ...] = ()
    superseded_by: str | None = None
    valid_until: str | None = None
    space: str = ""


class Run(Record):
    """The memories that one write removed at `removed_at`: `space` is the header of their space with them alone. `replaced` has
    the digest of the new version of those that were replaced, by id."""

    name: str
    removed_at: str
    command: str
    space: Space
    severed: tuple[Severed, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)

    def grace(self, days: float) -> float:
        """For how many days the run can be restored where the policy grants `days`."""
        # What a sync removed was decided in another store, by nobody here: it stays at least as long as by default.
        return spared_days(days) if self.command == _SYNC else days


class Going(Record):
    """What a write takes out of a space: `trashed`, the header as it was with the memories that go into the trash, and
    `erased`, the memories that are deleted for good. A memory whose id is in `displaced` only gets a new version, which is
    in `replacing`. Those with `spared` ids go into the trash even where the policy grants no grace. `severed` are the
    references that other memories lose by it, and `run` is the name of the run in the trash.
    """

    trashed: Space
    erased: tuple[Memory, ...] = ()
    severed: tuple[Severed, ...] = ()
    run: str = ""
    displaced: frozenset[str] = frozenset()
    spared: frozenset[str] = frozenset()
    replacing: tuple[Memory, ...] = ()


def spared_days(days: float) -> float:
    """For how many days the trash stores `spared` memories where the policy grants `days`: not less than by default."""
    return max(days, Policy().grace_days)


def severed_between(before: Memory, after: Memory, gone: Collection[str]) -> Severed | None:
    """The references to `gone` memories that a remaining one lost between two versions; None when it lost none."""
    links = tuple(link for link in before.links if link["to"] in gone and link not in after.links)
    successor = before.superseded_by
    if successor not in gone or successor == after.superseded_by:
        return Severed(before.id, links) if links else None
    return Severed(before.id, links, successor, before.valid_until)


def relinked(memory: Memory, severed: Severed, back: Collection[str]) -> Memory:
    """The memory with those of its severed links again that lead to ids in `back`."""
    known = {(link["to"], link["relation"]) for link in memory.links}
    links = [one for one in severed.links if one["to"] in back and (one["to"], one["relation"]) not in known]
    return replace(memory, links=(*memory.links, *links)) if links else memory


def rejoined(memory: Memory, severed: Severed, back: Mapping[str, Memory]) -> Memory:
    """The memory with those of its severed references again, links and successor, that lead to memories in `back`."""
    memory = relinked(memory, severed, back)
    successor = back.get(severed.superseded_by or "")
    if successor is None or memory.superseded_by not in (None, successor.superseded_by):
        return memory
    return replace(memory, superseded_by=successor.id, valid_until=memory.valid_until or severed.valid_until)


def is_run_name(name: str) -> bool:
    """Whether `name` can be the name of a run."""
    return bool(_NAME.match(name))


SUPERSEDES = "supersedes"
MUTUAL = ("contradicts", "relates_to")
"""The relations that hold in both directions."""


def elsewhere(name: str) -> tuple[str, str] | None:
    """The space and the id of a link to another space, `space:id`; None for any other name.

    An id may contain a colon too: look for the whole name in the space itself first.
    """
    space, mark, own = name.partition(":")
    if not (mark and own):
        return None
    try:
        return check_space(space), own
    except UsageError:
        return None


def target(link: Json) -> str:
    """The id that a link leads to, "" for an invalid value in `links` (files are edited by hand)."""
    to = link.get("to") if isinstance(link, Mapping) else None
    return to if isinstance(to, str) else ""


def known_among(ids: Container[str], spaces: Mapping[str, Container[str]]) -> Callable[[str], bool]:
    """A predicate whether a link may lead to a name: to one of `ids`, or to one of the ids of another space in `spaces`.

    Links to a space that is not in `spaces` are allowed: no clone has every space, so that its memories may exist.
    """

    def is_known(name: str) -> bool:
        far = elsewhere(name)
        return name in ids or (far is not None and (far[0] not in spaces or far[1] in spaces[far[0]]))

    return is_known


def without_dangling(memory: Memory, is_there: Callable[[str], bool]) -> Memory:
    """The memory without references to ids of its own space for which `is_there` is False; the same object where it has none.
    Links to other spaces stay."""
    links = tuple(link for link in memory.links if is_there(link["to"]) or elsewhere(link["to"]) is not None)
    if len(links) < len(memory.links):
        memory = replace(memory, links=links)
    return memory if memory.superseded_by is None or is_there(memory.superseded_by) else without_successor(memory)


def without_successor(memory: Memory) -> Memory:
    """The memory, no longer superseded; the same object where it is not."""
    if memory.superseded_by is None:
        return memory
    # Superseding sets `valid_until` and `updated_at` to one time: this end was set by it, and goes with it.
    is_ended = memory.valid_until == memory.updated_at
    return replace(memory, superseded_by=None, valid_until=None if is_ended else memory.valid_until)


def removal(space: Shelf, ids: Collection[str], now: str) -> Change:
    """The change that deletes `ids` from a space and all references to them.

    A memory that a deleted one superseded is then superseded by the successor of that, else by the last other memory that
    superseded it, and is current again where there is neither. A dropped link is upkeep, not an edit: it changes neither
    `version` nor `updated_at`.
    """
    gone = {name: memory for name in ids if (memory := space.get(name)) is not None}
    referring = [memory for memory in space.referring(gone) if memory.id not in gone] if gone else []
    orphans = {memory.id for memory in referring if memory.superseded_by in gone}
    dates: dict[str, dict[str, str]] = {}  # by orphan, the time of each supersession by the superseding memory
    for memory in space.referring(orphans) if orphans else ():
        for link in memory.links:
            if link.get("relation") == SUPERSEDES:
                dates.setdefault(link["to"], {})[memory.id] = str(link.get("created_at"))
    put = (_released(memory, gone, dates.get(memory.id, {}), now) for memory in referring)
    return Change(tuple(put), frozenset(gone), now)


def refers_to(memory: Memory, ids: Collection[str]) -> bool:
    """Whether the memory links to one of `ids`, or is superseded by one."""
    return memory.superseded_by in ids or any(link["to"] in ids for link in memory.links)


def made_current(before: Shelf, change: Change) -> list[Memory]:
    """The memories that `change` makes current again."""
    current = (memory for memory in change.put if memory.superseded_by is None)
    return [m for m in current if (was := before.get(m.id)) is not None and was.superseded_by is not None]


def renamed(memory: Memory, ids: Mapping[str, str]) -> Memory:
    """The memory with its own id, and those that it refers to, replaced according to `ids`."""
    name = ids.get(memory.id, memory.id)
    links = tuple({**link, "to": ids[link["to"]]} if link["to"] in ids else link for link in memory.links)
    chunks = memory.chunks
    if name != memory.id:
        chunks = tuple({**chunk, "chunk_id": f"{name}#{n}"} for n, chunk in enumerate(chunks))
    successor = memory.superseded_by
    return replace(
        memory,
        id=name,
        links=links,
        chunks=chunks,
        superseded_by=ids.get(successor, successor) if successor is not None else None,
    )


def is_same_memory(first: Memory, second: Memory) -> bool:
    """Whether two memories with one id are versions of one memory, not two that got the same id by chance.

    An id is a digest of the first path of a memory: when that has moved, another store may give the id to a new one.
    """
    return first.path == second.path or first.created_at == second.created_at or first.hash == second.hash


def _released(memory: Memory, gone: Mapping[str, Memory], dates: Mapping[str, str], now: str) -> Memory:
    """The memory without references to `gone` memories; `dates` has the times of its supersessions by superseding id."""
    links = tuple(link for link in memory.links if link["to"] not in gone)
    by = memory.superseded_by
    if by is None or by not in gone:
        return replace(memory, links=links)
    successor: str | None = by
    seen: set[str] = set()
    # A chain that was edited by hand may be a circle.
    while successor is not None and successor in gone and successor not in seen:
        seen.add(successor)
        successor = gone[successor].superseded_by
    if successor is None or successor in gone:
        others = sorted((date, name) for name, date in dates.items() if name not in gone and name != memory.id)
        successor = others[-1][1] if others else None
    if successor is not None:
        return replace(memory, links=links, superseded_by=successor)
    fields: dict[str, Any] = {"links": links, "superseded_by": None, "version": increased(memory.version)}
    # Also where the link with the date of the supersession is missing, an end that has passed was set by it.
    if memory.valid_until in dates.values() or (by not in dates and memory.valid_until and memory.valid_until <= now):
        fields["valid_until"] = None
    return replace(memory, **fields, updated_at=now or memory.updated_at)
