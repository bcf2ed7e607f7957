"""What a source no longer has: memories at places that it has told all of, and that it did not tell again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memcli.model.memory import Json, Memory
from memcli.model.shapes import OBSERVED
from memcli.ports import Shelf
from memcli.record import replace

Place = Mapping[str, Json]
"""`under` a path, the observed memories of the file `source`, of the `group`; where one is not named, of any file and
of no group."""


def outdated(shelf: Shelf, places: Sequence[Place], told: Collection[str], now: str) -> list[Memory]:
    """The memories at `places` whose paths and ids are not among those `told`, deactivated: marked, not lost."""
    if not places:
        return []
    by_root: dict[str, list[Place]] = {}
    for place in places:
        by_root.setdefault(place["under"], []).append(place)
    return [
        replace(memory, active=False, updated_at=now, version=memory.version + 1)
        for memory in shelf.under(*by_root)
        if memory.active
        and memory.path not in told
        and memory.id not in told
        and any(_is_of(memory, place) for root in _roots(memory.path) for place in by_root.get(root, ()))
    ]


def is_of_source(memory: Memory, given: Mapping[str, Json]) -> bool:
    """Whether the memory was read from where `given` was; what is read from a file replaces nothing else."""
    source = given.get("provenance", {}).get("source")
    if memory.provenance.get("source") != source:
        return False
    return source != OBSERVED or bool(memory.metadata.get("source") == given["metadata"].get("source"))


def _roots(path: str) -> list[str]:
    segments = path.split("/")
    return ["/".join(segments[:n]) for n in range(1, len(segments) + 1)]


def _is_of(memory: Memory, place: Place) -> bool:
    fields = memory.metadata
    return (
        memory.provenance.get("source") == OBSERVED
        and fields.get("group") == place.get("group")
        and fields.get("source") == place.get("source", fields.get("source"))
    )
