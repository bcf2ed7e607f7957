"""HDBSCAN finds what `sklearn.cluster.HDBSCAN` finds, and depends on nothing but the vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memcli.graph.hdbscan import hdbscan, spanning_path
from tests.conftest import slow_but

Points = np.ndarray[Any, Any]
Labels = tuple[list[int], list[float]]

FINE = 1e5
"""Whole numbers so fine that hardly two distances are equal."""
PARAMETERS = [(5, None), (10, 3), (15, 1), (3, 2)]


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def whole(points: Any, scale: float = FINE) -> Points:
    return np.rint(np.asarray(points) * scale)


def blobs(count: int, dimensions: int, centers: int, spread: float, seed: int) -> Points:
    rng = random(seed)
    middles = rng.uniform(-10, 10, (centers, dimensions))
    return middles[rng.integers(centers, size=count)] + spread * rng.normal(size=(count, dimensions))


def ring(count: int, radius: float, noise: float, seed: int) -> Points:
    rng = random(seed)
    angle = rng.uniform(0, 2 * np.pi, count)
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1) + noise * rng.normal(size=(count, 2))


def moons() -> Points:
    rng = random(11)
    angle = rng.uniform(0, np.pi, 400)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lower = np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], axis=1)
    return np.where(np.arange(400)[:, None] % 2, upper, lower) + 0.06 * rng.normal(size=(400, 2))


def embedded(count: int, dimensions: int, centers: int, spread: float, seed: int) -> Points:
    """As vectors of memories are: of one length, in small whole numbers."""
    points = blobs(count, dimensions, centers, 5 * spread, seed)
    return whole(points / np.linalg.norm(points, axis=1, keepdims=True), 2000)


SETS: dict[str, Callable[[], Points]] = {
    "blobs of 3 dimensions": lambda: whole(blobs(500, 3, 6, 1.5, 2)),
    "blobs of 10 dimensions": lambda: whole(blobs(400, 10, 5, 2.0, 3)),
    "blobs of 3 densities": lambda: whole(np.concatenate([blobs(100, 2, 1, s, n) for n, s in enumerate((0.1, 1, 3))])),
    "blobs in noise": lambda: whole(np.concatenate([blobs(300, 2, 3, 0.5, 6), random(6).uniform(-20, 20, (80, 2))])),
    "moons": lambda: whole(moons()),
    "rings": lambda: whole(np.concatenate([ring(200, 1, 0.03, 7), ring(200, 2, 0.03, 8)])),
    "noise of 20 dimensions": lambda: whole(random(10).uniform(size=(300, 20))),
    "one cluster and two points": lambda: whole(
        np.concatenate([random(13).normal(size=(98, 2)), [[50, 50], [-60, 9]]])
    ),
    "points twice and three times": lambda: np.concatenate([p := whole(blobs(150, 2, 3, 1.0, 14)), p[:60], p[:30]]),
    "equal points": lambda: np.ones((30, 4)),
    "a grid": lambda: np.array([[x, y] for x in range(20) for y in range(20)], float),
    "a coarse grid of blobs": lambda: whole(blobs(400, 2, 4, 1.0, 15), 2),
    "5 points": lambda: whole(random(16).normal(size=(5, 2))),
    "twice 5 points": lambda: whole(
        np.concatenate([random(18).normal(size=(5, 3)), 50 + random(19).normal(size=(5, 3))])
    ),
    "vectors of 384 dimensions": lambda: embedded(300, 384, 12, 0.8, 20),
    "vectors of blurred topics": lambda: embedded(300, 384, 5, 2.5, 22),
    "vectors of 64 dimensions": lambda: embedded(500, 64, 20, 0.7, 23),
}


QUICK = (
    "blobs of 3 dimensions", "blobs of 3 densities", "blobs in noise", "moons", "points twice and three times", "equal points",
    "a coarse grid of blobs", "5 points", "one cluster and two points", "vectors of 64 dimensions",
)  # fmt: skip
sets = pytest.mark.parametrize("name", slow_but(QUICK, SETS))


def agree(one: Labels, other: Labels) -> bool:
    """Whether two results have the same clusters, whatever their numbers, and equal strengths."""
    pairs = set(zip(one[0], other[0], strict=True)) | {(-1, -1)}
    is_renaming = len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    return is_renaming and bool(np.allclose(one[1], other[1], rtol=0, atol=1e-6))


def reference(
    points: Points, size: int, samples: int | None, algorithm: str = "brute", largest: int | None = None
) -> Labels:
    cluster = pytest.importorskip("sklearn.cluster", reason="scikit-learn, of the extra `dev`, is not installed")
    made = cluster.HDBSCAN(size, min_samples=samples, algorithm=algorithm, max_cluster_size=largest, copy=True)
    found = made.fit(points)
    return found.labels_.tolist(), found.probabilities_.tolist()


@pytest.fixture
def sorted_stably(monkeypatch: pytest.MonkeyPatch) -> None:
    """scikit-learn sorts the edges of the spanning tree by a sort that is not stable, so equal edges come in an order that
    depends on the version of numpy and on the processor; here they keep the order in which they were found."""
    module = pytest.importorskip("sklearn.cluster._hdbscan.hdbscan", reason="scikit-learn is not installed")
    linkage = pytest.importorskip("sklearn.cluster._hdbscan._linkage", reason="scikit-learn is not installed")

    def stable(tree: Any) -> Any:
        return linkage.make_single_linkage(tree[np.argsort(tree["distance"], kind="stable")])

    monkeypatch.setattr(module, "_process_mst", stable)


@pytest.mark.usefixtures("sorted_stably")
@pytest.mark.parametrize("algorithm", slow_but(("brute",), ["brute", "kd_tree"]))
@sets
def test_the_same_clusters_as_scikit_learn(name: str, algorithm: str) -> None:
    points = SETS[name]()
    for size, samples in PARAMETERS:
        if (samples or size) <= len(points):
            assert agree(hdbscan(points, size, samples), reference(points, size, samples, algorithm)), (size, samples)


@pytest.mark.usefixtures("sorted_stably")
@sets
def test_the_same_clusters_where_their_size_is_bounded(name: str) -> None:
    points = SETS[name]()
    for size, samples, largest in ((3, 2, 20), (4, 2, len(points) // 4)):
        expected = reference(points, size, samples, largest=largest)
        assert agree(hdbscan(points, size, samples, largest), expected), (size, samples, largest)


def test_two_groups_and_a_point_apart() -> None:
    groups = [[x, y] for x in (0, 100) for y in range(6)]
    clusters, strengths = hdbscan(np.array([*groups, [50, 400]], float))
    assert clusters in ([0] * 6 + [1] * 6 + [-1], [1] * 6 + [0] * 6 + [-1])
    assert strengths[-1] == 0
    assert all(strength > 0 for strength in strengths[:-1])


def test_too_few_for_a_cluster_and_more_samples_than_points() -> None:
    for count in (0, 1, 2, 4):
        assert hdbscan(np.ones((count, 3))) == ([-1] * count, [0.0] * count)
    assert hdbscan(np.arange(6.0)[:, None], min_cluster_size=3, min_samples=50)[0] == [-1] * 6


def test_numbers_whose_squares_are_not_exact_are_refused() -> None:
    for points in (np.full((9, 2), 0.5), np.full((9, 2), 1e9), np.full((9, 2), np.nan)):
        with pytest.raises(ValueError, match="whole numbers"):
            hdbscan(points)


@pytest.mark.parametrize("name", ["noise of 20 dimensions", "vectors of 64 dimensions", "a coarse grid of blobs"])
def test_the_spanning_path_is_the_one_of_all_distances(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few edges are known from the beginning, and however few are computed together."""
    points = SETS[name]()
    expected = plain_path(points, 3)
    for nearest, at_once in ((1, 1), (4, 7), (64, 256)):
        monkeypatch.setattr("memcli.graph.hdbscan._NEAREST", nearest)
        monkeypatch.setattr("memcli.graph.hdbscan._AT_ONCE", at_once)
        assert spanning_path(points, 3) == expected


def plain_path(points: Points, samples: int) -> tuple[list[int], list[float]]:
    squares = np.array([((points - point) ** 2).sum(axis=1) for point in points])
    core = np.sort(squares, axis=1)[:, samples - 1]
    weights = np.maximum(squares, np.maximum(core[:, None], core[None]))
    order, heights, reach = [0], [], np.full(len(points), np.inf)
    for _ in range(len(points) - 1):
        reach = np.minimum(reach, weights[order[-1]])
        reach[order] = np.inf
        order.append(int(reach.argmin()))
        heights.append(float(np.sqrt(reach.min())))
    return order, heights
