"""HDBSCAN: clusters of any shape and density, and points that are in none.

R. J. G. B. Campello, D. Moulavi, J. Sander: "Density-Based Clustering Based on Hierarchical Density Estimates", 2013;
L. McInnes, J. Healy: "Accelerated Hierarchical Density Based Clustering", 2017. Labels and strengths are those of
`sklearn.cluster.HDBSCAN` with its defaults.
"""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Any

from memcli.graph.condensed import chosen, condense
from memcli.graph.spanning import spanning_path
from memcli.record import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Labels(Record):
    """The cluster of each vector, counted from 0, or -1 for none; and how firmly it is in it, from 0 to 1."""

    clusters: list[int]
    strengths: list[float]


def hdbscan(
    vectors: NDArray[Any],
    min_cluster_size: int = 5,
    min_samples: int | None = None,
    max_cluster_size: int | None = None,
) -> Labels:
    """Clusters the vectors, which hold whole numbers, by Euclidean distance.

    `min_cluster_size`: fewer points are no cluster (Campello et al. 2013, section 3; at least 2). `min_samples`: the
    nearest points, itself included, that tell how dense it is about a point; the more, the more points are in no cluster
    (the same, definition 1, as m_pts); as many as `min_cluster_size` unless given. `max_cluster_size`: more points are no cluster either, but those within it
    may be (not in the papers; as scikit-learn has it). Raises ValueError as `spanning_path`.
    """
    size = len(vectors)
    clusters, strengths = [-1] * size, [0.0] * size
    if size < max(2, min_cluster_size):
        return Labels(clusters, strengths)
    path = spanning_path(vectors, min_samples or min_cluster_size)
    tree = condense(path.order, path.heights, min_cluster_size)
    tops = chosen(tree, max_cluster_size)
    numbers = {cluster: n for n, cluster in enumerate(sorted(set(tops) - {-1}))}
    for left, top in zip(tree.left, tops, strict=True):
        for density, point in left:
            if top >= 0:
                clusters[point] = numbers[top]
                strengths[point] = _strength(density, tree.deaths[top])
    return Labels(clusters, strengths)


def _strength(density: float, death: float) -> float:
    return 1.0 if isinf(density) else min(density, death) / death
