"""How long HDBSCAN takes and how much memory: `python bench/clusters.py`; see bench/README.md."""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

from markdown import section, table

from memcli.graph.hdbscan import hdbscan
from memcli.index.clusters import MIN_CLUSTER_SIZE, MIN_SAMPLES
from memcli.index.meaning import MEAN_LENGTH

_DIMENSIONS = 384
_AT_ONCE = 256
_PEER = 2000
"""Vectors for scikit-learn, which takes minutes for more."""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures how fast vectors are clustered.")
    parser.add_argument("--count", default=10_000, type=int, help="vectors [10000]")
    parser.add_argument("--runs", default=3, type=int, help="runs for each median [3]")
    options = parser.parse_args()
    rows = []
    for name, make in (("topics", topics), ("topics far apart", apart), ("noise", noise)):
        vectors = make(options.count)
        took = _median(lambda vectors=vectors: _clusters(vectors), options.runs)
        once = _median(lambda vectors=vectors: _products(vectors), options.runs)
        rows.append(
            (
                f"{options.count} vectors: {name}",
                f"{took:.1f} s",
                "10 s",
                f"{took / once:.1f} ×",
                f"{_peak()} MB",
            )
        )
    ours, theirs = (_median(lambda run=run: run(topics(_PEER)), options.runs) for run in (_clusters, _scikit_learn))
    rows.append((f"{_PEER} vectors: topics", f"{ours:.2f} s", "", "", f"scikit-learn: {theirs:.2f} s"))
    section("Clusters", table(("", "measured", "target", "over all products once", "peak memory of the process"), rows))


def topics(count: int) -> Any:
    """Vectors of overlapping topics in a space of few dimensions, as those of texts are."""
    import numpy as np

    rng = np.random.default_rng(1)
    topic = rng.normal(size=(count // 50, 20))[rng.integers(count // 50, size=count)]
    flat = topic + 0.6 * rng.normal(size=(count, 20))
    return _whole(flat @ rng.normal(size=(20, _DIMENSIONS)) + 0.5 * rng.normal(size=(count, _DIMENSIONS)))


def apart(count: int) -> Any:
    """Vectors of topics that have nothing in common."""
    import numpy as np

    rng = np.random.default_rng(2)
    topic = rng.normal(size=(count // 33, _DIMENSIONS))[rng.integers(count // 33, size=count)]
    return _whole(topic + rng.normal(size=(count, _DIMENSIONS)))


def noise(count: int) -> Any:
    """Vectors that have no topic."""
    import numpy as np

    return _whole(np.random.default_rng(3).normal(size=(count, _DIMENSIONS)))


def _whole(vectors: Any) -> Any:
    import numpy as np

    return np.rint(vectors * (MEAN_LENGTH / np.linalg.norm(vectors, axis=1, keepdims=True))).astype(np.float32)


def _clusters(vectors: Any) -> None:
    hdbscan(vectors, MIN_CLUSTER_SIZE, MIN_SAMPLES)


def _scikit_learn(vectors: Any) -> None:
    from sklearn.cluster import HDBSCAN

    HDBSCAN(MIN_CLUSTER_SIZE, min_samples=MIN_SAMPLES, copy=True).fit(vectors)


def _products(vectors: Any) -> None:
    for start in range(0, len(vectors), _AT_ONCE):
        vectors[start : start + _AT_ONCE] @ vectors.T


def _median(work: Callable[[], object], runs: int) -> float:
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
