"""What contradicts the memories of a bundle: no side of a contradiction is shown without naming the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from memcli.app.choice import SearchedSpace
from memcli.model.links import contradicted, is_contradiction
from memcli.model.memory import Memory
from memcli.model.opposed import Opposed
from memcli.model.recall import Query, Section
from memcli.model.references import elsewhere
from memcli.record import replace
from memcli.safety.injection.screening import inspect

_Side: TypeAlias = tuple[str, str]
"""A memory by the name of its space in the bundle, and its id."""

_MOST = 3
"""So many memories are named beside one that they contradict."""


def with_opposed(query: Query, sections: Sequence[Section], places: Sequence[SearchedSpace]) -> tuple[Section, ...]:
    """The sections with what contradicts them, in any of the spaces that are asked, and holds at the time of the query. Of
    two that contradict each other, the one that says that it holds comes first."""
    pairs = _pairs(sections, places)
    if not pairs:
        return tuple(sections)
    others: dict[_Side, Memory] = {}
    for place in places:
        wanted = sorted({name for sides in pairs.values() for space, name in sides if space == place.name})
        if wanted:
            others.update({(place.name, name): memory for name, memory in _read(query, place, wanted).items()})
    found = [
        replace(one, opposed=tuple(sorted(_opposed(one.memory, sides, others), key=lambda o: o.holds)))
        if (sides := pairs.get((one.space, one.memory.id)))
        else one
        for one in sections
    ]
    return tuple(_reordered(found))


def _pairs(sections: Sequence[Section], places: Sequence[SearchedSpace]) -> dict[_Side, list[_Side]]:
    """What each of the sections contradicts. A link to another space may be told from one end alone."""
    found: dict[_Side, dict[_Side, None]] = {}
    by_name = {place.name: place for place in places}
    for section in sections:
        own = (section.space, section.memory.id)
        for name in contradicted(section.memory) if section.space in by_name else ():
            other = _side(name, by_name[section.space], by_name)
            found.setdefault(own, {})[other] = None
            if other[0] != own[0]:
                found.setdefault(other, {})[own] = None
    return {own: list(sides) for own, sides in found.items()}


def _side(name: str, place: SearchedSpace, by_name: Mapping[str, SearchedSpace]) -> _Side:
    """The memory that a link of a place leads to: in another space of the same store, if that is asked."""
    if (there := elsewhere(name)) is not None:
        other = place.name.removesuffix(place.space) + there[0]
        if other in by_name:
            return other, there[1]
    return place.name, name


def _read(query: Query, place: SearchedSpace, names: Sequence[str]) -> Mapping[str, Memory]:
    """The memories of these ids that are active and valid."""
    asked = Query(topic="", now=query.now, at=query.at, ids=tuple(names))
    rows = place.view.visible(asked).only or frozenset()
    read = place.show(place.view.fetch(sorted(rows)))
    return {memory.id: memory for memory in read}


def _opposed(memory: Memory, sides: Sequence[_Side], others: Mapping[_Side, Memory]) -> Iterator[Opposed]:
    for other in [others[side] for side in sides[:_MOST] if side in others]:
        # What is withheld because of what it says is not told here either.
        text = "" if inspect(other) is not None else other.summary_micro
        holds = 1 if _holds_over(memory, other) else -1 if _holds_over(other, memory) else 0
        yield Opposed(other.id, other.path, other.created_at[:10], text, holds)


def _holds_over(one: Memory, other: Memory) -> bool:
    return any(is_contradiction(link) and link["to"] == other.id and link.get("holds") for link in one.links)


def _reordered(sections: Sequence[Section]) -> list[Section]:
    """The sections, with the memory that holds before the one that it contradicts where both are leads, or neither."""
    found = list(sections)
    for section in sections:
        for one in section.opposed:
            places = {each.memory.id: n for n, each in enumerate(found) if each.space == section.space}
            mine, theirs = places[section.memory.id], places.get(one.id, -1)
            if one.holds < 0 and theirs > mine and found[theirs].is_lead == section.is_lead:
                found.insert(mine, found.pop(theirs))
    return found
