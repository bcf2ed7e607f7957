"""Excerpts: the whole sentences, list items, table rows or lines of code in a text that have the words of a question."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from memcli.model.analysis import terms
from memcli.model.characters import character_end
from memcli.model.pieces import cut
from memcli.regex import regex

_LONGEST = 900
"""A longer sentence or line is cut."""
_OWN_LINE = regex(r"\s{4,}|\t|\s*(?:[-*+>|#@]|\d+[.)]\s|```|~~~)")
_WORD = regex(r"\S+")
_FENCE = regex(r"\s*(?:```|~~~)")


class _Unit(NamedTuple):
    text: str
    is_line: bool
    """Whether it stands on a line of its own."""


def best_sentence(text: str, wanted: frozenset[str]) -> str:
    """The sentence or line of `text` that has most of the terms `wanted`, of equals the first."""
    units = list(_units(text))
    return units[_best(units, wanted)].text if units else ""


def excerpt(text: str, wanted: frozenset[str], size: int) -> str:
    """The best sentence with as many whole ones behind and before it as `size` characters hold."""
    units = list(_units(text))
    if not units:
        return ""
    first = last = _best(units, wanted)
    room = size - len(units[first].text)
    while last + 1 < len(units) and len(units[last + 1].text) < room:
        last += 1
        room -= len(units[last].text) + 1
    while first > 0 and len(units[first - 1].text) < room:
        first -= 1
        room -= len(units[first].text) + 1
    return _joined(units[first : last + 1])


def within(text: str, wanted: frozenset[str], size: int) -> str:
    """`text` if it has at most `size` characters, else an excerpt of no more, cut at a word if no sentence is that short."""
    return text if len(text) <= size else _shortened(excerpt(text, wanted, size), wanted, size)


def _shortened(text: str, wanted: frozenset[str], size: int) -> str:
    """The words in a row that have most of the terms `wanted`, with `…` for what is left out: the first words of the text, or
    else, as what answers may stand on either side of a term, the middle one of the rows that are as good."""
    if len(text) <= size:
        return text
    words = list(_WORD.finditer(text))
    known = [wanted.intersection(terms(word[0])) for word in words]
    rows: dict[int, list[str]] = {}
    for n, word in enumerate(words if wanted else words[:1]):
        start, last = word.start(), n - 1
        room = size - 1 - (n > 0)
        while last + 1 < len(words) and words[last + 1].end() - start <= room:
            last += 1
        end = words[last].end() if last >= n else character_end(text, start + room, start)
        row = f"{'…' if n else ''}{text[start:end]}{'…' if end < len(text) else ''}"
        rows.setdefault(len(frozenset().union(*known[n : last + 1])), []).append(row)
    best = rows.get(max(rows, default=0), [""])
    return best[0] if not best[0].startswith("…") else best[len(best) // 2]


def _best(units: list[_Unit], wanted: frozenset[str]) -> int:
    shared = [len(wanted.intersection(terms(unit.text))) for unit in units]
    return shared.index(max(shared))


def _joined(units: list[_Unit]) -> str:
    text = units[0].text
    for before, unit in pairwise(units):
        text += ("\n" if before.is_line or unit.is_line else " ") + unit.text
    return text


def _units(text: str) -> Iterator[_Unit]:
    """The sentences of prose, whose lines may be wrapped, and all other lines, in order."""
    prose: list[str] = []
    is_code = False
    for line in text.splitlines():
        is_fence = bool(_FENCE.match(line))
        if line.strip() and not (is_code or is_fence or _OWN_LINE.match(line)):
            prose.append(line.strip())
            continue
        yield from _sentences(prose)
        prose = []
        is_code ^= is_fence
        if line.strip() and not is_fence:
            yield _Unit(_bounded(line.rstrip()), is_line=True)
    yield from _sentences(prose)


def _sentences(prose: list[str]) -> Iterator[_Unit]:
    for sentence in cut(" ".join(prose)):
        yield _Unit(_bounded(sentence), is_line=False)


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: character_end(text, _LONGEST)].rstrip() + "…"
