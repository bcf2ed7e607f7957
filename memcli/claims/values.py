"""The values in a text: numbers with their units, identifiers, paths and names. Texts say the same only where these agree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from memcli.claims.choices import NAMES
from memcli.claims.lexicon import NUMBERS, VERB_MARKS
from memcli.claims.quantities import MEASURED, UNITS, Quantity, glued, quantities
from memcli.claims.words import Word, choice_of, is_content, read
from memcli.regex import regex

_MARKS = "\"'`“”‘’«»()[]{}<>,;!?…*|"
_COUNTED = regex(
    r"[$€~≈<>≤≥=+-]*v?\d[\d,]*(?:\.\d+){0,2}(?::\d\d){0,2}(?:e-?\d+)?(st|nd|rd|th|[%a-zµ°]{0,12}(?:/s)?)", re.IGNORECASE
)
_TIMES = regex(r"[x×](\d+)|(\d+)[x×]", re.IGNORECASE)
_STEP = regex(r"^[ \t]*\(?\d{1,3}[.)][ \t]", re.MULTILINE)
_POWER = regex(r"\d+(?:\.\d+)?e-?\d+")
_SUFFIXES = frozenset(["", "%", "st", "nd", "rd", "th"])
_IDENTIFIER = regex(r".*\d.*|.*\w[/\\_.@:=#]+\w.*|[-./\\~@#]+\w.*|.*[a-z][A-Z].*", re.DOTALL)
_JOINED = regex(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_LONGEST_WORD = 100
_PERIODS = {
    name: f"{UNITS[unit][1]:.9g}"
    for name, unit in zip(
        "hourly daily weekly monthly quarterly yearly".split(), "hour day week month quarter year".split(), strict=True
    )
}
_NUMERIC = MEASURED | {"number"}
_IDENTIFIED = "identifier"


class ClaimValue(NamedTuple):
    """A value of a text: its `kind` (a dimension, a class of names, `identifier` or `name`), a `key` that is the same
    however it is written, and the text. Another text that has all `words` has the value too."""

    kind: str
    key: str
    text: str
    words: frozenset[str] = frozenset()


class Values(NamedTuple):
    """The values of a text, those of a kind in the order in which they are named, and all of its words."""

    found: tuple[ClaimValue, ...]
    words: frozenset[str]


@lru_cache(maxsize=256)
def values_of(text: str) -> Values:
    """The values of a text."""
    identifiers, rest = _apart(glued(text))
    words = read(rest)
    forms = {form for word in words for form in (word.low, word.stem)} | {one.key for one in identifiers}
    counted = quantities(words)
    return Values((*identifiers, *_counted(words, counted), *_named(words, counted)), frozenset(forms))


def missing(text: Values, other: Values) -> str:
    """The first value of `other` that a text does not have, as it is written; empty where it has all."""
    return next((value.text for value in _only_in(other, text)), "")


def differ(one: Values, other: Values) -> bool:
    """Whether each has a value that the other has not, or the same ones in other places: `A takes 5 s, B 9 s`."""
    if _only_in(one, other) and _only_in(other, one):
        return True
    mine, theirs = _keys(one), _keys(other)
    if one.words != other.words:  # only numbers keep their order in other words
        both = {key for key in mine.keys() & theirs.keys() if key[0] in _NUMERIC}
        mine, theirs = ({key: None for key in keys if key in both} for keys in (mine, theirs))
    return sorted(mine, key=_kind) != sorted(theirs, key=_kind)


def _kind(key: tuple[str, str]) -> str:
    return key[0]


def share_value(one: Values, other: Values) -> bool:
    """Whether both have the same number or identifier."""
    return any(kind in _NUMERIC or kind == _IDENTIFIED for kind, _ in _keys(one).keys() & _keys(other).keys())


def _only_in(one: Values, other: Values) -> list[ClaimValue]:
    """The values that one text has and the other has not."""
    keys = _keys(other)
    return [v for v in one.found if (v.kind, v.key) not in keys and not (v.words and v.words <= other.words)]


def _keys(values: Values) -> dict[tuple[str, str], None]:
    return dict.fromkeys((value.kind, value.key) for value in values.found)


def _apart(text: str) -> tuple[list[ClaimValue], str]:
    """The identifiers of a text, and the text without them."""
    found: list[ClaimValue] = []
    rest: list[str] = []
    for chunk in _STEP.sub("", text).split():
        bare = chunk.strip(_MARKS).rstrip(".:" + _MARKS)
        if (times := _TIMES.fullmatch(bare)) is not None:
            found.append(ClaimValue("number", times[1] or times[2], bare))
        elif _is_identifier(bare):
            key = bare.lower()
            found.append(ClaimValue(_IDENTIFIED, key, bare, frozenset([key])))
            rest.append(chunk[-1] if chunk[-1] in ".,:;!?" else "")
        else:
            rest.append(chunk)
    return found, " ".join(rest)


def _is_identifier(bare: str) -> bool:
    """Whether it is written as no word, number or known name is."""
    if len(bare) > _LONGEST_WORD:
        return True
    if not _IDENTIFIER.fullmatch(bare) or bare.lower() in NAMES or bare.lower() in UNITS:
        return False
    counted = _COUNTED.fullmatch(bare)
    return counted is None or not (counted[1].lower() in _SUFFIXES or counted[1].lower() in UNITS)


def _counted(words: Sequence[Word], found: Sequence[Quantity]) -> Iterator[ClaimValue]:
    """The numbers, those with a unit by what they measure."""
    places = {one.at for one in found}
    for one in found:
        if one.dimension in MEASURED:
            yield ClaimValue(one.dimension, one.key, one.text)
        else:
            yield _number(words[one.at], one.text)
    for at, word in enumerate(words):  # `retries: five`
        is_last = at + 1 == len(words) or not words[at + 1].stem
        if at not in places and word.low in NUMBERS and (NUMBERS[word.low] > 1 or is_last):
            yield _number(word, word.text)


def _number(word: Word, text: str) -> ClaimValue:
    if word.low in NUMBERS:
        return ClaimValue("number", str(NUMBERS[word.low]), text, frozenset([word.low]))
    digits = word.low.removeprefix("v").replace(",", "")
    return ClaimValue("number", f"{float(digits):g}" if _POWER.fullmatch(digits) else digits, text)


def _named(words: Sequence[Word], counted: Sequence[Quantity]) -> Iterator[ClaimValue]:
    """The names: those of a class that is known, and those by their form."""
    numbers = {
        one.at + n for one in counted for n in range(len(one.text.split()) if one.dimension in MEASURED else 1)
    }  # fmt: skip
    for at, word in enumerate(words):
        if at in numbers:
            continue
        kind, name = choice_of(word) or ("", "")
        if name in _PERIODS:
            yield ClaimValue("time", _PERIODS[name], word.text, frozenset([word.stem]))
        elif kind:
            yield ClaimValue(kind, name, word.text, frozenset([word.stem]))
        elif _JOINED.fullmatch(word.low):
            parts = {part.stem for part in read(word.low.replace("-", " "))}
            yield ClaimValue(_IDENTIFIED, word.low, word.text, frozenset(parts))
        elif is_content(word) and (word.is_name or _is_proper(words, at)):
            yield ClaimValue("name", word.stem, word.text, frozenset([word.stem]))


def _is_proper(words: Sequence[Word], at: int) -> bool:
    """Whether a capital that begins a sentence is more likely that of a name: behind a colon, or before a verb."""
    is_labelled = at > 0 and words[at - 1].text == ":"
    is_bare = at + 1 < len(words) and words[at + 1].low in VERB_MARKS
    return words[at].text[0].isupper() and (is_labelled or is_bare)
