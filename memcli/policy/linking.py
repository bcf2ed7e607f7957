"""Linking: what a link between two memories makes of each, and what is left of it when it is taken away again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memcli.model.memory import Json, Memory
from memcli.model.references import SUPERSEDES
from memcli.model.shapes import RELATIONS
from memcli.record import replace

CONTRADICTS = "contradicts"


def with_link(memory: Memory, to: str, relation: str, weight: float | None, now: str) -> Memory:
    """The memory with one link of this relation to `to`: a link that is there keeps its date and, without `weight`, its
    weight."""
    place = (to, relation)
    links = []
    for link in memory.links:
        is_it = (link["to"], link["relation"]) == place
        links.append({**link, "weight": weight} if is_it and weight is not None else link)
    if not linked(memory, to, [relation]):
        links.append({"to": to, "relation": relation, "weight": 1.0 if weight is None else weight, "created_at": now})
    return memory if tuple(links) == memory.links else replace(memory, links=tuple(links))


def without_links(memory: Memory, to: str, relations: Collection[str]) -> Memory:
    """The memory without its links of these relations to `to`."""
    gone = linked(memory, to, relations)
    return replace(memory, links=tuple(link for link in memory.links if link not in gone)) if gone else memory


def linked(memory: Memory, to: str, relations: Collection[str] = RELATIONS) -> list[Mapping[str, Json]]:
    """The links of these relations from the memory to `to`."""
    return [link for link in memory.links if link["to"] == to and link["relation"] in relations]


def superseded(old: Memory, by: str, now: str) -> Memory:
    """`old`, in whose place the memory `by` holds from now on."""
    return replace(old, superseded_by=by, valid_until=max(min(old.valid_until or now, now), old.valid_from or ""))


def released(old: Memory, by: str, since: Collection[str], others: Sequence[tuple[str, str]]) -> Memory:
    """`old`, which the memory `by` supersedes no longer: it did since the times `since`.

    The last of `others`, by since when and by id, supersedes it now; without any it is current again, also where only
    the supersession ended it.
    """
    if old.superseded_by != by:
        return old
    fields: dict[str, Any] = {"superseded_by": max(others)[1] if others else None}
    if not others and old.valid_until in since:
        fields["valid_until"] = None
    return replace(old, **fields)


def superseders(objects: Collection[Memory], old: str, but: str) -> list[tuple[str, str]]:
    """Which memories but one link to `old` as superseded: since when, and their ids."""
    return [
        (str(link.get("created_at", "")), memory.id)
        for memory in objects
        if memory.id != but
        for link in linked(memory, old, [SUPERSEDES])
    ]
