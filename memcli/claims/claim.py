"""The claim of a text: its statements, one for each clause, as sets of terms and values that can be compared. Also which of
many texts are worth comparing (`neighbours`), and whether a text can replace others (`lacking`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import chain
from operator import add
from sys import intern

from memcli.claims.lexicon import (
    AFFIRMING,
    BREAKS,
    CONDITIONS,
    DENYING,
    GENERIC,
    HEDGES,
    NEGATIONS,
    NEWER,
    REPLACED,
    SCOPES,
    UNITS,
    VERBS,
    Word,
    choice_of,
    is_content,
    read,
)
from memcli.claims.values import CODE, Quantity, glued, missing, quantities, values_of
from memcli.record import Record, replace
from memcli.regex import regex
from memcli.summarize.sentences import split
from memcli.text.words import simple_terms, terms

# The comparison of two claims is quadratic in their statements.
MOST_CHARACTERS = 4000
MOST_STATEMENTS = 12


class Claim(Record):
    """The statements of a text. `is_newer`: it has a phrase of `NEWER`, and so replaces what held before. `is_whole`: `text` and
    `statements` cover all of the text, not only its beginning."""

    statements: tuple[Statement, ...]
    is_newer: bool
    text: str
    is_whole: bool


@lru_cache(maxsize=1024)
def claim_of(text: str) -> Claim:
    """The claim of a text; its statements are empty if none can be compared."""
    begun = text[:MOST_CHARACTERS]
    found: list[Statement] = []
    sentences = split(begun, MOST_STATEMENTS + 1)
    for sentence in sentences[:MOST_STATEMENTS]:
        for one in statements_of(sentence.text):
            # `It runs every 5 minutes` has no terms: its subject is that of the statement before.
            found.append(replace(one, terms=found[-1].terms) if found and not one.terms else one)
    low = begun.lower()
    is_whole = len(text) <= MOST_CHARACTERS and max(len(sentences), len(found)) <= MOST_STATEMENTS
    return Claim(tuple(found[:MOST_STATEMENTS]), any(mark in low for mark in NEWER), begun, is_whole)


def terms_of(text: str) -> tuple[str, ...]:
    """The distinct terms of a text that `neighbours` compares, sorted."""
    return tuple(sorted(map(intern, frozenset(simple_terms(text[:MOST_CHARACTERS])) - GENERIC)))


_RAREST = 6
_MOST_SHARING = 300
"""A term of more texts than this is not searched: it would make most pairs candidates."""
_NEAREST = 8
_SHARE = 0.3
"""The weight that neighbours share, as a share of all terms of the lighter of the two."""


def neighbours(texts: Sequence[Collection[str]], wanted: Collection[int] | None = None) -> Iterator[tuple[int, int]]:
    """The positions of each two texts that share enough of their terms, the later one first; only pairs with one of `wanted`,
    if given."""
    counts = Counter(chain.from_iterable(texts))
    weight = {term: math.log(1 + len(texts) / count) for term, count in counts.items()}
    totals = [sum(map(weight.__getitem__, own)) for own in texts]
    searched = _rarest_terms(texts, counts, weight, totals)
    queried = frozenset(chain.from_iterable(searched.values()))
    holding: dict[str, list[int]] = {term: [] for term in queried}  # earlier texts alone
    for place, own in enumerate(texts):
        shared: dict[int, float] = {}
        for term in searched.get(place, ()):
            for other in holding[term]:
                if wanted is None or place in wanted or other in wanted:
                    shared[other] = shared.get(other, 0.0) + weight[term]
        for term in queried.intersection(own):
            holding[term].append(place)
        # Tested first: mostly none shares enough, and to sort them all took much of the time of a large space.
        if any(both >= _SHARE * min(totals[place], totals[other]) for other, both in shared.items()):
            best = sorted(shared, key=lambda other: (-shared[other] / (totals[other] or 1.0), other))[:_NEAREST]
            for other in best:
                if shared[other] >= _SHARE * min(totals[place], totals[other]):
                    yield place, other


def _rarest_terms(
    texts: Sequence[Collection[str]],
    counts: Mapping[str, int],
    weight: Mapping[str, float],
    totals: Sequence[float],
) -> dict[int, list[str]]:
    """The rarest terms of each text, by its position; without texts that cannot share enough by them with any other."""
    ranks = {term: n for n, term in enumerate(sorted(counts, key=lambda term: (counts[term], term)))}
    least: dict[str, float] = {}  # the smallest total of a text with the term
    for place in sorted(range(len(texts)), key=totals.__getitem__, reverse=True):
        least.update(dict.fromkeys(texts[place], totals[place]))
    found: dict[int, list[str]] = {}
    for place, own in enumerate(texts):
        rarest = sorted(own, key=ranks.__getitem__)[:_RAREST]
        terms = [term for term in rarest if counts[term] <= _MOST_SHARING]
        # This bound skips most texts of a large space before any comparison.
        if terms and reduce(add, map(weight.__getitem__, terms)) >= _SHARE * min(least[term] for term in terms):
            found[place] = terms
    return found


_NUMBER = regex(r"\d+(?:[.,:]\d+)*")
_LEAST_SHARE = 0.5
"""The share of the terms of each replaced text, and of the new text itself, that both must have."""


def lacking(text: str, replaced: Sequence[str]) -> str:
    """Why `text` cannot stand for the texts `replaced`: the first number, denial, value or share of words that it lacks or
    adds, as a clause of a message; empty if it can. Only words are compared, so a reader may still find a difference."""
    there = frozenset(_NUMBER.findall(text))
    before = frozenset(number for one in replaced for number in _NUMBER.findall(one))
    if lost := sorted(before - there):
        return f"the new text lacks the number {lost[0]}"
    if new := sorted(there - before):
        return f"the new text has the number {new[0]}, which neither text has"
    own, *denials = (sum(one.denies for one in claim_of(each).statements) for each in (text, *replaced))
    if own < max(denials, default=0):
        return "the new text does not deny or forbid what a text denied or forbade"
    if own and not any(denials):
        return "the new text denies what neither text denied"
    words, others = frozenset(terms(text)), [frozenset(terms(one)) for one in replaced]
    if any(len(one & words) < _LEAST_SHARE * len(one) for one in others):
        return "the new text lacks most words of a text"
    if len(words & frozenset().union(*others)) < _LEAST_SHARE * len(words):
        return "most words of the new text are in neither text"
    value = next(filter(None, (missing(values_of(text), values_of(one)) for one in replaced)), "")
    return f"the new text lacks {value}" if value else ""


_BREAK = regex(r";\s|\s\|\s")
_PREFIX = regex(r"^\s*(?:feat|fix|chore|refactor|perf|docs|style|test|build|ci)(?:\([^)\n]{0,40}\))?!?:\s*", 2)
_MOST_WORDS, _LEAST_WORDS = 100, 2
_LEAST_CLAUSE = 3
"""A word such as `so` among the first words of a clause does not end it."""
_LABEL_WORDS = 3
_ADJACENT = frozenset("over not than without".split())
_REACH = 3
_ENDS = frozenset("to by with for".split())
EXCEPTIONS = frozenset("except unless apart besides".split())
_GONE = frozenset("gone out dead deprecated retired".split())

_NO_TERMS, _SIGNS = NEGATIONS | UNITS.keys(), DENYING | AFFIRMING
"""Words, and stems, that are part of a quantity or a negation, and so no terms of a statement."""

Names = Mapping[str, Mapping[str, str]]
"""By class of names: each name with the stem of the word in the text."""


class Statement(Record):
    """The content of one clause.

    `terms` are the stems of its content words, `limits` those of its conditions, `head` those before its verb, `stems` all in
    order. `denies`: it has an odd number of denials. `labels` are the numbers that distinguish its subject, as `rack 7`. `choices`
    and `rejected` are the known names that it chooses and rejects. By stem, each with its word: `names` are those that are
    written as names, `chosen` and `instead` the content before and after a word such as `over`, `instead of` or `, not`, empty
    without one.
    """

    terms: frozenset[str]
    limits: frozenset[str]
    head: frozenset[str]
    stems: tuple[str, ...]
    scopes: frozenset[str]
    labels: frozenset[str]
    denies: bool
    denies_limits: bool
    excepts: bool
    names: Mapping[str, str]
    quantities: tuple[Quantity, ...]
    choices: Names
    rejected: Names
    chosen: Mapping[str, str]
    instead: Mapping[str, str]


def statements_of(sentence: str) -> Iterator[Statement]:
    """The statements of a sentence; a question or a clause with a word of `HEDGES` has none."""
    if sentence.rstrip().endswith("?"):
        return
    whole = _PREFIX.sub("", sentence) if ":" in sentence else sentence
    for part in _BREAK.split(whole) if ";" in whole or "|" in whole else [whole]:
        words = read(glued(part))[:_MOST_WORDS]
        if any(word.low in HEDGES for word in words):
            continue
        # Each side of `so`, `because` and the like is a claim of its own.
        clauses: list[list[Word]] = [[]]
        for word in words:
            if word.low in BREAKS and len(clauses[-1]) >= _LEAST_CLAUSE:
                clauses.append([])
            else:
                clauses[-1].append(word)
        yield from (_statement(clause) for clause in clauses if sum(bool(word.stem) for word in clause) >= _LEAST_WORDS)


def _statement(clause: Sequence[Word]) -> Statement:
    # The words of a condition are no terms of the claim: they limit it, and are not its subject.
    main: list[Word] = []
    limits: list[Word] = []
    into = main
    has_comma = any(word.text == "," for word in clause)
    for at, word in enumerate(clause):
        if word.low in CONDITIONS and (at or has_comma):
            into = limits
        elif word.text in ",)":
            into = main
        into.append(word)
    words = [*main, *limits]
    gone = _rejected_places(main)
    chosen, instead = _preference(main)
    counted = quantities(words)
    denials = sum(
        (word.low in NEGATIONS or word.stem in DENYING) and not any(place in gone for place in range(at, at + 4))
        for at, word in enumerate(main)
    )
    # `Nothing above 5 MB` allows up to 5 MB: it denies no statement that has the same bound.
    is_bounded = denials % 2 == 1 and any(one.is_beyond for one in counted)
    verb = next((n for n, word in enumerate(main[1:], 1) if word.text == ":" or word.low in VERBS), 0)
    labels = [one for one in counted if _is_label(one, main)]
    terms = [
        (at, word.stem)
        for at, word in enumerate(main)
        if at not in gone and is_content(word) and word.low not in _NO_TERMS and word.stem not in _SIGNS
    ]
    return Statement(
        terms=frozenset(stem for _, stem in terms),
        limits=frozenset(word.stem for word in limits if is_content(word) and word.low not in CONDITIONS),
        head=frozenset(stem for at, stem in terms if at < verb) or frozenset(stem for _, stem in terms[:1]),
        stems=tuple(word.stem for word in main if word.stem),
        scopes=frozenset(SCOPES[w.low] for w in words if w.low in SCOPES and (w.low != "us" or w.text == "US")),
        labels=frozenset(one.key for one in labels),
        denies=denials % 2 == 1 and not is_bounded,
        denies_limits=any(word.low in NEGATIONS for word in limits),
        names={word.stem: word.text for word in main if word.is_name and word.stem},
        excepts=any(word.low in EXCEPTIONS for word in words),
        quantities=tuple(counted),
        choices=_choices(word for at, word in enumerate(main) if at not in gone),
        rejected=_choices(main[at] for at in gone),
        chosen=chosen,
        instead=instead,
    )


def _choices(words: Iterator[Word]) -> Names:
    found: dict[str, dict[str, str]] = {}
    for word in words:
        if (known := choice_of(word)) is not None:
            found.setdefault(known[0], {})[known[1]] = word.stem
    return found


def _is_label(quantity: Quantity, words: Sequence[Word]) -> bool:
    """Whether a number, version or code distinguishes the subject from others: `rack 7 is`, unlike `gpt-7 is the
    model`."""
    after = [word.low for word in words[quantity.at + 1 : quantity.at + 3]]
    if quantity.at > _LABEL_WORDS or not after:
        return False
    if quantity.dimension == "number":
        has_noun = quantity.at > 0 and bool(words[quantity.at - 1].stem)
        return has_noun and (after[0] in VERBS or after[0] == ":" or quantity.text == words[quantity.at].text)
    is_name = quantity.dimension.startswith((CODE, "version"))
    return (
        is_name
        and quantity.at < _LABEL_WORDS
        and not (after[0] in ("is", "are", ".") and after[-1] in ("the", "our", "."))
    )


def _preference(words: Sequence[Word]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What is preferred, and to what, as in "tabs, not spaces": each word by its stem; both empty if nothing is."""
    lows = [word.low for word in words]
    for at, low in enumerate(lows):
        size = 2 if " ".join(lows[at : at + 2]) in _PREFERRED else 1 if low in _PREFERRED else 0
        if not size or (low == "not" and lows[at - 1 : at] != [","]):
            continue
        before, after = words[:at], words[at + size :]
        end = next((n for n, word in enumerate(after) if n and (word.text in ".,;:" or word.low in _ENDS)), len(after))
        sides = [{word.stem: word.text for word in side if is_content(word)} for side in (before, after[:end])]
        if all(sides):
            return sides[0], sides[1]
    return {}, {}


_PREFERRED = frozenset(("over", "instead of", "rather than", "in place of", "not"))


def _rejected_places(words: Sequence[Word]) -> frozenset[int]:
    """The positions of rejected names: after `instead of` and the like, before `is gone`, and X in `from X to Y`."""
    named = {at for at, word in enumerate(words) if choice_of(word) is not None}
    if not named:
        return frozenset()
    lows = [word.low for word in words]
    found = {at - 2 for at in range(2, len(words)) if lows[at] in _GONE}
    for at, low in enumerate(lows):
        start, reach = at + 1, 0
        if " ".join(lows[at : at + 2]) in REPLACED:
            start, reach = at + 2, _REACH
        elif low in REPLACED:
            reach = 1 if low in _ADJACENT else _REACH
        elif low == "from" and "to" in lows[at + 2 : at + 6]:
            found.add(at + 1)
        for place in range(start, min(len(words), start + reach)):
            if words[place].text in ".,;:" or words[place].low in _ENDS:
                break
            found.add(place)
    return frozenset(found & named)
