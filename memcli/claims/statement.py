"""The statement: what one clause says, as sets of terms and values that can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memcli.claims.lexicon import (
    AFFIRMING,
    BREAKS,
    CONDITIONS,
    DENYING,
    HEDGES,
    NEGATIONS,
    REPLACED,
    SCOPES,
    UNITS,
    VERBS,
)
from memcli.claims.values import CODE, Quantity, glued, quantities
from memcli.claims.words import Word, choice_of, is_content, read
from memcli.record import Record
from memcli.regex import regex

_BREAK = regex(r";\s|\s\|\s")
_PREFIX = regex(r"^\s*(?:feat|fix|chore|refactor|perf|docs|style|test|build|ci)(?:\([^)\n]{0,40}\))?!?:\s*", 2)
_MOST_WORDS, _LEAST_WORDS = 100, 2
_LABEL_WORDS = 3
_ADJACENT = frozenset("over not than without".split())
_REACH = 3
_ENDS = frozenset("to by with for".split())
EXCEPTIONS = frozenset("except unless apart besides".split())
_GONE = frozenset("gone out dead deprecated retired".split())

Names = Mapping[str, Mapping[str, str]]
"""By class of names: the names, each with the stem of the word that stands for it."""


class Statement(Record):
    """What one clause says.

    `terms` are the stems of what it is about, `limits` those of its conditions, `head` those before its verb, `stems` all in
    order. `denies`: it has an odd number of denials. `labels` are the numbers that tell its subject from others. `choices` and
    `rejected` are the names that it chooses and rejects.
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
    names: frozenset[str]
    quantities: tuple[Quantity, ...]
    choices: Names
    rejected: Names


def statements_of(sentence: str) -> Iterator[Statement]:
    """The statements of a sentence; none of a question, or of what is only considered."""
    if sentence.rstrip().endswith("?"):
        return
    for part in _BREAK.split(_PREFIX.sub("", sentence)):
        words = read(glued(part))[:_MOST_WORDS]
        if not any(word.low in HEDGES for word in words):
            for clause in _clauses(words):
                if sum(bool(word.stem) for word in clause) >= _LEAST_WORDS:
                    yield _statement(clause)


def _clauses(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The clauses of a sentence: what follows `so`, `because` and the like is a claim of its own."""
    start = 0
    for at, word in enumerate(words):
        if word.low in BREAKS and at - start >= 3:
            yield words[start:at]
            start = at + 1
    yield words[start:]


def _statement(clause: Sequence[Word]) -> Statement:
    main, limits = _limited(clause)
    words = [*main, *limits]
    gone = _rejected_places(main)
    counted = quantities(words)
    denials = sum(
        (word.low in NEGATIONS or word.stem in DENYING) and not any(place in gone for place in range(at, at + 4))
        for at, word in enumerate(main)
    )
    is_bounded = denials % 2 == 1 and any(
        one.is_beyond for one in counted
    )  # what is refused beyond is allowed up to it
    verb = next((n for n, word in enumerate(main[1:], 1) if word.text == ":" or word.low in VERBS), 0)
    labels = [one for one in counted if _is_label(one, main)]
    terms = [(at, word.stem) for at, word in enumerate(main) if at not in gone and _is_term(word)]
    return Statement(
        terms=frozenset(stem for _, stem in terms),
        limits=frozenset(word.stem for word in limits if is_content(word) and word.low not in CONDITIONS),
        head=frozenset(stem for at, stem in terms if at < verb) or frozenset(stem for _, stem in terms[:1]),
        stems=tuple(word.stem for word in main if word.stem),
        scopes=frozenset(SCOPES[w.low] for w in words if w.low in SCOPES and (w.low != "us" or w.text == "US")),
        labels=frozenset(one.key for one in labels),
        denies=denials % 2 == 1 and not is_bounded,
        denies_limits=any(word.low in NEGATIONS for word in limits),
        names=frozenset(word.stem for word in main if word.is_name and word.stem),
        excepts=any(word.low in EXCEPTIONS for word in words),
        quantities=tuple(counted),
        choices=_choices(word for at, word in enumerate(main) if at not in gone),
        rejected=_choices(main[at] for at in gone),
    )


def _limited(words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The words of the claim itself, and those that limit it: its conditions."""
    main: list[Word] = []
    limits: list[Word] = []
    into = main
    has_comma = any(word.text == "," for word in words)
    for at, word in enumerate(words):
        if word.low in CONDITIONS and (at or has_comma):
            into = limits
        elif word.text in ",)":
            into = main
        into.append(word)
    return main, limits


def _is_term(word: Word) -> bool:
    """Whether the word says what a statement is about, rather than whether or how much."""
    is_sign = word.low in NEGATIONS or word.stem in DENYING or word.stem in AFFIRMING
    return is_content(word) and not is_sign and word.low not in UNITS


def _choices(words: Iterator[Word]) -> Names:
    found: dict[str, dict[str, str]] = {}
    for word in words:
        if (known := choice_of(word)) is not None:
            found.setdefault(known[0], {})[known[1]] = word.stem
    return found


def _is_label(quantity: Quantity, words: Sequence[Word]) -> bool:
    """Whether a number, version or code tells its subject from others: `rack 7 is`, unlike `gpt-7 is the model`."""
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


def _rejected_places(words: Sequence[Word]) -> frozenset[int]:
    """The places of names that are rejected: behind `instead of` and the like, before `is gone`, and of X in `from X to Y`."""
    named = {at for at, word in enumerate(words) if choice_of(word) is not None}
    if not named:
        return frozenset()
    lows = [word.low for word in words]
    found = {at - 2 for at in range(2, len(words)) if lows[at] in _GONE}
    for at, low in enumerate(lows):
        if " ".join(lows[at : at + 2]) in REPLACED:
            found.update(_reached(words, at + 2, _REACH))
        elif low in REPLACED:
            found.update(_reached(words, at + 1, 1 if low in _ADJACENT else _REACH))
        elif low == "from" and "to" in lows[at + 2 : at + 6]:
            found.add(at + 1)
    return frozenset(found & named)


def _reached(words: Sequence[Word], start: int, reach: int) -> Iterator[int]:
    for place in range(start, min(len(words), start + reach)):
        if words[place].text in ".,;:" or words[place].low in _ENDS:
            return
        yield place
