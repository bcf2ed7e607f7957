"""References between memories: links, and which one superseded which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping

from memcli.errors import UsageError
from memcli.model.memory import Json, Memory, increased
from memcli.model.names import check_space
from memcli.model.space import Change, Referred
from memcli.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SUPERSEDES = "supersedes"
MUTUAL = ("contradicts", "relates_to")
"""The relations that hold in both directions."""


def elsewhere(name: str) -> tuple[str, str] | None:
    """The space and the id that a link to a memory of another space names, `space:id`; None for any other name.

    An id may hold a colon too, so that what a space has under the whole name comes first.
    """
    space, mark, own = name.partition(":")
    if not (mark and own):
        return None
    try:
        return check_space(space), own
    except UsageError:
        return None


def target(link: Json) -> str:
    """What a link leads to; "" for what a hand has put in the place of one."""
    to = link.get("to") if isinstance(link, Mapping) else None
    return to if isinstance(to, str) else ""


def known_among(ids: Container[str], spaces: Mapping[str, Container[str]]) -> Callable[[str], bool]:
    """Says whether a link may lead to a name: to one of `ids`, or of the ids of another of `spaces`.

    What a space has that is not among them is not known to be gone: no clone has every space.
    """

    def is_known(name: str) -> bool:
        far = elsewhere(name)
        return name in ids or (far is not None and (far[0] not in spaces or far[1] in spaces[far[0]]))

    return is_known


def has_dangling(memory: Memory, is_there: Callable[[str], bool]) -> bool:
    """Whether the memory refers to an id that is not there. What is in another space is not looked at."""
    return any(not _leads_on(link["to"], is_there) for link in memory.links) or not (
        memory.superseded_by is None or is_there(memory.superseded_by)
    )


def _leads_on(name: str, is_there: Callable[[str], bool]) -> bool:
    return is_there(name) or elsewhere(name) is not None


def without_dangling(memory: Memory, is_there: Callable[[str], bool]) -> Memory:
    """The memory without its references to ids that are not there; itself when it has none of them."""
    if not has_dangling(memory, is_there):
        return memory
    links = tuple(link for link in memory.links if _leads_on(link["to"], is_there))
    memory = replace(memory, links=links)
    return memory if memory.superseded_by is None or is_there(memory.superseded_by) else without_successor(memory)


def without_successor(memory: Memory) -> Memory:
    """The memory, superseded by nothing; itself when nothing supersedes it."""
    if memory.superseded_by is None:
        return memory
    # What ended with its supersession, and was not changed since, does not end without it.
    is_ended = memory.valid_until == memory.updated_at
    return replace(memory, superseded_by=None, valid_until=None if is_ended else memory.valid_until)


def removal(space: Referred, ids: Collection[str], now: str) -> Change:
    """The change that deletes `ids` from a space and leaves no reference to them.

    What a deleted memory had superseded is superseded by its successor, else by what else superseded it last, and where
    there is neither, current again since `now`. A dropped link is upkeep, not an edit: it changes neither `version` nor `updated_at`.
    """
    gone = {name: memory for name in ids if (memory := space.get(name)) is not None}
    referring = [memory for memory in space.referring(gone) if memory.id not in gone] if gone else []
    orphans = {memory.id for memory in referring if memory.superseded_by in gone}
    dates = _supersessions(space.referring(orphans)) if orphans else {}
    put = (_released(memory, gone, dates.get(memory.id, {}), now) for memory in referring)
    return Change(tuple(put), frozenset(gone), now)


def refers_to(memory: Memory, ids: Collection[str]) -> bool:
    """Whether the memory links to one of `ids`, or is superseded by one."""
    return memory.superseded_by in ids or any(link["to"] in ids for link in memory.links)


def made_current(before: Referred, change: Change) -> list[Memory]:
    """The memories that were superseded before `change`, and are current after it."""
    current = (memory for memory in change.put if memory.superseded_by is None)
    return [m for m in current if (was := before.get(m.id)) is not None and was.superseded_by is not None]


def renamed(memory: Memory, ids: Mapping[str, str]) -> Memory:
    """The memory with each id of `ids`, its own and those that it refers to, replaced by the new one."""
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
    """Whether two memories of one id are versions of one memory, not two that came to the same id.

    An id is the digest of the first path of a memory, so that after a move another one may be given it elsewhere.
    """
    return first.path == second.path or first.created_at == second.created_at or first.hash == second.hash


def _released(memory: Memory, gone: Mapping[str, Memory], dates: Mapping[str, str], now: str) -> Memory:
    """The memory without references to what is `gone`. `dates` say since when which memories superseded it."""
    links = tuple(link for link in memory.links if link["to"] not in gone)
    by = memory.superseded_by
    if by is None or by not in gone:
        return replace(memory, links=links)
    others = sorted((date, name) for name, date in dates.items() if name not in gone and name != memory.id)
    successor = _successor(by, gone) or (others[-1][1] if others else None)
    if successor is not None:
        return replace(memory, links=links, superseded_by=successor)
    fields: dict[str, Any] = {"links": links, "superseded_by": None, "version": increased(memory.version)}
    if memory.valid_until in dates.values() or (by not in dates and memory.valid_until and memory.valid_until <= now):
        fields["valid_until"] = None  # a supersession ended it, also where the link that told so has gone
    return replace(memory, **fields, updated_at=now or memory.updated_at)


def _successor(name: str, gone: Mapping[str, Memory]) -> str | None:
    """The first memory in the chain of supersessions from `name` on that is not gone."""
    seen: set[str] = set()
    while name in gone and name not in seen:
        seen.add(name)
        following = gone[name].superseded_by
        if following is None:
            return None
        name = following
    return None if name in gone else name


def _supersessions(objects: Iterable[Memory]) -> dict[str, dict[str, str]]:
    """For each memory that others link to as superseded, by its id: when each of them superseded it."""
    dates: dict[str, dict[str, str]] = {}
    for memory in objects:
        for link in memory.links:
            if link.get("relation") == SUPERSEDES:
                dates.setdefault(link["to"], {})[memory.id] = str(link.get("created_at"))
    return dates
