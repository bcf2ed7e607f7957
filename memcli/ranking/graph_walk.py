"""The cascade: breadth first from what answers to what is tied to it, losing strength with every step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memcli.record import Record

DEPTH = 2
DECAY = 0.7
TAG, CLUSTER, SUPERSEDES, OTHER = 0.8, 0.6, 0.9, 0.3
"""What a tie of each kind hands on, before the decay; `relates_to` hands on its own weight."""


class WalkPath(Record):
    """How a memory was reached, and how strong what came through is."""

    strength: float
    ties: tuple[str, ...]

    def step(self, tie: str, factor: float) -> WalkPath:
        """The path with one more tie."""
        return WalkPath(self.strength * factor * DECAY, (*self.ties, tie))


class TieGraph(Record):
    """Memories and their ties. A set (of a tag, a cluster) ties each two of its members.

    `sets[name]` are its kind, its factor and its members; `member_of` the names of the sets of each memory;
    `links` the memories tied to each by a link, with its relation and its factor.
    """

    sets: Mapping[str, tuple[str, float, Sequence[int]]]
    member_of: Mapping[int, Sequence[str]]
    links: Mapping[int, Sequence[tuple[int, str, float]]]


def graph_of(
    tags: Mapping[str, Sequence[int]], clusters: Iterable[Sequence[int]], links: Iterable[tuple[int, int, str, float]]
) -> TieGraph:
    """The graph of these sets and links. A link ties both ways."""
    sets: dict[str, tuple[str, float, Sequence[int]]] = {
        f"tag:{tag}": ("tag", TAG, members) for tag, members in sorted(tags.items())
    }
    sets |= {f"cluster:{n}": ("cluster", CLUSTER, members) for n, members in enumerate(clusters)}
    member_of: dict[int, list[str]] = {}
    for name, (_, _, members) in sets.items():
        for member in members:
            member_of.setdefault(member, []).append(name)
    tied: dict[int, list[tuple[int, str, float]]] = {}
    for start, end, relation, weight in links:
        factor = {"relates_to": weight, "supersedes": SUPERSEDES}.get(relation, OTHER)
        tied.setdefault(start, []).append((end, relation, factor))
        tied.setdefault(end, []).append((start, relation, factor))
    return TieGraph(sets, member_of, tied)


def cascade(graph: TieGraph, starts: Mapping[int, WalkPath]) -> dict[int, WalkPath]:
    """The best path to every memory within DEPTH steps of the starts; no path of strength 0."""
    best = dict(starts)
    frontier = dict(starts)
    for _ in range(DEPTH):
        reached: dict[int, WalkPath] = {}
        for row, path in _steps(graph, frontier):
            if path.strength > 0 and _is_better(path, best.get(row)):
                best[row] = reached[row] = path
        frontier = reached
    return best


def _steps(graph: TieGraph, frontier: Mapping[int, WalkPath]) -> Iterable[tuple[int, WalkPath]]:
    """One step on from the frontier. Of all who enter a set only the strongest matters to the others in it."""
    entered: dict[str, WalkPath] = {}
    for row, path in frontier.items():
        for name in graph.member_of.get(row, ()):
            if _is_better(path, entered.get(name)):
                entered[name] = path
        for other, relation, factor in graph.links.get(row, ()):
            yield other, path.step(relation, factor)
    for name, path in entered.items():
        kind, factor, members = graph.sets[name]
        after = path.step(kind, factor)
        for member in members:
            yield member, after


def _is_better(path: WalkPath, than: WalkPath | None) -> bool:
    """Stronger; or as strong with fewer or earlier ties, so that no order of rows decides."""
    if than is None:
        return True
    return (-path.strength, len(path.ties), path.ties) < (-than.strength, len(than.ties), than.ties)
