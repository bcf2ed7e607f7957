"""The claim: what the sentences of a text state, as sets of terms and values that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from memcli.claims.lexicon import (
    AFFIRMING,
    BREAKS,
    CONDITIONS,
    DENYING,
    HEDGES,
    NEGATIONS,
    NEWER,
    PLACES,
    POLES,
    REASONS,
    REFUSING,
    REPLACED,
    SCOPES,
)
from memcli.claims.quantities import UNITS, Quantity, glued, quantities
from memcli.claims.words import Word, choice_of, is_content, read
from memcli.model.memory import Memory
from memcli.record import Record
from memcli.summarize.sentences import split

MOST_CHARACTERS = 4000
MOST_STATEMENTS = 12
_PREFIX = re.compile(
    r"^\s*(?:feat|fix|chore|refactor|perf|docs|style|test|build|ci)(?:\([^)\n]{0,40}\))?!?:\s*", re.IGNORECASE
)
_NO_DENIAL = re.compile(
    r"\bwithout exception\b|\bnot only\b|\bno matter\b|\bwhether or not\b|\bno need to worry\b", re.IGNORECASE
)
_VERB_MARKS = frozenset(
    "is are was were be been must should shall can may will would has have had does do did needs need gets get".split()
)
_LABEL_WORDS = 7


class Statement(Record):
    """One sentence. `terms` are the stems of what it is about, `head` those before its verb; `conditions` limit it.

    `sign` is -1 where it denies. `poles` are the ends of the axes that it names; `choices` and `replaced` the names that it
    chooses and rejects, by class. `is_event`: it tells of something that happened once.
    """

    text: str
    terms: frozenset[str]
    head: frozenset[str]
    conditions: frozenset[str]
    names: frozenset[str]
    stems: tuple[str, ...]
    places: Mapping[str, frozenset[str]]
    sign: int
    is_refusal: bool
    is_affirmed: bool
    poles: Mapping[str, tuple[int, str]]
    scopes: frozenset[str]
    quantities: tuple[Quantity, ...]
    choices: Mapping[str, Mapping[str, str]]
    replaced: Mapping[str, Mapping[str, str]]
    is_event: bool
    is_only: bool
    is_reason: bool
    has_exception: bool


class Claim(Record):
    """What a text claims. `is_newer`: it says that it takes the place of what held before."""

    statements: tuple[Statement, ...]
    terms: frozenset[str]
    is_newer: bool
    text: str


def claim_of(memory: Memory) -> Claim:
    """The claim of a memory."""
    return claim_of_text(memory.raw)


def claim_of_text(text: str) -> Claim:
    """The claim of a text; without statements where there are none that could be compared."""
    begun = text[:MOST_CHARACTERS]
    found: list[Statement] = []
    for sentence in split(begun, MOST_STATEMENTS):
        for part in _parts(sentence.text):
            found += _statements(part)
    kept = tuple(found[:MOST_STATEMENTS])
    low = begun.lower()
    terms = frozenset(term for one in kept for term in one.terms)
    return Claim(kept, terms, any(mark in low for mark in NEWER), begun)


def _parts(sentence: str) -> Iterator[str]:
    """The parts of a sentence that state something on their own."""
    for part in re.split(r";\s|\s\|\s", _PREFIX.sub("", sentence)):
        if part.strip():
            yield part


def _statements(sentence: str) -> Iterator[Statement]:
    if sentence.rstrip().endswith("?"):
        return
    words = read(glued(_NO_DENIAL.sub(" ", sentence)))
    if any(word.low in HEDGES for word in words):
        return
    for part, is_reason in _clauses(words):
        main, limits = _limited(part)
        if sum(bool(word.stem) for word in part) >= 2:
            yield _built(sentence, main, limits, is_reason)


def _clauses(words: Sequence[Word]) -> Iterator[tuple[list[Word], bool]]:
    """The claims of one sentence: what is told as a reason is one too."""
    clause: list[Word] = []
    is_reason = False
    for at, word in enumerate(words):
        is_break = word.low in BREAKS and at >= 3
        begins = word.low in REASONS and (at == 0 or at >= 3)
        ends = (
            word.text == ","
            and at + 2 < len(words)
            and (is_reason or (len(clause) >= 4 and _stands_alone(words[at + 1 :])))
        )
        if is_break or begins or ends:
            if clause:
                yield clause, is_reason
            clause, is_reason = [], begins
            continue
        clause.append(word)
    if clause:
        yield clause, is_reason


def _stands_alone(words: Sequence[Word]) -> bool:
    """Whether what follows a comma is a clause with a verb of its own."""
    end = next((at for at, word in enumerate(words) if word.text == ","), len(words))
    return end >= 4 and words[0].low not in _RELATIVES and any(word.low in _VERB_MARKS for word in words[1:6])


_RELATIVES = frozenset("which who that where when if unless except and or to with for also not never".split())


def _built(sentence: str, main: Sequence[Word], limits: Sequence[Word], is_reason: bool) -> Statement:
    replaced_at = _replaced_places(main)
    chosen: dict[str, dict[str, str]] = {}
    replaced: dict[str, dict[str, str]] = {}
    for at, word in enumerate(main):
        if (known := choice_of(word)) is not None:
            (replaced if at in replaced_at else chosen).setdefault(known[0], {})[known[1]] = word.stem
    poles, sign, is_refusal = _poles(main, replaced_at)
    counted = quantities([*main, *limits])
    if sign < 0 and any(one.is_beyond for one in counted):
        sign, is_refusal = 1, False  # what is refused beyond a bound is allowed up to it
    versions = {one for one in counted if _is_scope(one, main)}
    is_term = [_is_term(word) and at not in replaced_at for at, word in enumerate(main)]
    verb = _verb_place(main)
    terms = [word.stem for word, wanted in zip(main, is_term, strict=True) if wanted]
    head = [word.stem for word, wanted in list(zip(main, is_term, strict=True))[:verb] if wanted]
    return Statement(
        text=sentence,
        terms=frozenset(terms),
        head=frozenset(head),
        conditions=frozenset(word.stem for word in limits if is_content(word) and word.low not in CONDITIONS),
        names=frozenset(word.stem for word in main if word.is_name and word.stem),
        stems=tuple(word.stem for word in main if word.stem),
        places=_places(main),
        sign=sign,
        is_refusal=is_refusal,
        is_affirmed=any(word.stem in AFFIRMING for word in main),
        poles=poles,
        scopes=frozenset(scope for word in (*main, *limits) if (scope := _scope(word)))
        | {one.text for one in versions},
        quantities=tuple(one for one in counted if one not in versions),
        choices=chosen,
        replaced=replaced,
        is_event=_is_event(main),
        is_only=any(word.low == "only" for word in main),
        is_reason=is_reason,
        has_exception=any(word.low in _EXCEPTIONS for word in (*main, *limits)),
    )


def _is_scope(quantity: Quantity, words: Sequence[Word]) -> bool:
    """Whether it is the version that a sentence begins with, and so says of which version something holds."""
    after = words[quantity.at + 1].low if quantity.at + 1 < len(words) else ""
    return quantity.dimension.startswith("version") and quantity.at <= 2 and after not in ("is", "are", ".", "")


def _places(words: Sequence[Word]) -> Mapping[str, frozenset[str]]:
    """What stands behind each preposition of place."""
    found: dict[str, set[str]] = {}
    into: set[str] | None = None
    for word in words:
        if word.low in PLACES:
            into = found.setdefault(word.low, set())
        elif not word.stem or word.low in _VERB_MARKS or word.low in _LINKS:
            into = None
        elif into is not None and _is_term(word):
            into.add(word.stem)
    return {preposition: frozenset(stems) for preposition, stems in found.items() if stems}


_EXCEPTIONS = frozenset("except unless apart besides".split())
_LINKS = frozenset("and or with to from as that which who into onto than".split())


def _is_term(word: Word) -> bool:
    return (
        is_content(word)
        and word.low not in NEGATIONS
        and word.stem not in DENYING
        and word.stem not in AFFIRMING
        and word.stem not in REFUSING
        and word.low not in UNITS
    )


def _limited(words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The words of the claim itself, and those that limit it: its conditions."""
    main: list[Word] = []
    limits: list[Word] = []
    into = main
    has_comma = any(word.text == "," for word in words)
    for at, word in enumerate(_without_opening(words)):
        if word.low in CONDITIONS and (at or has_comma):
            into = limits
        elif word.text in ",)":
            into = main
        into.append(word)
    return main, limits


