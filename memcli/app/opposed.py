"""What contradicts the memories of a bundle: no side of a contradiction is shown without naming the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memcli.app.choice import Place
from memcli.model.links import contradicted, is_contradiction
from memcli.model.memory import Memory
from memcli.model.opposed import Opposed
from memcli.model.recall import Query, Section
from memcli.record import replace
from memcli.safety.injection.screening import inspect

_MOST = 3
"""So many memories are named beside one that they contradict."""


def with_opposed(query: Query, sections: Sequence[Section], places: Sequence[Place]) -> tuple[Section, ...]:
    """The sections with what contradicts them and holds at the time of the query. Of two that contradict each other, the
    one that says that it holds comes first."""
    if not any(contradicted(section.memory) for section in sections):
        return tuple(sections)
    found = list(sections)
    for place in places:
        own = {section.memory.id for section in sections if section.space == place.name}
        wanted = sorted({name for s in sections if s.memory.id in own for name in contradicted(s.memory)})
        others = _read(query, place, wanted) if wanted else {}
        found = [
            replace(one, opposed=tuple(sorted(_opposed(one.memory, others), key=lambda o: o.holds)))
            if one.space == place.name
            else one
            for one in found
        ]
    return tuple(_reordered(found))


def _read(query: Query, place: Place, names: Sequence[str]) -> Mapping[str, Memory]:
    """The memories of these ids that are active and valid."""
    asked = Query(topic="", now=query.now, at=query.at, ids=tuple(names))
    rows = place.view.visible(asked).only or frozenset()
    read = place.show(place.view.fetch(sorted(rows)))
    return {memory.id: memory for memory in read}


def _opposed(memory: Memory, others: Mapping[str, Memory]) -> Iterator[Opposed]:
    for name in contradicted(memory)[:_MOST]:
        other = others.get(name)
        if other is None:
            continue
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
