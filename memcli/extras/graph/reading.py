"""Builds the graph of the memories in the spaces to read, with tags, clusters and linked memories of other spaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import partial

from memcli.app.catalogue import nothing_under
from memcli.app.homes import LinkEnd, located
from memcli.app.redact import SUMMARY
from memcli.app.space import clusters
from memcli.app.workspace import Workspace, load
from memcli.errors import NotFoundError
from memcli.graph.elements import Graph, GraphView, build, neighbourhood, node_id, overview
from memcli.model.links import elsewhere, target
from memcli.model.memory import Memory
from memcli.model.space import is_under
from memcli.safety.screening import Overview

# Among so many, clusters are found in less than a second.
FEW = 2000
"""The most memories of a space for which clusters are found by default."""


def graph_of(
    workspace: Workspace, ref: str, depth: int, *, inactive: bool = False, all_clusters: bool = False
) -> GraphView:
    """The graph up to `depth` steps around the memory `ref`, or around all memories at and below the path `ref`; with an empty
    `ref`, that of the whole space and of the memories that it links to. With `inactive`, forgotten memories are included.
    With `all_clusters`, clusters are found among more than FEW memories too.

    Raises NotFoundError, UsageError, CorruptError.
    """
    end: LinkEnd | None = None
    with suppress(NotFoundError):  # `ref` may also be a path above memories
        end = located(workspace, ref) if ref else None
    names = dict.fromkeys([*workspace.spaces_to_read, *([end.space] if end else [])] if ref else [workspace.space])
    spaces = {name: _wanted(name, load(workspace, name).objects, inactive, end) for name in names}
    sizes = {name: len(memories) for name, memories in spaces.items()}
    clustered = [name for name, size in sizes.items() if size and (all_clusters or size <= FEW)]
    starts = [node_id(end.space, end.memory.id, workspace.main)] if end else []
    if ref and not end:
        found = ((name, m.id) for name, memories in spaces.items() for m in memories if is_under(m.path, ref))
        starts = [node_id(name, one, workspace.main) for name, one in found]
        if not starts:
            raise nothing_under(workspace, ref)
    for name, memories in _abroad(workspace, spaces, inactive).items():
        spaces[name] = [*spaces.get(name, ()), *memories]
    named = []
    for name in clustered:
        # Clusters are named by words of their memories, and are redacted as these are.
        clean = workspace.redactor.cleaner(workspace.store.policy(name))
        named += [(name, clean(cluster.name), cluster) for cluster in clusters(workspace, name).found]
    often = Counter(title for _, title, _ in named)
    # By the name of the cluster; with its id where two have one name, since the names are keys.
    of_clusters = {
        title if often[title] == 1 else f"{title} ({cluster.id})": [
            node_id(name, one, workspace.main) for one in cluster.ids
        ]
        for name, title, cluster in named
    }
    graph = build(spaces, workspace.main, of_clusters)
    return _shown(workspace, neighbourhood(graph, starts, depth) if ref else graph)


def private_spaces(workspace: Workspace, graph: Graph) -> dict[str, int]:
    """The number of memories in the graph for each private space."""
    counts: dict[str, int] = {}
    for node in graph.nodes:
        if node.space:
            counts[node.space] = counts.get(node.space, 0) + 1
    return {name: count for name, count in counts.items() if workspace.store.policy(name).is_private}


def _wanted(space: str, memories: Sequence[Memory], inactive: bool, end: LinkEnd | None = None) -> list[Memory]:
    """The active memories and, in any case, the one at `end`; with `inactive`, all memories."""
    own = end.memory.id if end and end.space == space else ""
    return [memory for memory in memories if memory.active or inactive or memory.id == own]


def _shown(workspace: Workspace, graph: Graph) -> GraphView:
    """The redacted graph for rendering."""
    # Only the fields that a graph shows are redacted, which are few of those that a memory has.
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


def _abroad(workspace: Workspace, spaces: Mapping[str, Sequence[Memory]], inactive: bool) -> dict[str, list[Memory]]:
    """The memories to which these link and which are not among them, by space; none of a private space."""
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