def _without_opening(words: Sequence[Word]) -> Sequence[Word]:
    """The words without what leads up to them: `After the incident, ...`."""
    if words and words[0].low in _OPENINGS:
        for at, word in enumerate(words[2:_LONGEST_OPENING], 2):
            if word.text == "," or word.low in ("we", "decided"):
                return words[at + 1 :]
    return words


_OPENINGS = frozenset("after following given".split())
_LONGEST_OPENING = 9


def _replaced_places(words: Sequence[Word]) -> frozenset[int]:
    """The places of words that name what was not chosen: right behind such words as `instead of`."""
    found: set[int] = set()
    lows = [word.low for word in words]
    for at in range(len(lows)):
        for length in (2, 1):
            phrase = " ".join(lows[at : at + length])
            if phrase in _REPLACED and at + length <= len(lows):
                reach = 1 if phrase in _ADJACENT else 3
                for place in range(at + length, min(len(lows), at + length + reach)):
                    if words[place].text in ".,;:" or lows[place] in ("to", "by", "with", "for"):
                        break
                    if choice_of(words[place]) is not None:
                        found.add(place)
                break
    for at, word in enumerate(words[1:], 1):  # "flake8 is gone"
        if (
            word.low in ("gone", "out", "dead", "deprecated", "retired")
            and at >= 2
            and choice_of(words[at - 2]) is not None
        ):
            found.add(at - 2)
    found.update(_moved_from(words))
    return frozenset(found)


