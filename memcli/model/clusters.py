"""Clusters of memories that are near in meaning."""

from __future__ import annotations

from memcli.record import Record


class Cluster(Record):
    """Memories that are near in meaning: their ids, the firmest first, and how firmly each belongs (0..1)."""

    id: str
    name: str
    ids: tuple[str, ...]
    strengths: tuple[float, ...]


class Clusters(Record):
    """The clusters of a space, the largest first; `reason` says why there are none to tell of, where that is not because
    no memories are near enough."""

    found: tuple[Cluster, ...] = ()
    reason: str = ""
