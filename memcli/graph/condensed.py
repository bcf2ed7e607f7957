"""The condensed tree of HDBSCAN, and which of its clusters are chosen.

A tree of single linkage is walked from its root: a split off of fewer than `min_cluster_size` points is points that
leave the cluster, a split in two such large parts is two new clusters (Campello et al. 2013; McInnes and Healy 2017).
Density is told as lambda, one over the distance.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf

from memcli.record import Record

_Merge = tuple[int, int, float, int]
"""Of a node of the tree: its two parts, their distance, and how many points it has. Points come before all nodes."""


class Condensed(Record, frozen=False):
    """The condensed tree: clusters by number, each after its parent, the first with all points and parent -1.

    `births[c]` is the lambda at which cluster c came to be, `left[c]` the points that leave it before it ends or splits,
    each with its lambda; `deaths[c]` is the largest lambda that anything leaves it at.
    """

    parents: list[int]
    births: list[float]
    sizes: list[int]
    left: list[list[tuple[float, int]]]
    deaths: list[float]

    def add(self, parent: int, birth: float, size: int) -> int:
        """A new cluster; returns its number."""
        self.parents.append(parent)
        self.births.append(birth)
        self.sizes.append(size)
        self.left.append([])
        self.deaths.append(0.0)
        return len(self.parents) - 1


def condense(order: Sequence[int], heights: Sequence[float], min_cluster_size: int) -> Condensed:
    """The condensed tree of a spanning path (see `spanning.Path`). Equal heights are joined from the first of the path on."""
    tree = Condensed([], [], [], [], [])
    size = len(order)
    merges = _single_linkage(order, heights)
    waiting = deque([(2 * size - 2, tree.add(-1, 0.0, size))])
    while waiting:
        node, cluster = waiting.popleft()
        if node < size:
            continue  # a space of one point
        first, second, distance, _ = merges[node - size]
        density = 1.0 / distance if distance > 0 else inf
        tree.deaths[cluster] = density
        sizes = [1 if part < size else merges[part - size][3] for part in (first, second)]
        is_split = min(sizes) >= min_cluster_size
        for part, count in zip((first, second), sizes, strict=True):
            if count < min_cluster_size:
                tree.left[cluster] += [(density, point) for point in _points(merges, part, size)]
            else:
                waiting.append((part, tree.add(cluster, density, count) if is_split else cluster))
    return tree


def chosen(tree: Condensed, max_cluster_size: int | None = None) -> list[int]:
    """For each cluster the one of the largest excess of mass that it is in, itself or one above; -1 for none.

    A cluster is chosen over those within it unless it is too large, or their stability is larger in sum; the one of all
    points never is.
    """
    stabilities = _stabilities(tree)
    is_chosen = [True] * len(stabilities)
    within = [0.0] * len(stabilities)
    for cluster in range(len(stabilities) - 1, 0, -1):
        is_too_large = max_cluster_size is not None and tree.sizes[cluster] > max_cluster_size
        if within[cluster] > stabilities[cluster] or is_too_large:
            is_chosen[cluster] = False
            stabilities[cluster] = within[cluster]
        within[tree.parents[cluster]] += stabilities[cluster]
    top = [-1]
    for cluster in range(1, len(stabilities)):
        above = top[tree.parents[cluster]]
        top.append(above if above >= 0 else cluster if is_chosen[cluster] else -1)
    return top


def _stabilities(tree: Condensed) -> list[float]:
    """How much longer than its birth each cluster lasts, summed over its points."""
    sums = [0.0] * len(tree.parents)
    for cluster, birth in enumerate(tree.births):
        for density, _ in tree.left[cluster]:
            sums[cluster] += density - birth
        if cluster:
            parent = tree.parents[cluster]
            sums[parent] += (birth - tree.births[parent]) * tree.sizes[cluster]
    return sums


def _single_linkage(order: Sequence[int], heights: Sequence[float]) -> list[_Merge]:
    size = len(order)
    above = list(range(2 * size - 1))
    counts = [1] * size
    merges: list[_Merge] = []

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    for n in sorted(range(len(heights)), key=heights.__getitem__):
        first, second = top(order[n]), top(order[n + 1])
        new = size + len(merges)
        above[first] = above[second] = new
        counts.append(counts[first] + counts[second])
        merges.append((first, second, heights[n], counts[new]))
    return merges


def _points(merges: Sequence[_Merge], node: int, size: int) -> list[int]:
    found, waiting = [], [node]
    while waiting:
        part = waiting.pop()
        if part < size:
            found.append(part)
        else:
            waiting.extend(merges[part - size][:2])
    return found
