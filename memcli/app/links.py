"""Links: tie two memories of any spaces together, and take that back.

A link is stored with the memory that it starts from; `contradicts`, with both. One that leads to another space names it
(`space:id`). No tracked file names a memory of a private space: what ties the two is stored in the private one. What is
in a derived space is copied first, so that no rebuild takes the link away.

Graph: the memories of the spaces to read, with what they are tied to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial

from memcli.app.catalogue import nothing_under
from memcli.app.edit import alter
from memcli.app.homes import LinkEnd, check_across, located, space_of
from memcli.app.redact import SUMMARY
from memcli.app.space import clusters
from memcli.app.workspace import Workspace, load
from memcli.errors import NotFoundError, UsageError
from memcli.graph.elements import Graph, GraphView, build, neighbourhood, node_id, overview
from memcli.model.memory import Json, Memory
from memcli.model.references import MUTUAL, SUPERSEDES, elsewhere, target
from memcli.model.shapes import RELATIONS
from memcli.model.space import is_under
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
from memcli.safety.injection.screening import Overview

RELATES_TO = "relates_to"


class Linked(Record):
    """What became of the links between two memories. `changed` says whether anything was written."""

    start: LinkEnd
    end: LinkEnd
    relations: tuple[str, ...]
    changed: bool
    weight: float = 1.0


def link(workspace: Workspace, start: str, end: str, relation: str, weight: float | None = None) -> Linked:
    """Links the memory `start` to the memory `end`; a link that is there keeps its date.

    What is superseded holds no longer from now on, as with `remember --supersedes`. Raises NotFoundError, UsageError for
    another relation, a memory and itself, and a circle of supersessions; RefusedError where a tracked file would name a
    private memory.
    """
    _check_relations([relation])
    ends = located(workspace, start), located(workspace, end)
    _check_ends(workspace, *ends, relation)
    if space_of(workspace, ends[0]) == space_of(workspace, ends[1]):
        return _link_within(workspace, *ends, relation, weight)
    return _link_across(workspace, *(_settled(workspace, one) for one in ends), relation=relation, weight=weight)


def unlink(workspace: Workspace, start: str, end: str, relation: str | None = None) -> Linked:
    """Takes the links from `start` to `end` away, all or those of one relation; what was superseded is current again.

    What holds in both directions goes in both. Raises NotFoundError, UsageError.
    """
    relations = RELATIONS if relation is None else (relation,)
    _check_relations(relations)
    first, second = located(workspace, start), located(workspace, end)
    found = _relations_between(first, second, relations)
    if found and first.space == second.space:
        _unlink_within(_over(workspace, first.space), first.memory.id, second.memory.id, found)
    elif found:
        _change(workspace, first, lambda m: without_links(m, second.name, found))
        _change(workspace, second, lambda m: without_links(m, first.name, [r for r in found if r in MUTUAL]))
    return Linked(first, second, found, bool(found))


def _relations_between(first: LinkEnd, second: LinkEnd, relations: Sequence[str]) -> tuple[str, ...]:
    there = [one["relation"] for one in linked(first.memory, _target(first, second), relations)]
    back = [r for r in relations if r in MUTUAL and linked(second.memory, _target(second, first), [r])]
    is_ended = first.space == second.space and second.memory.superseded_by == first.memory.id
    return tuple(sorted({*there, *back, *([SUPERSEDES] if is_ended and SUPERSEDES in relations else [])}))


def _target(start: LinkEnd, end: LinkEnd) -> str:
    return end.memory.id if start.space == end.space else end.name


def _settled(workspace: Workspace, end: LinkEnd) -> LinkEnd:
    """The memory where it can be linked: as a copy where it is in a derived space."""
    space = space_of(workspace, end)
    if space == end.space:
        return end
    (copy,) = alter(_over(workspace, space), [end.memory.id], lambda memory, _: memory)
    return LinkEnd(space, copy)


def _over(workspace: Workspace, space: str) -> Workspace:
    return workspace.copy_with(space=space, is_space_named=space != workspace.main)


def _check_relations(relations: Sequence[str]) -> None:
    for relation in relations:
        if relation not in RELATIONS:
            raise UsageError(f"no relation {relation!r}", f"relations: {', '.join(RELATIONS)}")


def _check_ends(workspace: Workspace, start: LinkEnd, end: LinkEnd, relation: str) -> None:
    if start.name == end.name:
        raise to_itself(start.memory)
    check_across(workspace, space_of(workspace, start), replace(end, space=space_of(workspace, end)), relation)


def _link_within(workspace: Workspace, start: LinkEnd, end: LinkEnd, relation: str, weight: float | None) -> Linked:
    now = workspace.clock()
    ids = start.memory.id, end.memory.id
    before: dict[str, Memory] = {}

    def change(memory: Memory, shelf: Shelf) -> Memory:
        first, second = (find(shelf, name) for name in ids)
        before[memory.id] = memory
        if first.id == second.id:  # two that were read, with one text, have one copy
            raise to_itself(first)
        if relation == RELATES_TO and linked(second, first.id, [relation]):
            first, second = second, first  # it is told from the other end already
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
    kept = linked(first, second.id, [relation]) or linked(second, first.id, [relation])
    is_changed = any(before[memory.id] != memory for memory in (first, second))
    return Linked(LinkEnd(space, first), LinkEnd(space, second), (relation,), is_changed, _weight(kept[0]))


def _link_across(workspace: Workspace, start: LinkEnd, end: LinkEnd, *, relation: str, weight: float | None) -> Linked:
    now = workspace.clock()
    private = [one for one in (start, end) if workspace.store.policy(one.space).is_private]
    holders = [start, end] if relation == CONTRADICTS else [start]
    if relation == RELATES_TO and linked(end.memory, start.name, [relation]):
        holders = [end]
    if len(private) == 1 and relation in MUTUAL:
        holders = private
    is_changed = False
    for holder in holders:
        to = (end if holder is start else start).name
        held = _change(workspace, holder, partial(with_link, to=to, relation=relation, weight=weight, now=now))
        is_changed = is_changed or held != holder.memory
        kept = linked(held, to, [relation])
    return Linked(start, end, (relation,), is_changed, _weight(kept[0]))


def _unlink_within(workspace: Workspace, start: str, end: str, relations: Sequence[str]) -> None:
    mutual = [relation for relation in relations if relation in MUTUAL]

    def change(memory: Memory, shelf: Shelf) -> Memory:
        if memory.id == start:
            return without_links(memory, end, relations)
        if SUPERSEDES in relations:
            since = [str(one.get("created_at")) for one in linked(find(shelf, start), end, [SUPERSEDES])]
            others = superseders(shelf.load().objects, end, but=start)
            memory = released(memory, start, since or [str(memory.valid_until)], others)
        return without_links(memory, start, mutual)

    alter(workspace, [start, end], change)


def _change(workspace: Workspace, end: LinkEnd, change: Callable[[Memory], Memory]) -> Memory:
    (memory,) = alter(_over(workspace, end.space), [end.memory.id], lambda memory, _: change(memory))
    return memory


def _weight(link: Json) -> float:
    return float(link.get("weight", 1.0))


FEW = 2000
"""Among so many memories of a space clusters are found within a second; among more, only if somebody asks for them."""


def graph_of(
    workspace: Workspace, ref: str, depth: int, *, inactive: bool = False, all_clusters: bool = False
) -> GraphView:
    """The graph around the memory that `ref` names, or around all at and below a path; without `ref`, all of the space
    with what other spaces it links to. With `all_clusters` they are found among any number of memories. Raises NotFoundError, UsageError, CorruptError."""
    end = _located(workspace, ref) if ref else None
    names = dict.fromkeys([*workspace.asked_spaces, *([end.space] if end else [])] if ref else [workspace.space])
    spaces = {name: _wanted(name, load(workspace, name).objects, inactive, end) for name in names}
    sizes = {name: len(memories) for name, memories in spaces.items()}
    clustered = [name for name, size in sizes.items() if size and (all_clusters or size <= FEW)]
    starts = [node_id(end.space, end.memory.id, workspace.main)] if end else _below(workspace, spaces, ref)
    for name, memories in _abroad(workspace, spaces, inactive).items():
        spaces[name] = [*spaces.get(name, ()), *memories]
    graph = build(spaces, workspace.main, _clusters(workspace, clustered))
    return _shown(workspace, neighbourhood(graph, starts, depth) if ref else graph)


def _clusters(workspace: Workspace, spaces: Sequence[str]) -> dict[str, list[str]]:
    """The nodes in each cluster of the spaces, by its name, with its id where two are named alike."""
    found = []
    for space in spaces:
        clean = workspace.redactor.cleaner(workspace.store.policy(space))
        found += [(space, clean(cluster.name), cluster) for cluster in clusters(workspace, space).found]
    often = Counter(name for _, name, _ in found)
    return {
        name if often[name] == 1 else f"{name} ({cluster.id})": [
            node_id(space, one, workspace.main) for one in cluster.ids
        ]
        for space, name, cluster in found
    }


def private_spaces(workspace: Workspace, graph: Graph) -> dict[str, int]:
    """How many memories of each private space the graph shows."""
    counts: dict[str, int] = {}
    for node in graph.nodes:
        if node.space:
            counts[node.space] = counts.get(node.space, 0) + 1
    return {name: count for name, count in counts.items() if workspace.store.policy(name).is_private}


def _located(workspace: Workspace, ref: str) -> LinkEnd | None:
    """The memory that `ref` names; None where it can only be a path that memories are below. Raises UsageError."""
    try:
        return located(workspace, ref)
    except NotFoundError:
        return None


def _wanted(space: str, memories: Sequence[Memory], inactive: bool, asked: LinkEnd | None = None) -> list[Memory]:
    """The memories, forgotten ones only if they are wanted."""
    own = asked.memory.id if asked and asked.space == space else ""
    return [memory for memory in memories if memory.active or inactive or memory.id == own]


def _shown(workspace: Workspace, graph: Graph) -> GraphView:
    """The graph as it is rendered, without what is secret in it: of each memory only what a graph shows is looked at."""
    by_space: dict[str, list[Memory]] = {}
    for node in graph.nodes:
        if node.memory is not None:
            by_space.setdefault(node.space, []).append(node.memory)
    found: dict[tuple[str, str], Overview] = {}
    for space, memories in by_space.items():
        shown = workspace.redactor.show(memories, workspace.store.policy(space), SUMMARY)
        is_reviewed = partial(workspace.trust.is_reviewed, space)
        pairs = zip(memories, shown, strict=True)
        found |= {(space, before.id): Overview(before, after, is_reviewed) for before, after in pairs}
    return overview(graph, lambda space, memory: found[space, memory.id], workspace.main)


def _below(workspace: Workspace, spaces: Mapping[str, Sequence[Memory]], ref: str) -> list[str]:
    """The nodes of all memories below a path; none without a path. Raises NotFoundError."""
    if not ref:
        return []
    found = [
        node_id(space, memory.id, workspace.main)
        for space, memories in spaces.items()
        for memory in memories
        if is_under(memory.path, ref)
    ]
    if not found:
        raise nothing_under(workspace, ref)
    return found


def _abroad(workspace: Workspace, spaces: Mapping[str, Sequence[Memory]], inactive: bool) -> dict[str, list[Memory]]:
    """The memories of spaces that were not asked which these link to; none of a private space."""
    ends = (elsewhere(target(link)) for memories in spaces.values() for m in memories for link in m.links)
    wanted: dict[str, set[str]] = {}
    for end in ends:
        if end is not None:
            wanted.setdefault(end[0], set()).add(end[1])
    known = {name: {memory.id for memory in memories} for name, memories in spaces.items()}
    found = {}
    for name in sorted(wanted.keys() & set(workspace.store.spaces())):
        ids = wanted[name] - known.get(name, set())
        if ids and not workspace.store.policy(name).is_private:
            with closing(workspace.store.open(name)) as snapshot:
                objects = [memory for memory in snapshot.load().objects if memory.id in ids]
            found[name] = _wanted(name, objects, inactive)
    return found
