"""The claim: what a text states, so that it can be compared with another.

Which of many claims are worth comparing: those that share their rarest terms.

Whether one text says what others said: each of their values, what they deny, and little that none of them says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import chain, islice
from operator import add
from sys import intern

from memcli.claims.clauses import clauses
from memcli.claims.lexicon import NEWER
from memcli.claims.statement import Statement, statement_of, terms_by_clause
from memcli.claims.values import missing, values_of
from memcli.model.memory import Memory
from memcli.record import Record, replace
from memcli.regex import regex
from memcli.summarize.sentences import split
from memcli.text.words import terms

MOST_CHARACTERS = 4000
MOST_STATEMENTS = 12


class Claim(Record):
    """What a text claims. `is_newer`: it says that it takes the place of what held before. `is_whole`: `text` and
    `statements` are all of it, rather than its beginning."""

    statements: tuple[Statement, ...]
    terms: frozenset[str]
    is_newer: bool
    text: str
    is_whole: bool


class ClaimTerms(Record):
    """The terms of a claim, sorted, where its neighbours are all that is looked for."""

    terms: tuple[str, ...]


def terms_of_text(text: str) -> ClaimTerms:
    """The terms of the claim of a text, for a part of what it costs to read all of the claim."""
    sentences = split(text[:MOST_CHARACTERS], MOST_STATEMENTS + 1)[:MOST_STATEMENTS]
    found = islice((terms for sentence in sentences for terms in terms_by_clause(sentence.text)), MOST_STATEMENTS)
    return ClaimTerms(tuple(sorted(map(intern, frozenset[str]().union(*found)))))


def claim_of(memory: Memory) -> Claim:
    """The claim of a memory."""
    return claim_of_text(memory.raw)


@lru_cache(maxsize=1024)
def claim_of_text(text: str) -> Claim:
    """The claim of a text; without statements where there are none that could be compared."""
    begun = text[:MOST_CHARACTERS]
    found: list[Statement] = []
    sentences = split(begun, MOST_STATEMENTS + 1)
    for sentence in sentences[:MOST_STATEMENTS]:
        for clause in clauses(sentence.text):
            one = statement_of(clause)
            # `It runs every 5 minutes`: of what was spoken of before
            found.append(replace(one, terms=found[-1].terms) if found and not one.terms else one)
    kept = tuple(found[:MOST_STATEMENTS])
    low = begun.lower()
    terms = frozenset(term for one in kept for term in one.terms)
    is_whole = len(text) <= MOST_CHARACTERS and max(len(sentences), len(found)) <= MOST_STATEMENTS
    return Claim(kept, terms, any(mark in low for mark in NEWER), begun, is_whole)


_RAREST = 6
_MOST_SHARING = 300
"""A term that more claims share finds none of them."""
_NEAREST = 8
_SHARE = 0.3


def neighbours(
    claims: Sequence[Claim | ClaimTerms], wanted: Collection[int] | None = None
) -> Iterator[tuple[int, int]]:
    """The places of two claims that share enough, the later one first; of which one is `wanted`, when that is given."""
    counts = Counter(chain.from_iterable(claim.terms for claim in claims))
    weight = {term: math.log(1 + len(claims) / count) for term, count in counts.items()}
    totals = [sum(map(weight.__getitem__, claim.terms)) for claim in claims]
    searched = _searched(claims, counts, weight, totals)
    asked = frozenset(chain.from_iterable(searched.values()))
    holding: dict[str, list[int]] = {term: [] for term in asked}  # earlier claims alone
    for place, claim in enumerate(claims):
        shared: dict[int, float] = {}
        for term in searched.get(place, ()):
            for other in holding[term]:
                if wanted is None or place in wanted or other in wanted:
                    shared[other] = shared.get(other, 0.0) + weight[term]
        for term in asked.intersection(claim.terms):
            holding[term].append(place)
        if any(both >= _SHARE * min(totals[place], totals[other]) for other, both in shared.items()):
            best = sorted(shared, key=lambda other: (-shared[other] / (totals[other] or 1.0), other))[:_NEAREST]
            for other in best:
                if shared[other] >= _SHARE * min(totals[place], totals[other]):
                    yield place, other


def _searched(
    claims: Sequence[Claim | ClaimTerms],
    counts: Mapping[str, int],
    weight: Mapping[str, float],
    totals: Sequence[float],
) -> dict[int, list[str]]:
    """The rarest terms of each claim, by its place, but for those that cannot share enough with any other."""
    ranks = {term: n for n, term in enumerate(sorted(counts, key=lambda term: (counts[term], term)))}
    least: dict[str, float] = {}  # of each term the smallest total of a claim that has it
    for place in sorted(range(len(claims)), key=totals.__getitem__, reverse=True):
        least.update(dict.fromkeys(claims[place].terms, totals[place]))
    found: dict[int, list[str]] = {}
    for place, claim in enumerate(claims):
        rarest = sorted(claim.terms, key=ranks.__getitem__)[:_RAREST]
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
    return sum(one.sign < 0 for one in claim_of_text(text).statements)
