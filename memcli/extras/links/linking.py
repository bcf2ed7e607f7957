"""Creates and removes links between two memories of any spaces.

A link is stored in the memory that it starts from; `contradicts`, in both. The target in another space is `space:id`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from memcli.app.edit import alter
from memcli.app.homes import LinkEnd, check_across, located, space_of
from memcli.app.workspace import Workspace
from memcli.errors import UsageError
from memcli.model.links import MUTUAL, SUPERSEDES
from memcli.model.memory import Memory
from memcli.model.shapes import RELATIONS
from memcli.policy.draft import (
    CONTRADICTS,
    check_references,
    find,
    linked,
    released,
    superseded,
    superseders,
    to_itself,
    with_link,
    without_links,
)
from memcli.ports import Shelf
from memcli.record import Record, replace

RELATES_TO = "relates_to"


class Linked(Record):
    """The result of linking or unlinking two memories. `changed`: something was written. `weight` is that of the link."""

    start: LinkEnd
    end: LinkEnd
    relations: tuple[str, ...]
    changed: bool
    weight: float = 1.0


def link(workspace: Workspace, start: str, end: str, relation: str, weight: float | None = None) -> Linked:
    """Links the memory `start` to the memory `end`; an existing link keeps its date. A superseded memory is valid until now, as
    with `remember --supersedes`.

    Raises NotFoundError; UsageError for an unknown relation, a link of a memory to itself, and a circle of supersessions;
    RefusedError if a tracked file would name a private memory.
    """
    _check_relations([relation])
    first, second = located(workspace, start), located(workspace, end)
    if first.name == second.name:
        raise to_itself(first.memory)
    space, other = space_of(workspace, first), space_of(workspace, second)
    # Before a memory is copied below, so that a refused link leaves no copy behind.
    check_across(workspace, space, replace(second, space=other), relation)
    if space == other:
        return _link_within(workspace, first, second, relation, weight)
    ends = _settled(workspace, first), _settled(workspace, second)
    return _link_across(workspace, *ends, relation=relation, weight=weight)


def unlink(workspace: Workspace, start: str, end: str, relation: str | None = None) -> Linked:
    """Removes the links from `start` to `end`, all or those of one relation; links of mutual relations are removed in both
    directions. A memory that was superseded by such a link is current again. Raises NotFoundError, UsageError.
    """
    relations = RELATIONS if relation is None else (relation,)
    _check_relations(relations)
    first, second = located(workspace, start), located(workspace, end)
    is_within = first.space == second.space
    ends = (first.memory.id, second.memory.id) if is_within else (first.name, second.name)
    existing = {one["relation"] for one in linked(first.memory, ends[1], relations)}
    existing |= {r for r in relations if r in MUTUAL and linked(second.memory, ends[0], [r])}
    # A memory may be superseded without a link that says so.
    if is_within and SUPERSEDES in relations and second.memory.superseded_by == first.memory.id:
        existing.add(SUPERSEDES)
    found = tuple(sorted(existing))
    mutual = [one for one in found if one in MUTUAL]

    def change(memory: Memory, shelf: Shelf) -> Memory:
        one, other = ends
        if memory.id == one:
            return without_links(memory, other, found)
        if SUPERSEDES in found:
            since = [str(link.get("created_at")) for link in linked(find(shelf, one), other, [SUPERSEDES])]
            others = superseders(shelf.load().objects, other, but=one)
            memory = released(memory, one, since or [str(memory.valid_until)], others)
        return without_links(memory, one, mutual)

    if found and is_within:
        alter(_over(workspace, first.space), ends, change)  # both ends in one write
    elif found:
        _change(workspace, first, lambda m: without_links(m, second.name, found))
        _change(workspace, second, lambda m: without_links(m, first.name, mutual))
    return Linked(first, second, found, bool(found))


def _settled(workspace: Workspace, end: LinkEnd) -> LinkEnd:
    """The memory where its link is stored: for one in a derived space, a copy of it in another space."""
    # In a derived space, the next `ingest` would remove the link.
    space = space_of(workspace, end)
    if space == end.space:
        return end
    (copy,) = alter(_over(workspace, space), [end.memory.id], lambda memory, _: memory)
    return LinkEnd(space, copy)


def _over(workspace: Workspace, space: str) -> Workspace:
    """The workspace with `space` as its current space."""
    return workspace.copy_with(space=space, is_space_named=space != workspace.main)


def _check_relations(relations: Sequence[str]) -> None:
    """Raises UsageError for an unknown relation."""
    for relation in relations:
        if relation not in RELATIONS:
            raise UsageError(f"no relation {relation!r}", f"relations: {', '.join(RELATIONS)}")


def _link_within(workspace: Workspace, start: LinkEnd, end: LinkEnd, relation: str, weight: float | None) -> Linked:
    """Links two memories that are, or will be copied, in one space: in one write."""
    now = workspace.clock()
    ids = start.memory.id, end.memory.id
    before: dict[str, Memory] = {}

    def change(memory: Memory, shelf: Shelf) -> Memory:
        first, second = (find(shelf, name) for name in ids)
        before[memory.id] = memory
        if first.id == second.id:  # two memories of a derived space with one text have one copy
            raise to_itself(first)
        if relation == RELATES_TO and linked(second, first.id, [relation]):
            first, second = second, first  # the relation is mutual: the existing link is changed, not doubled
        if memory.id == first.id:
            return with_link(memory, second.id, relation, weight, now)
        if relation == CONTRADICTS:
            return with_link(memory, first.id, relation, weight, now)
        if relation == SUPERSEDES and (memory.superseded_by is None or not linked(first, memory.id, [relation])):
            check_references(shelf, replace(memory, superseded_by=first.id))
            return superseded(memory, first.id, now)
        return memory

    space = space_of(workspace, start)
    first, second = alter(_over(workspace, space), ids, change)
    links = linked(first, second.id, [relation]) or linked(second, first.id, [relation])
    is_changed = any(before[memory.id] != memory for memory in (first, second))
    stored_weight = float(links[0].get("weight", 1.0))
    return Linked(LinkEnd(space, first), LinkEnd(space, second), (relation,), is_changed, stored_weight)


def _link_across(workspace: Workspace, start: LinkEnd, end: LinkEnd, *, relation: str, weight: float | None) -> Linked:
    """Links two memories of different spaces; only the memory that holds the link is written, for `contradicts` both."""
    now = workspace.clock()
    private = [one for one in (start, end) if workspace.store.policy(one.space).is_private]
    holders = [start, end] if relation == CONTRADICTS else [start]
    if relation == RELATES_TO and linked(end.memory, start.name, [relation]):
        holders = [end]
    # No tracked file may name a private memory, so a mutual link is stored in the private one alone.
    if len(private) == 1 and relation in MUTUAL:
        holders = private
    is_changed = False
    for holder in holders:
        to = (end if holder is start else start).name
        held = _change(workspace, holder, partial(with_link, to=to, relation=relation, weight=weight, now=now))
        is_changed = is_changed or held != holder.memory
        links = linked(held, to, [relation])
    return Linked(start, end, (relation,), is_changed, float(links[0].get("weight", 1.0)))


def _change(workspace: Workspace, end: LinkEnd, change: Callable[[Memory], Memory]) -> Memory:
    """Changes one memory in its space, and returns it as stored."""
    (memory,) = alter(_over(workspace, end.space), [end.memory.id], lambda memory, _: change(memory))
    return memory
