"""The statement: what one clause says, as sets of terms and values that can be compared.

Names of what was not chosen, or no longer is: where they stand in a sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from sys import intern

from memcli.claims.clauses import LEAST_WORDS, MOST_WORDS, Clause, clauses_of_part, has_place, parts
from memcli.claims.lexicon import (
    AFFIRMING,
    CONDITIONS,
    DENYING,
    EVENTS,
    EXCEPTIONS,
    HOSTING,
    NEGATIONS,
    OWNING,
    PLACES,
    POLES,
    REFUSING,
    REPLACED,
    SCOPES,
    VALUE_PLACES,
    VERB_MARKS,
)
from memcli.claims.values import CODE, UNITS, Quantity, quantities
from memcli.claims.words import Word, choice_of, is_content, tokens, word_alone
from memcli.record import Record

_PHRASES = frozenset(REPLACED)
_ADJACENT = frozenset("over not than without".split())
_REACH = 3
_ENDS = frozenset("to by with for".split())
_GONE = frozenset("gone out dead deprecated retired".split())


def replaced_places(words: Sequence[Word]) -> frozenset[int]:
    """The places of names that are rejected: behind `instead of` and the like, before `is gone`, and of X in `from X to Y`."""
    if all(choice_of(word) is None for word in words):
        return frozenset()
    lows = [word.low for word in words]
    found = {
        at - 2 for at in range(2, len(words)) if lows[at] in _GONE and choice_of(words[at - 2]) is not None
    }  # X of `X is gone`
    for at, low in enumerate(lows):
        two = " ".join(lows[at : at + 2])
        if two in _PHRASES:
            found.update(_names(words, at + 2, _REACH))
        elif low in _PHRASES:
            found.update(_names(words, at + 1, 1 if low in _ADJACENT else _REACH))
    return frozenset([*found, *_moved_from(words)])


def _names(words: Sequence[Word], start: int, reach: int) -> Iterator[int]:
    for place in range(start, min(len(words), start + reach)):
        if words[place].text in ".,;:" or words[place].low in _ENDS:
            return
        if choice_of(words[place]) is not None:
            yield place


def _moved_from(words: Sequence[Word]) -> Iterator[int]:
    """The place of X in `from X to Y` where both are names of one class."""
    for at, word in enumerate(words[:-3]):
        if word.low == "from" and (before := choice_of(words[at + 1])) is not None:
            for place in range(at + 2, min(at + 6, len(words) - 1)):
                after = choice_of(words[place + 1])
                if words[place].low == "to" and after is not None and after[0] == before[0]:
                    yield at + 1


_LABEL_WORDS = 7
_EVENT_WORDS = 5
_LEADING = 2
_YEARS = range(1990, 2040)
_LINKS = frozenset("and or with to from as that which who into onto than".split())

Names = Mapping[str, Mapping[str, str]]
"""By class of names: the names, each with the stem of the word that stands for it."""


class Statement(Record):
    """What one clause says.

    `terms` are the stems of what it is about, `head` those before its verb, `conditions` those that limit it; `stems`
    are all of them in order, `places` those behind each preposition of place, `slots` those where a value stands.
    `sign` is -1 where it denies, `is_refusal` where a verb such as `reject` does. `labels` are the numbers and codes
    that tell its subject from others. `poles` are the ends of the axes that it names; `choices` and `replaced` the
    names that it chooses and rejects. `is_event`: it tells of something that happened.
    """

    terms: frozenset[str]
    head: frozenset[str]
    conditions: frozenset[str]
    names: frozenset[str]
    stems: tuple[str, ...]
    places: Mapping[str, frozenset[str]]
    slots: Mapping[str, frozenset[str]]
    sign: int
    is_refusal: bool
    is_affirmed: bool
    poles: Mapping[str, tuple[int, str]]
    scopes: frozenset[str]
    labels: frozenset[str]
    quantities: tuple[Quantity, ...]
    choices: Names
    replaced: Names
    is_event: bool
    is_reason: bool
    denies_limits: bool
    has_exception: bool


def statement_of(clause: Clause) -> Statement:
    """The statement of a clause."""
    main, limits = clause.main, clause.limits
    words = [*main, *limits]
    gone = replaced_places(main)
    poles, sign, is_refusal = _poles(main, gone)
    counted = quantities(words)
    if sign < 0 and any(one.is_beyond for one in counted):
        sign, is_refusal = 1, False  # what is refused beyond a bound is allowed up to it
    versions = [one for one in counted if _is_scope(one, main)]
    terms = [(at, word.stem) for at, word in enumerate(main) if _is_term(word) and at not in gone]
    verb = next(  # where the subject ends: at a colon after a few words, or at the first auxiliary verb
        (n for n, word in enumerate(main[1:], 1) if (word.text == ":" and n <= _LABEL_WORDS) or word.low in VERB_MARKS),
        0,
    )
    scopes = (SCOPES.get(word.low, "") for word in words if word.low != "us" or word.text == "US")
    is_dated = any(word.text.isdecimal() and int(word.text[:9]) in _YEARS for word in main)
    return Statement(
        terms=frozenset(stem for _, stem in terms),
        head=frozenset(stem for at, stem in terms if at < verb),
        conditions=frozenset(word.stem for word in limits if is_content(word) and word.low not in CONDITIONS),
        names=frozenset(word.stem for word in main if word.is_name and word.stem),
        stems=tuple(word.stem for word in main if word.stem),
        places=_places(main),
        slots=_slots(main),
        sign=sign,
        is_refusal=is_refusal,
        is_affirmed=any(word.stem in AFFIRMING for word in main),
        poles=poles,
        scopes=frozenset([*filter(None, scopes), *(one.text for one in versions)]),
        labels=frozenset(one.key for one in counted if _is_label(one, main)),
        quantities=tuple(one for one in counted if one not in versions),
        choices=_choices(word for at, word in enumerate(main) if at not in gone),
        replaced=_choices(main[at] for at in gone),
        is_event=is_dated or any(word.low in EVENTS for word in main[:_EVENT_WORDS]),
        is_reason=clause.is_reason,
        denies_limits=any(word.low in NEGATIONS for word in limits),
        has_exception=any(word.low in EXCEPTIONS for word in words),
    )


def terms_by_clause(sentence: str) -> Iterator[Collection[str]]:
    """The terms of the statement of each clause of a sentence."""
    for part in parts(sentence):
        found = list(map(_term_alone, tokens(part)[:MOST_WORDS]))
        if None in found:
            for clause in clauses_of_part(part):
                gone = replaced_places(clause.main)
                yield frozenset(word.stem for at, word in enumerate(clause.main) if _is_term(word) and at not in gone)
        elif len(found) - found.count(_MARK) >= LEAST_WORDS:
            yield [term for term in found if term and term != _NO_TERM]


_MARK, _NO_TERM = "", " "


@lru_cache(maxsize=100_000)
def _term_alone(token: str) -> str | None:
    """The term that a token is whatever stands beside it: _MARK for what is no word, _NO_TERM for a word that is no term,
    None where what stands beside it decides."""
    word = word_alone(token)
    if word is None or has_place(word) or choice_of(word) is not None:
        return None
    return intern(word.stem) if _is_term(word) else _NO_TERM if word.stem else _MARK


def _choices(words: Iterable[Word]) -> Names:
    found: dict[str, dict[str, str]] = {}
    for word in words:
        if (known := choice_of(word)) is not None:
            found.setdefault(known[0], {})[known[1]] = word.stem
    return found


@lru_cache(maxsize=50_000)
def _is_term(word: Word) -> bool:
    """Whether the word says what a statement is about, rather than whether or how much."""
    stem = word.stem
    is_turn = word.low in NEGATIONS or stem in DENYING or stem in AFFIRMING or stem in REFUSING
    return is_content(word) and not is_turn and word.low not in UNITS


def _poles(words: Sequence[Word], gone: frozenset[int]) -> tuple[dict[str, tuple[int, str]], int, bool]:
    """The ends of axes that are named; the sign of the whole; whether a verb such as `reject` makes it."""
    sign = 1
    is_refusal = False
    found: dict[str, set[tuple[int, str]]] = {}
    for at, word in enumerate(words):
        is_of_name = any(place in gone for place in range(at - 2, at + 4))
        is_again = at > 0 and words[at - 1].low in ("also", "and", "nor")  # "not here, also not there"
        denies = (word.low in NEGATIONS or word.stem in DENYING) and not is_of_name and not is_again
        refuses = word.stem in REFUSING and not is_of_name and not denies
        if denies or refuses:
            sign, is_refusal = -sign, is_refusal or refuses
        if (pole := POLES.get(word.stem)) is not None:
            axis, end = pole
            found.setdefault(axis, set()).add((-end if denies or refuses else end, word.stem))
    poles = {axis: min(ends) for axis, ends in found.items() if len({end for end, _ in ends}) == 1}
    return poles, sign, is_refusal


def _is_scope(quantity: Quantity, words: Sequence[Word]) -> bool:
    """Whether it is the version that a sentence begins with, or the number of its label, and so says of what it holds."""
    after = words[quantity.at + 1].low if quantity.at + 1 < len(words) else ""
    if quantity.dimension == "number" and 0 < quantity.at <= _LEADING + 1 and after == ":":
        return bool(words[quantity.at - 1].stem)
    is_version = quantity.dimension.startswith("version")
    return is_version and quantity.at <= _LEADING and after not in ("is", "are", ".", "")


def _is_label(quantity: Quantity, words: Sequence[Word]) -> bool:
    """Whether the number or code tells the subject from others of its sort: `rack 7 is`, unlike `gpt-7 is the model`."""
    after = [word.low for word in words[quantity.at + 1 : quantity.at + 3]]
    if quantity.dimension == "number":
        has_noun = 0 < quantity.at <= _LEADING + 1 and bool(words[quantity.at - 1].stem)
        return has_noun and bool(VERB_MARKS.intersection(after[:1]))
    is_code = quantity.dimension.startswith(CODE) and quantity.at <= _LEADING
    return is_code and bool(after) and not (after[0] in ("is", "are") and after[-1] in ("the", "our"))


def _places(words: Sequence[Word]) -> dict[str, frozenset[str]]:
    """What stands behind each preposition of place."""
    found: dict[str, set[str]] = {}
    into: set[str] | None = None
    for word in words:
        if word.low in PLACES:
            into = found.setdefault(word.low, set())
        elif not word.stem or word.low in VERB_MARKS or word.low in _LINKS:
            into = None
        elif into is not None and _is_term(word):
            into.add(word.stem)
    return {preposition: frozenset(stems) for preposition, stems in found.items() if stems}


def _slots(words: Sequence[Word]) -> dict[str, frozenset[str]]:
    """What stands where a value does: behind `by`, `through`, `from`, behind `in` of what is kept there; who owns."""
    found: dict[str, set[str]] = {}
    hosts = any(word.low in HOSTING for word in words)
    into: set[str] | None = None
    for at, word in enumerate(words):
        group = VALUE_PLACES.get(word.low, "")
        if word.low in OWNING and not word.low.endswith("d"):
            found.setdefault("owner", set()).update(w.stem for w in words[:at] if _is_term(w))
        if group and (group != "in" or hosts):
            is_owner = at > 0 and words[at - 1].low in OWNING
            into = found.setdefault("owner" if is_owner else group, set())
        elif not word.stem or word.low in VERB_MARKS or word.low in _LINKS or word.low in PLACES:
            into = None
        elif into is not None and is_content(word):
            into.add(word.stem)
    return {group: frozenset(stems) for group, stems in found.items() if stems}
