"""Clusters of the memories of a space by their vectors, kept in its index until the space changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memcli.graph.elements import cluster_id, names
from memcli.model.recall import Cluster, Clusters

if TYPE_CHECKING:
    from memcli.index.meaning import Meaning
    from memcli.index.tables import SpaceTables


MOST = 20_000
"""Memories; time grows with their square, and these take some 20 seconds."""
MIN_CLUSTER_SIZE, MIN_SAMPLES = 4, 2
"""Chosen on spaces of a talk and of a library's changes: with 5 samples, three of four memories are in no cluster."""
_LARGEST, _LARGEST_SHARE = 20, 0.1
"""A cluster of more members than either says nothing of them: without this, one in the talk had 88 % of all memories."""
_NAMED_BY = 24
"""A name is made of so many of the firmest members: it bounds how many memories are read."""


def known_clusters(tables: SpaceTables, model: str) -> Clusters | None:
    """The clusters that were found in this version of the space with this model; None when none were looked for."""
    for (data,) in tables.select(
        "SELECT data FROM clusters WHERE model = ? AND fingerprint = ?", model, tables.fingerprint
    ):
        return Clusters(
            tuple(
                Cluster(one["id"], one["name"], tuple(one["ids"]), tuple(one["strengths"])) for one in json.loads(data)
            )
        )
    return None


def find_clusters(tables: SpaceTables, meaning: Meaning, model: str) -> Clusters:
    """The clusters of the memories that are neither forgotten nor superseded, which are stored for the next time.

    Raises ProviderError, CorruptError.
    """
    ((count,),) = tables.select("SELECT count(*) FROM memory WHERE NOT hidden")
    if count > MOST:
        return Clusters(reason=f"clusters are found among at most {MOST} memories, not {count}")
    ids: dict[int, str] = dict(tables.select("SELECT row, id FROM memory WHERE NOT hidden"))
    means = meaning.means(ids)
    if means is None:
        return Clusters(reason="vectors are missing; `memcli store index embed` computes them")
    groups = _groups(*means, ids)
    found = []
    members_of_name = [tables.fetch([row for row, _ in group[:_NAMED_BY]]) for group in groups]
    for group, name in zip(groups, names(members_of_name), strict=True):
        members = tuple(ids[row] for row, _ in group)
        found.append(Cluster(cluster_id(members), name, members, tuple(strength for _, strength in group)))
    fields = [{"id": one.id, "name": one.name, "ids": one.ids, "strengths": one.strengths} for one in found]
    tables.keep_clusters(model, json.dumps(fields))
    return Clusters(tuple(found))


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
