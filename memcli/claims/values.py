"""The values in a text: numbers with their units, identifiers, paths and names. Two texts can only be duplicates if these agree.
Quantities are converted to the base unit of their dimension, so that `60 s` equals `1 minute`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter

from memcli.claims.lexicon import (
    APPROXIMATE,
    BEYOND,
    NAMES,
    NUMBERS,
    PERIODS,
    PRODUCTS,
    UNITS,
    VERBS,
    Word,
    choice_of,
    is_content,
    read,
)
from memcli.record import NamedTuple
from memcli.regex import regex
from memcli.text.words import DAY_NUMBERS, MONTH_NUMBERS, STOP_WORDS

PERIOD = "period"
"""The dimension of frequencies, as the seconds between two events."""
MEASURED = frozenset([*(dimension for dimension, _ in UNITS.values()), PERIOD, "clock", "date"])
"""The dimensions whose values are compared as numbers, not as written."""
_GLUED = regex(r"(?<![\w.,])(\d{1,15}(?:[.,]\d{1,9})?)([a-zµ%°]{1,12}(?:/s)?)", re.IGNORECASE)
_HALF_DAY = regex(r"(?<![\w.:])(1[0-2]|0?[1-9])(?::([0-5]\d))? ?([ap])(?:m\b|\.m\.)", re.IGNORECASE)
_DIGIT = regex(r"\d")
_NUMBER = regex(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?%?", re.IGNORECASE)
_VERSION = regex(r"v?\d+(?:\.\d+)+|v\d+", re.IGNORECASE)
_CLOCK = regex(r"\d{1,2}:\d\d(?::\d\d)?")
_CODE = regex(r"([a-z]{1,12})-?(\d{1,6}(?:\.\d+)?)|([a-z]{2,12})-?(\d[\w.-]{0,40})")
CODE = "code "
"""Prefix of the dimension of a code, followed by its letters."""
_LINKS = frozenset("in on at of for to from with and or is are was per by as".split())
_VERSION_WORDS = frozenset("version versions minimum".split())
_CURRENCIES = frozenset("$€")
_FACTORS = {"k": 1e3, "hundred": 100, "thousand": 1e3, "million": 1e6}
_NOUNS, _SHORT_UNIT, _DAYS = 2, 2, 31


_PARTS = [
    (float(part), tuple(opening.split()))
    for part, openings in (
        (0.5, ("half", "half a", "half an")),
        (0.25, ("a quarter of a", "a quarter of an")),
        (1, ("a", "an")),
    )
    for opening in openings
]


class Quantity(NamedTuple):
    """A number with its dimension, its value in the base unit, and its text.

    The value of a code such as `gpt-4o-mini` is the text after its first letters. `at` is the position of its first word,
    `beside` are the stems around it, `nouns` the stems that a plain number counts. `is_beyond`: the number is a bound, as in
    `over 5 MB`. `stem` is the stem of its first word, for a code or a version also a term of the statement.
    """

    dimension: str
    value: float | str
    text: str
    at: int
    beside: frozenset[str]
    nouns: frozenset[str] = frozenset()
    is_beyond: bool = False
    is_approximate: bool = False
    stem: str = ""

    @property
    def key(self) -> str:
        """The value as text, the same for all ways to write it."""
        return self.value if isinstance(self.value, str) else f"{self.value:.9g}"


_Read = tuple[str, float | str, int, str]
"""A quantity read at a position: its dimension, its value, the number of its words, and its text."""


def quantities(words: Sequence[Word]) -> list[Quantity]:
    """The quantities of a sentence, in order."""
    found: list[Quantity] = []
    at = 0
    while at < len(words):
        may_begin = words[at].low in _FIRST or not words[at].text.isalpha()
        one = next((one for read in _READERS if (one := read(words, at)) is not None), None) if may_begin else None
        if one is None:
            at += 1
            continue
        dimension, value, length, text = one
        near = words[max(0, at - 4) : at]
        after = words[at + length : at + length + 3]
        lows = {w.low for w in near[-3:]}
        counted = words[at + 1 : at + 1 + _NOUNS] if dimension == "number" else ()
        end = next((n for n, word in enumerate(counted) if not word.stem or word.low in _LINKS), len(counted))
        found.append(
            Quantity(
                dimension,
                value,
                text,
                at,
                beside=frozenset(w.stem for w in (*near, *after) if is_content(w)),
                nouns=frozenset(w.stem for w in counted[:end] if is_content(w)),
                is_beyond=bool(lows & BEYOND),
                is_approximate=bool(lows & APPROXIMATE),
                stem=words[at].stem,
            )
        )
        at += length
    return found


def _clock(words: Sequence[Word], at: int) -> _Read | None:
    text = {"midnight": "0:00", "noon": "12:00"}.get(words[at].low, words[at].text)
    if ":" not in text or not _CLOCK.fullmatch(text):
        return None
    hours, minutes = text.split(":")[:2]
    return ("clock", int(hours) * 60 + int(minutes), 1, text)


def _date(words: Sequence[Word], at: int) -> _Read | None:
    """`June 20`, `20 June`."""
    if at + 1 >= len(words):
        return None
    for month, day in ((words[at], words[at + 1]), (words[at + 1], words[at])):
        number = day.text.removesuffix("th").removesuffix("st").removesuffix("nd")
        if month.low in MONTH_NUMBERS and number.isdecimal() and 0 < int(number[:4]) <= _DAYS:
            return ("date", MONTH_NUMBERS[month.low] * 32 + int(number), 2, f"{words[at].text} {words[at + 1].text}")
    return None


def _code(words: Sequence[Word], at: int) -> _Read | None:
    """`ES2020`, `gpt-4o-mini`: a name of letters followed by a number."""
    word = words[at]
    # As values, so that a plain difference is found without vectors too.
    match = _CODE.fullmatch(word.low) if word.is_name and not choice_of(word) else None
    return (f"{CODE}{match[1] or match[3]}", match[2] or match[4], 1, word.text) if match else None


def _period(words: Sequence[Word], at: int) -> _Read | None:
    """`nightly`, `every 5 minutes`, `twice a day`, `each Monday`: the seconds between two events."""
    lows = [word.low for word in words[at : at + 4]]
    length, period = 1, PERIODS.get(lows[0], 0.0)
    if lows[0] in ("every", "each") and len(lows) > 1:
        every = {"other": 2, "second": 2}.get(lows[1]) or _number_of(lows[1])
        length = 3 if every and lows[2:] else 2
        period = (every or 1) * _seconds(lows[length - 1])
        if every and not period and lows[1] == "second":
            length, period = 2, 1.0
    elif lows[0] == "by" and len(lows) > 1:
        length, period = 2, _seconds(lows[1])
    elif len(lows) > 2 and lows[1] in ("times", "a", "an", "per") and (times := _number_of(lows[0])):
        length = 3 if lows[1] != "times" else 4
        period = (
            _seconds(lows[length - 1]) / times if len(lows) >= length and lows[length - 2] in ("a", "an", "per") else 0
        )
    return (PERIOD, period, length, " ".join(w.text for w in words[at : at + length])) if period else None


def _number_of(low: str) -> int:
    return NUMBERS.get(low) or (int(low) if low.isdecimal() and len(low) < 6 else 0)


def _seconds(low: str) -> float:
    """The seconds between two events that happen once in this unit: a weekday comes once a week; 0 if it is no unit of time."""
    dimension, factor = UNITS.get(low, ("", 0.0))
    if dimension == "time":
        return factor
    if low in ("night", "morning", "evening"):
        return 86400.0
    return 604800.0 if low in DAY_NUMBERS else 0.0


def _half(words: Sequence[Word], at: int) -> _Read | None:
    """`half an hour`, `half minute`, `a quarter of an hour`, `an hour`."""
    lows = tuple(word.low for word in words[at : at + 5])
    for part, opening in _PARTS:
        length = len(opening) + 1
        if (
            lows[: length - 1] == opening
            and (unit := " ".join(lows[length - 1 : length])) in UNITS
            and len(unit) > _SHORT_UNIT
        ):
            dimension, factor = UNITS[unit]
            return (dimension, part * factor, length, " ".join(w.text for w in words[at : at + length]))
    return None


def _quantity_number(words: Sequence[Word], at: int) -> _Read | None:
    """A number with its unit, or a plain number."""
    word = words[at]
    is_word = word.low in NUMBERS
    if not is_word and not _NUMBER.fullmatch(word.text):
        return None
    value = float(NUMBERS[word.low] if is_word else word.text.rstrip("%").replace(",", ""))
    if word.text.endswith("%"):
        return ("share", value / 100, 1, word.text)
    if at and words[at - 1].text in _CURRENCIES:
        return ("money", value, 1, f"{words[at - 1].text}{word.text}")
    following = words[at + 1] if at + 1 < len(words) else None
    if following is None or not following.text.strip(".,;:)"):
        return None if is_word else ("number", value, 1, word.text)
    known = UNITS.get(following.low) if not is_word or len(following.low) > _SHORT_UNIT else None
    if known is not None:
        return (known[0], value * known[1], 2, f"{word.text} {following.text}")
    if following.low in _FACTORS and not (is_word and following.low == "k"):
        factor, text, unit = _FACTORS[following.low], f"{word.text} {following.text}", words[at + 2 : at + 3]
        dimension, size = UNITS.get(unit[0].low, ("number", 1)) if unit else ("number", 1)
        length = 2 if dimension == "number" else 3
        return (dimension, value * factor * size, length, f"{text} {unit[0].text}" if length == 3 else text)
    is_counted = following.stem and following.low not in _LINKS and following.low not in STOP_WORDS
    if is_counted:
        return ("number", value, 1, f"{word.text} {following.text}")
    return None if is_word else ("number", value, 1, word.text)


def _version(words: Sequence[Word], at: int) -> _Read | None:
    """A version: by its form, or a number after a product."""
    word, before = words[at], words[at - 1] if at else None
    follows_product = before is not None and before.low in PRODUCTS
    if not (follows_product if word.text.isdecimal() else _VERSION.fullmatch(word.low)):
        return None
    if at + 1 < len(words) and words[at + 1].low in UNITS:
        return None
    is_plain = word.text.count(".") == 1 and not word.low.startswith("v")
    if is_plain and not (
        any(w.low in _VERSION_WORDS for w in words[max(0, at - 5) : at + 2])
        or any(w.low in PRODUCTS for w in words[max(0, at - 3) : at])
    ):
        return None
    numbers = re.findall(r"\d+", word.low)[:3]
    if not numbers or any(len(n) > 6 for n in numbers):
        return None
    named = (
        near.stem
        for near in reversed(words[max(0, at - 4) : at])
        if near.stem and near.low not in _VERSION_WORDS and (is_content(near) or near.low in PRODUCTS)
    )
    # One number orders versions: 1.2.3 is 1.00020003.
    value = sum(int(n) / 1e4**place for place, n in enumerate(numbers))
    return (f"version of {next(named, '')}", value, 1, word.text)


def glued(text: str) -> str:
    """The text with a space between each number and its unit (`5MB` becomes `5 MB`), and `2 pm` as `14:00`."""
    if not _DIGIT.search(text):
        return text
    text = _HALF_DAY.sub(_of_day, text)
    return _GLUED.sub(lambda m: f"{m[1]} {m[2]}" if m[2].lower() in UNITS else m[0], text)


def _of_day(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + 12 * (match[3] in "pP")
    return f"{hour:02}:{match[2] or '00'}"


_FIRST = frozenset(("midnight", "noon", "every", "each", "by", "half", "a", "an", *MONTH_NUMBERS, *PERIODS, *NUMBERS))
"""A quantity begins with one of these words, or with one that has more than letters."""
_READERS: Sequence[Callable[[Sequence[Word], int], _Read | None]] = (
    _clock, _date, _period, _version, _half, _code, _quantity_number,
)  # fmt: skip


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
_NUMERIC = MEASURED | {"number"}
_IDENTIFIED = "identifier"


class ClaimValue(NamedTuple):
    """A value of a text: its `kind` (a dimension, a class of names, `identifier` or `name`), a `key` that is the same for all
    ways to write it, and its text. Another text that has all of `words`, if any, has the value too."""

    kind: str
    key: str
    text: str
    words: frozenset[str] = frozenset()


class Values(NamedTuple):
    """The values of a text, those of each kind in the order of the text, and all its words, in lower case and as stems."""

    found: tuple[ClaimValue, ...]
    words: frozenset[str]


@lru_cache(maxsize=256)
def values_of(text: str) -> Values:
    """The values of a text."""
    identifiers: list[ClaimValue] = []
    rest: list[str] = []  # the text without identifiers
    for chunk in _STEP.sub("", glued(text)).split():
        bare = chunk.strip(_MARKS).rstrip(".:" + _MARKS)
        if bare.isalpha() and bare[1:].islower() and len(bare) <= _LONGEST_WORD:
            rest.append(chunk)  # a word, as most are
        elif not bare.isdecimal() and (times := _TIMES.fullmatch(bare)) is not None:
            identifiers.append(ClaimValue("number", times[1] or times[2], bare))
        elif _is_identifier(bare):
            key = bare.lower()
            identifiers.append(ClaimValue(_IDENTIFIED, key, bare, frozenset([key])))
            rest.append(chunk[-1] if chunk[-1] in ".,:;!?" else "")
        else:
            rest.append(chunk)
    words = read(" ".join(rest))
    forms = {form for word in words for form in (word.low, word.stem)} | {one.key for one in identifiers}
    counted = quantities(words)
    return Values((*identifiers, *_counted(words, counted), *_named(words, counted)), frozenset(forms))


def missing(text: Values, other: Values) -> str:
    """The first value of `other` that `text` lacks, as it is written there; empty if there is none."""
    return next((value.text for value in _only_in(other, text)), "")


def differ(one: Values, other: Values) -> bool:
    """Whether each has a value that the other lacks, or both have the same values in another order: `A takes 5 s, B 9 s`."""
    if _only_in(one, other) and _only_in(other, one):
        return True
    mine, theirs = _keys(one), _keys(other)
    # A paraphrase may name things in another order, but numbers stay with what they measure.
    if one.words != other.words:
        both = {key for key in mine.keys() & theirs.keys() if key[0] in _NUMERIC}
        mine, theirs = ({key: None for key in keys if key in both} for keys in (mine, theirs))
    return sorted(mine, key=itemgetter(0)) != sorted(theirs, key=itemgetter(0))


def share_value(one: Values, other: Values) -> bool:
    """Whether both have the same number or identifier."""
    return any(kind in _NUMERIC or kind == _IDENTIFIED for kind, _ in _keys(one).keys() & _keys(other).keys())


def _only_in(one: Values, other: Values) -> list[ClaimValue]:
    """The values of `one` that `other` lacks."""
    keys = _keys(other)
    return [v for v in one.found if (v.kind, v.key) not in keys and not (v.words and v.words <= other.words)]


def _keys(values: Values) -> dict[tuple[str, str], None]:
    # A dictionary instead of a set, as `differ` compares the order.
    return dict.fromkeys((value.kind, value.key) for value in values.found)


def _is_identifier(bare: str) -> bool:
    """Whether a chunk of text is neither a word nor a number nor a known name, as a path or an address."""
    if len(bare) > _LONGEST_WORD:
        return True
    if not _IDENTIFIER.fullmatch(bare) or bare.lower() in NAMES or bare.lower() in UNITS:
        return False
    counted = _COUNTED.fullmatch(bare)
    return counted is None or not (counted[1].lower() in _SUFFIXES or counted[1].lower() in UNITS)


def _counted(words: Sequence[Word], found: Sequence[Quantity]) -> Iterator[ClaimValue]:
    """The numbers of a text as values: those with a unit by their dimension."""
    places = {one.at for one in found}
    for one in found:
        if one.dimension in MEASURED:
            yield ClaimValue("time" if one.dimension == PERIOD else one.dimension, one.key, one.text)
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
    """The names of a text as values: known ones with their class, others by their form."""
    numbers = {
        one.at + n for one in counted for n in range(len(one.text.split()) if one.dimension in MEASURED else 1)
    }  # fmt: skip
    for at, word in enumerate(words):
        if at in numbers:
            continue
        kind, name = choice_of(word) or ("", "")
        if kind:
            yield ClaimValue(kind, name, word.text, frozenset([word.stem]))
        elif "-" in word.low and _JOINED.fullmatch(word.low):
            parts = {part.stem for part in read(word.low.replace("-", " "))}
            yield ClaimValue(_IDENTIFIED, word.low, word.text, frozenset(parts))
        elif is_content(word):
            # The capital of a sentence's first word shows a name only after a colon, or before a verb.
            is_labelled = at > 0 and words[at - 1].text == ":"
            is_bare = at + 1 < len(words) and words[at + 1].low in VERBS
            if word.is_name or (word.text[0].isupper() and (is_labelled or is_bare)):
                yield ClaimValue("name", word.stem, word.text, frozenset([word.stem]))
