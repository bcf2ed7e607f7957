"""Clusters of the memories of a space by their vectors, kept in its index until the space changes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memcli.graph.elements import cluster_id, names
from memcli.model.memory import Memory
from memcli.model.recall import Cluster, Clusters

if TYPE_CHECKING:
    from memcli.index.meaning import Meaning


MOST = 20_000
"""Memories; time grows with their square, and these take some 20 seconds."""
MIN_CLUSTER_SIZE, MIN_SAMPLES = 4, 2
"""Chosen on spaces of a talk and of a library's changes: with 5 samples, three of four memories are in no cluster."""
_LARGEST, _LARGEST_SHARE = 20, 0.1
"""A cluster of more members than either says nothing of them: without this, one in the talk had 88 % of all memories."""
_NAMED_BY = 24
"""A name is made of so many of the firmest members: it bounds how many memories are read."""


def find(rows: Any, means: Any, ids: Mapping[int, str], fetch: Callable[[Sequence[int]], list[Memory]]) -> Clusters:
    """The clusters of these rows, whose ids `ids` has, by the mean directions of their passages."""
    return Clusters(tuple(_named(_groups(rows, means, ids), ids, fetch)))


def to_json(found: Clusters) -> str:
    """As `from_json` reads it."""
    return json.dumps(
        [{"id": one.id, "name": one.name, "ids": one.ids, "strengths": one.strengths} for one in found.found]
    )


def from_json(text: str) -> Clusters:
    """Clusters that were kept."""
    return Clusters(
        tuple(Cluster(one["id"], one["name"], tuple(one["ids"]), tuple(one["strengths"])) for one in json.loads(text))
    )


def _groups(rows: Any, means: Any, ids: Mapping[int, str]) -> list[list[tuple[int, float]]]:
    """The rows of each cluster with their strengths, the firmest first; the largest cluster first."""
    from memcli.graph.hdbscan import hdbscan

    by_id = sorted(range(len(rows)), key=lambda n: ids[int(rows[n])])  # rows depend on what was indexed first
    largest = max(_LARGEST, int(_LARGEST_SHARE * len(rows)))
    labels = hdbscan(means[by_id], MIN_CLUSTER_SIZE, MIN_SAMPLES, largest)
    groups: dict[int, list[tuple[int, float]]] = {}
    for n, label, strength in zip(by_id, labels.clusters, labels.strengths, strict=True):
        if label >= 0:
            groups.setdefault(label, []).append((int(rows[n]), round(strength, 6)))
    firmest = [sorted(group, key=lambda member: (-member[1], ids[member[0]])) for group in groups.values()]
    return sorted(firmest, key=lambda group: (-len(group), ids[group[0][0]]))


def _named(
    groups: Sequence[Sequence[tuple[int, float]]],
    ids: Mapping[int, str],
    fetch: Callable[[Sequence[int]], list[Memory]],
) -> list[Cluster]:
    told = names([fetch([row for row, _ in group[:_NAMED_BY]]) for group in groups])
    found = []
    for group, name in zip(groups, told, strict=True):
        members = tuple(ids[row] for row, _ in group)
        found.append(Cluster(cluster_id(members), name, members, tuple(strength for _, strength in group)))
    return found


_FINGERPRINT = "SELECT value FROM meta WHERE key = 'fingerprint'"


def kept_clusters(db: sqlite3.Connection, model: str) -> Clusters | None:
    """The clusters that were found in this state of the space with this model; None when none were looked for."""
    stored = db.execute(f"SELECT data FROM clusters WHERE model = ? AND fingerprint = ({_FINGERPRINT})", (model,))
    row = stored.fetchone()
    return None if row is None else from_json(row[0])


def find_clusters(
    db: sqlite3.Connection, meaning: Meaning, model: str, fetch: Callable[[Sequence[int]], list[Memory]]
) -> Clusters:
    """The clusters of the memories that are neither forgotten nor superseded. Raises ProviderError, CorruptError."""
    before = db.execute(_FINGERPRINT).fetchone()
    rows = dict(db.execute("SELECT row, id FROM memory WHERE NOT hidden"))
    if len(rows) > MOST:
        return Clusters(reason=f"clusters are found among at most {MOST} memories, not {len(rows)}")
    means = meaning.means(rows)
    if means is None:
        return Clusters(reason="vectors are missing; `memcli store index embed` computes them")
    found = find(*means, rows, fetch)
    with suppress(sqlite3.Error):  # a cache that cannot be written is done without
        db.execute(
            f"INSERT OR REPLACE INTO clusters SELECT ?, ?, ? WHERE ? = ({_FINGERPRINT})",
            (model, *before, to_json(found), *before),
        )
    return found
