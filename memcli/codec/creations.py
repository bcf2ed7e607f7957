"""Memories of one id that were made anew, so that they are no versions of one another: a merge keeps the newer as it is,
and what only the older has under `metadata.conflicts`, each note with the `created_at` of the memory that it comes from.
A purge of that memory reaches the notes by it, and never the newer one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memcli.codec.canonical import encode
from memcli.codec.memory import memory_to_json
from memcli.codec.merge_fields import FOLLOW_TEXT, MAPS, add_conflicts
from memcli.model.links import is_found
from memcli.model.memory import Json, Memory
from memcli.record import replace

_OF_ITS_OWN = frozenset(
    "id created_at updated_at version strength chunks metadata.hash metadata.pii_flags metadata.conflicts".split()
)
"""Fields that say nothing without the memory that they are of, and notes, which are taken over one by one."""


def merge_creations(base: Memory | None, first: Memory, second: Memory) -> tuple[Memory, list[str]]:
    """The newer of two memories of one id with notes of what the older one had that it has not, and the fields of these."""
    older, newer = sorted((first, second), key=lambda memory: memory.created_at)
    was = base if base is not None and base.created_at == older.created_at else None
    made = {"created_at": older.created_at, "updated_at": older.updated_at}
    notes = [{**made, "field": name, "value": value} for name, value in _given_up(was, newer, older)]
    known = older.metadata.get("conflicts", [])
    earlier = [
        {**made, **note} if isinstance(note, dict) else {**made, "field": "metadata.conflicts", "value": note}
        for note in (known if isinstance(known, list) else [known])
    ]
    if not (notes or earlier):
        return newer, []
    conflicts = add_conflicts(newer.metadata.get("conflicts", []), [*notes, *earlier])
    merged = replace(newer, metadata={**newer.metadata, "conflicts": conflicts})
    return merged, sorted({str(note["field"]) for note in notes})


def without_creations(memory: Memory, until: str) -> Memory:
    """The memory without the notes of memories that were made until then."""
    notes = memory.metadata.get("conflicts")
    if not isinstance(notes, list):
        return memory
    left = [note for note in notes if not (isinstance(note, dict) and "" < str(note.get("created_at", "")) <= until)]
    if len(left) == len(notes):
        return memory
    rest = {name: value for name, value in memory.metadata.items() if name != "conflicts"}
    return replace(memory, metadata={**rest, "conflicts": left} if left else rest)


def _given_up(base: Memory | None, newer: Memory, older: Memory) -> Iterator[tuple[str, Json]]:
    """The fields of the older memory, of which the newer one has other values, and the base others or none."""
    made_of_text = FOLLOW_TEXT if newer.raw != older.raw else ()
    known = {(name, encode(value)) for one in (newer, base) if one is not None for name, value in _flat(one)}
    for name, value in _flat(replace(older, links=tuple(link for link in older.links if not is_found(link)))):
        is_told = name not in _OF_ITS_OWN and name not in made_of_text and value not in _NOTHING
        if is_told and (name, encode(value)) not in known:
            yield name, list(value) if isinstance(value, tuple) else value


_NOTHING: tuple[Json, ...] = (None, "", (), [], {})


def _flat(memory: Memory) -> Iterator[tuple[str, Json]]:
    """The fields, those of maps by the names of both."""
    for name, value in memory_to_json(memory).items():
        if name in MAPS and isinstance(value, Mapping):
            yield from ((f"{name}.{key}", one) for key, one in value.items())
        else:
            yield name, value
