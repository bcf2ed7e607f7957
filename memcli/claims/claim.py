"""The claim: what a text states, so that it can be compared with another.

Which of many texts are worth comparing: those that share their rarest terms.

Whether one text says what others said: each of their values, what they deny, and little that none of them says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import chain
from operator import add
from sys import intern

from memcli.claims.lexicon import GENERIC, NEWER
from memcli.claims.statement import Statement, statements_of
from memcli.claims.values import missing, values_of
from memcli.record import Record, replace
from memcli.regex import regex
from memcli.summarize.sentences import split
from memcli.text.words import simple_terms, terms

MOST_CHARACTERS = 4000
MOST_STATEMENTS = 12


class Claim(Record):
    """What a text claims. `is_newer`: it says that it takes the place of what held before. `is_whole`: `text` and
    `statements` are all of it, rather than its beginning."""

    statements: tuple[Statement, ...]
    is_newer: bool
    text: str
    is_whole: bool


@lru_cache(maxsize=1024)
def claim_of(text: str) -> Claim:
    """The claim of a text; without statements where there are none that could be compared."""
    begun = text[:MOST_CHARACTERS]
    found: list[Statement] = []
    sentences = split(begun, MOST_STATEMENTS + 1)
    for sentence in sentences[:MOST_STATEMENTS]:
        for one in statements_of(sentence.text):
            # `It runs every 5 minutes`: of what was spoken of before
            found.append(replace(one, terms=found[-1].terms) if found and not one.terms else one)
    low = begun.lower()
    is_whole = len(text) <= MOST_CHARACTERS and max(len(sentences), len(found)) <= MOST_STATEMENTS
    return Claim(tuple(found[:MOST_STATEMENTS]), any(mark in low for mark in NEWER), begun, is_whole)


def terms_of(text: str) -> tuple[str, ...]:
    """The distinct terms by which the neighbours of a text are found, sorted."""
    return tuple(sorted(map(intern, frozenset(simple_terms(text[:MOST_CHARACTERS])) - GENERIC)))


_RAREST = 6
_MOST_SHARING = 300
"""A term that more texts share finds none of them."""
_NEAREST = 8
_SHARE = 0.3


def neighbours(texts: Sequence[Collection[str]], wanted: Collection[int] | None = None) -> Iterator[tuple[int, int]]:
    """The places of two texts that share enough of their terms, the later one first; of which one is `wanted`, when that is
    given."""
    counts = Counter(chain.from_iterable(texts))
    weight = {term: math.log(1 + len(texts) / count) for term, count in counts.items()}
    totals = [sum(map(weight.__getitem__, own)) for own in texts]
    searched = _searched(texts, counts, weight, totals)
    asked = frozenset(chain.from_iterable(searched.values()))
    holding: dict[str, list[int]] = {term: [] for term in asked}  # earlier texts alone
    for place, own in enumerate(texts):
        shared: dict[int, float] = {}
        for term in searched.get(place, ()):
            for other in holding[term]:
                if wanted is None or place in wanted or other in wanted:
                    shared[other] = shared.get(other, 0.0) + weight[term]
        for term in asked.intersection(own):
            holding[term].append(place)
        if any(both >= _SHARE * min(totals[place], totals[other]) for other, both in shared.items()):
            best = sorted(shared, key=lambda other: (-shared[other] / (totals[other] or 1.0), other))[:_NEAREST]
            for other in best:
                if shared[other] >= _SHARE * min(totals[place], totals[other]):
                    yield place, other


def _searched(
    texts: Sequence[Collection[str]],
    counts: Mapping[str, int],
    weight: Mapping[str, float],
    totals: Sequence[float],
) -> dict[int, list[str]]:
    """The rarest terms of each text, by its place, but for those that cannot share enough with any other."""
    ranks = {term: n for n, term in enumerate(sorted(counts, key=lambda term: (counts[term], term)))}
    least: dict[str, float] = {}  # of each term the smallest total of a text that has it
    for place in sorted(range(len(texts)), key=totals.__getitem__, reverse=True):
        least.update(dict.fromkeys(texts[place], totals[place]))
    found: dict[int, list[str]] = {}
    for place, own in enumerate(texts):
        rarest = sorted(own, key=ranks.__getitem__)[:_RAREST]
        terms = [term for term in rarest if counts[term] <= _MOST_SHARING]
        if terms and reduce(add, map(weight.__getitem__, terms)) >= _SHARE * min(least[term] for term in terms):
            found[place] = terms
    return found


_NUMBER = regex(r"\d+(?:[.,:]\d+)*")
_LEAST_SHARE = 0.5
"""Of the words of each of the others, and of the words of the text itself."""


def lacking(text: str, said: Sequence[str]) -> str:
    """Why `text` cannot replace the texts `said`: the first number, denial, value or share of words that it lacks or adds.
    Empty if it can. Only words are compared, so that a reader may still find a difference."""
    there = frozenset(_NUMBER.findall(text))
    before = frozenset(number for one in said for number in _NUMBER.findall(one))
    if lost := sorted(before - there):
        return f"the new text lacks the number {lost[0]}"
    if new := sorted(there - before):
        return f"the new text has the number {new[0]}, which neither text has"
    denials = [_denials(one) for one in said]
    if _denials(text) < max(denials, default=0):
        return "the new text does not deny or forbid what a text denied or forbade"
    if _denials(text) and not any(denials):
        return "the new text denies what neither text denied"
    words, others = frozenset(terms(text)), [frozenset(terms(one)) for one in said]
    if any(len(one & words) < _LEAST_SHARE * len(one) for one in others):
        return "the new text lacks most words of a text"
    if len(words & frozenset().union(*others)) < _LEAST_SHARE * len(words):
        return "most words of the new text are in neither text"
    value = next(filter(None, (missing(values_of(text), values_of(one)) for one in said)), "")
    return f"the new text lacks {value}" if value else ""


def _denials(text: str) -> int:
    return sum(one.denies for one in claim_of(text).statements)