def _moved_from(words: Sequence[Word]) -> Iterator[int]:
    """The place of X in `from X to Y` where both are names of one class."""
    for at, word in enumerate(words[:-3]):
        if word.low == "from" and (before := choice_of(words[at + 1])) is not None:
            for place in range(at + 2, min(at + 6, len(words) - 1)):
                after = choice_of(words[place + 1])
                if words[place].low == "to" and after is not None and after[0] == before[0]:
                    yield at + 1


_REPLACED = frozenset(REPLACED)
_ADJACENT = frozenset(("over", "not", "than", "without"))


def _poles(words: Sequence[Word], replaced_at: frozenset[int]) -> tuple[dict[str, tuple[int, str]], int, bool]:
    """The ends of axes that are named; the sign of the whole; whether a verb such as `reject` makes it."""
    sign = 1
    is_refusal = False
    found: dict[str, set[tuple[int, str]]] = {}
    for at, word in enumerate(words):
        is_of_name = any(place in replaced_at for place in range(at - 2, at + 4))
        denies = (word.low in NEGATIONS or word.stem in DENYING) and not is_of_name
        refuses = word.stem in REFUSING and not is_of_name and not denies
        if denies or refuses:
            sign, is_refusal = -sign, is_refusal or refuses
        if (pole := POLES.get(word.low)) is not None:
            axis, end = pole
            found.setdefault(axis, set()).add((-end if denies or refuses else end, word.stem))
    poles = {axis: min(ends) for axis, ends in found.items() if len({end for end, _ in ends}) == 1}
    return poles, sign, is_refusal


def _verb_place(words: Sequence[Word]) -> int:
    """Where the subject ends: at a colon after a few words, or at the first auxiliary verb."""
    for at, word in enumerate(words):
        if word.text == ":" and 0 < at <= _LABEL_WORDS:
            return at
        if word.low in _VERB_MARKS and at:
            return at
    return 0


def _scope(word: Word) -> str:
    if word.low == "us" and word.text != "US":
        return ""
    return SCOPES.get(word.low, "")


_DATED = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
)
_EVENTS = frozenset("incident postmortem bug crashed crash happened outage took broke leaked reached".split())


def _is_event(words: Sequence[Word]) -> bool:
    text = " ".join(word.low for word in words)
    return bool(_DATED.search(text)) or any(word.low in _EVENTS for word in words[:5])


def joined(terms: Iterable[str]) -> str:
    """Terms in order, for a reader of a debugger."""
    return " ".join(key for key, _ in groupby(sorted(terms)))
