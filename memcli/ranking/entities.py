"""The graph of entities: what memories name, which memories name it, and how rare it is.

An entity is a name that several memories may share: a part of a path, a tag, a source, a speaker, a group, an
identifier in a summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from memcli.model.analysis import terms
from memcli.model.recall import Entry
from memcli.ranking.lexical import idf

RARE = 30
"""An entity that no more memories than this name ties them together; one with more says little of any of them."""

_STEM = 3  # letters that a part of an identifier keeps, however it is stemmed


class Entities:
    """Memories and entities, and which name which."""

    def __init__(self, named: Mapping[int, Iterable[str]]) -> None:
        self._of = {row: tuple(sorted(set(names))) for row, names in named.items()}
        self._rows: dict[str, list[int]] = {}
        for row, names in self._of.items():
            for name in names:
                self._rows.setdefault(name, []).append(row)

    def of(self, row: int) -> tuple[str, ...]:
        """The entities that a memory names, sorted."""
        return self._of.get(row, ())

    def rows(self, name: str) -> Sequence[int]:
        """The memories that name an entity."""
        return self._rows.get(name, ())

    def rarity(self, name: str) -> float:
        """From 0, named by all, to 1, named by one of very many."""
        most = idf(len(self._of), 1)
        return idf(len(self._of), len(self.rows(name))) / most if most else 0.0

    def is_tie(self, name: str) -> bool:
        """Whether the entity is shared, and rare enough to mean something."""
        return 1 < len(self.rows(name)) <= RARE

    def overlap(self, row: int, wanted: Mapping[str, float]) -> float:
        """How much the entities of a memory and the weighed ones of `wanted` have in common, by rarity."""
        return sum(self.rarity(name) * wanted[name] for name in self.of(row) if name in wanted)

    def spread(self, energy: Mapping[int, float]) -> dict[int, float]:
        """One step of spreading activation over ties (F. Crestani, 1997): what each memory gets from the others.

        An entity is as active as the most active memory that names it, and hands on as much of that as it is rare;
        it gives nothing back to the one memory that it has it from.
        """
        ties = sorted({name for row in energy for name in self.of(row) if self.is_tie(name)})
        gained: dict[int, float] = {}
        for name in ties:
            given = sorted((energy.get(row, 0.0) for row in self.rows(name)), reverse=True)[:2]
            for row in self.rows(name):
                active = given[1] if energy.get(row, 0.0) == given[0] else given[0]
                gained[row] = max(gained.get(row, 0.0), self.rarity(name) * active)
        return {row: gain for row, gain in gained.items() if gain}


def entities_of(entry: Entry, known: tuple[tuple[str, ...], ...]) -> set[str]:
    """The entities of a memory; `known` are the terms of its path, tags, source and summary."""
    path, tags, source, summary = known
    names = {*path, *tags, *source, *terms(entry.speaker), *identifiers(summary)}
    if source:
        names.add(f"source:{' '.join(source)}")
    if entry.group:
        names.add(f"group:{entry.group}")
    return names


def identifiers(words: Sequence[str]) -> Iterator[str]:
    """Those of a text's terms that are names in code: with an underscore or a digit, or followed by their parts."""
    for n, word in enumerate(words):
        if not word.isalpha():
            if not word.isdigit():
                yield word
            continue
        first, second = (*(after[:_STEM] for after in words[n + 1 : n + 3]), "", "")[:2]
        if second and word.startswith(first) and word.find(second, len(first)) > 0:
            yield word
