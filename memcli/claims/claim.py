"""The claim: what a text states, so that it can be compared with another."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from sys import intern

from memcli.claims.clauses import clauses
from memcli.claims.lexicon import NEWER
from memcli.claims.statement import Statement, statement_of, terms_by_clause
from memcli.model.memory import Memory
from memcli.record import Record, replace
from memcli.summarize.sentences import split

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
