"""Links of a memory to others: which are one and the same, and those that memcli made by itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from memcli.model.memory import Json, Memory

CONTRADICTS = "contradicts"
CHECK = "check"
"""What `by` says of a link that the check of a new memory made."""


def link_key(link: Mapping[str, Json]) -> Hashable:
    """Equal for links that are one."""
    return link["to"], link["relation"]


def union(
    first: Iterable[Any], second: Iterable[Any], key: Callable[[Any], Hashable] = lambda item: item
) -> tuple[Any, ...]:
    """The items of both, of those that have one key the first."""
    merged: dict[Hashable, Any] = {}
    for item in (*first, *second):
        merged.setdefault(key(item), item)
    return tuple(merged.values())


def is_found(link: Mapping[str, Json]) -> bool:
    """Whether the check made the link, so that it goes when the texts no longer contradict each other."""
    return is_contradiction(link) and link.get("by") == CHECK


def contradicted(memory: Memory) -> list[str]:
    """The ids of the memories that it contradicts."""
    return [link["to"] for link in memory.links if is_contradiction(link)]


def is_contradiction(link: Json) -> bool:
    """Whether it is such a link; a hand may have put anything in the place of one."""
    return isinstance(link, Mapping) and link.get("relation") == CONTRADICTS and isinstance(link.get("to"), str)
