"""The words of a sentence, and the lexicon in `words.json`: words that negate, limit or delimit a claim, units, and names by
class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from memcli.record import NamedTuple
from memcli.regex import regex
from memcli.safety.patterns import read_json
from memcli.text.words import STOP_WORDS, negated, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DATA: Mapping[str, Any] = read_json(__package__, "words.json")


def _split(value: str | list[str]) -> list[str]:
    """The words of an entry of the lexicon: a string, or a list of strings."""
    return (value if isinstance(value, str) else " ".join(value)).split()


def _words(name: str) -> frozenset[str]:
    return frozenset(_split(_DATA[name]))


def _inverted(name: str) -> dict[str, str]:
    """Maps each word in the lists of an entry to the name of its list."""
    return {word: key for key, value in _DATA[name].items() for word in _split(value)}


NEGATIONS = _words("negations")
"""Negations; contractions such as `don't` are expanded before."""
DENYING = frozenset(map(stem, _words("denying")))
"""Stems of verbs and adjectives that negate their clause, as `forbid`."""
AFFIRMING = frozenset(map(stem, _words("affirming")))
"""Stems of words that affirm their clause and add no content."""
SCOPES: Mapping[str, str] = _inverted("scopes")
"""Words for where a claim holds, as `staging`: in another scope the opposite may hold."""
CONDITIONS = _words("conditions")
"""Words that begin a condition."""
BREAKS = _words("breaks") | _words("reasons")
"""Words between two claims of one sentence."""
VERBS = _words("verbs")
"""Verbs at which a subject ends."""
HEDGES = _words("hedges")
"""Words of suppositions, which claim nothing."""
NEWER: tuple[str, ...] = tuple(_DATA["newer"])
"""Phrases of a text that replaces an earlier one."""
REPLACED = frozenset(_DATA["replaced"])
"""Phrases before a name that is rejected, or no longer chosen."""
NUMBERS: Mapping[str, int] = {word: int(number) for word, number in _inverted("numbers").items()}
PERIODS: Mapping[str, float] = {word: float(seconds) for word, seconds in _inverted("periods").items()}
"""Words for how often something happens, each with its period in seconds."""
GENERIC = frozenset(STOP_WORDS) | frozenset(map(stem, _words("generic")))
"""Stems that do not identify the subject of a claim."""
SAME_WORDS: Mapping[str, str] = {
    stem(word): first for group in _DATA["same"] for first in [stem(group.split()[0])] for word in group.split()
}
"""Synonyms in notes of engineers: each stem with the first of its group."""
UNITS: Mapping[str, tuple[str, float]] = {
    word: (dimension, factor)
    for dimension, units in _DATA["units"].items()
    for words, factor in units.items()
    for word in words.split()
}
"""Each unit with its dimension, and its factor relative to the base unit of the dimension."""
PRODUCTS = _words("products")
"""Names of products: a number after one is a version."""
APPROXIMATE, BEYOND = _words("approximate"), _words("beyond")
"""Words before an approximate number, and before a bound (`over 5 MB`)."""

PHRASES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    tuple(phrase.split()): tuple(written.split()) for written, group in _DATA["phrases"].items() for phrase in group
}
"""Maps a sequence of words in lower case to the words that replace it."""
LONGEST_PHRASE = max(map(len, PHRASES))
FIRST_WORDS = frozenset(phrase[0] for phrase in PHRASES)

REGION = "region"
REGIONS = regex(r"(?:[a-z]{2}|[a-z]{4,12})(?:-gov)?-(?:north|south|east|west|central){1,2}-?\d{1,2}[a-z]?")
"""Names of cloud regions: a pattern, as there are too many to list."""
NAMES: Mapping[str, tuple[str, str]] = {
    name: choice
    for kind, names in reversed(_DATA["classes"].items())  # the first class that has a name counts
    for spellings in [group.split("=") for group in reversed(_split(names))]
    for choice in [(kind, spellings[0])]
    for name in spellings
}
"""Maps each name, in lower case with hyphens between its words, to its class and to one of its spellings. Two names of one
class in the same position exclude each other."""
CASED = _words("cased")
"""Names that are also plain words: they count as names only with a capital inside a sentence, or in backticks."""
PLAIN = _words("plain")
"""Names of `CASED` that are hardly ever capitalized when they are meant: they never count."""
FIRST_PARTS = frozenset(name.split("-")[0] for name in NAMES if "-" in name)
LONGEST = max(name.count("-") for name in NAMES) + 1


_NUMBER = r"v?\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,15}){0,4}(?:e-?\d{1,2})?(?:x\d{1,9})?%?"
_MIXED = regex(rf"(?!{_NUMBER}\Z)\d\w*")
"""`4o`, `9f3ab2c`: a name that begins with a digit."""
_REST = r"[\w+#]*(?:(?:[-/.'](?=\w)|:(?=v?\d))[\w+#]*)*"
_TOKEN = regex(  # most tokens are words, and all of these that do not begin like a version are found at once
    rf"[^\W\d_v]{_REST}|`[^`\n]{{1,80}}`|\d{{1,2}}:\d\d(?::\d\d)?|{_NUMBER}(?![\w])|"
    rf"\d{{1,15}}[^\W\d_]\w*|v{_REST}|(?<!\S)--?[^\W\d_][\w-]*|°[cf]?|[.,;:!?()=<>≤≥|%$€/+-]"
)
_APOSTROPHES = str.maketrans("’‘“”–—\u00a0", "''\"\"-- ")
_MOST_CHARACTERS = 60


class Word(NamedTuple):
    """A token: as written, in lower case, its stem (empty for punctuation and numbers), and whether it looks like a name."""

    text: str
    low: str
    stem: str
    is_name: bool


def read(sentence: str) -> list[Word]:
    """The words of a sentence: contractions are expanded, names of several words joined, phrases replaced as in `PHRASES`."""
    words: list[Word] = []
    for token in _TOKEN.findall(sentence if sentence.isascii() else sentence.translate(_APOSTROPHES)):
        written = [token]
        if token[-2:] in ("'t", "'T") and (verb := negated(token.lower())):
            written = [verb, "not"]
        elif ":" in token and token[0].isalpha():  # `debian:12` is a product and its version
            written = token.split(":", 1)
        for part in written:
            words.append(_word(part, is_first=not words or words[-1].text in ".:!?;"))
    found: list[Word] = []
    at = 0
    while at < len(words):
        if words[at].low not in FIRST_PARTS and words[at].low not in FIRST_WORDS:
            found.append(words[at])
            at += 1
            continue
        length, joined = _longest(words, at)
        found += joined
        at += length
    return found


@lru_cache(maxsize=50_000)
def choice_of(word: Word) -> tuple[str, str] | None:
    """The class of a word that is a known name, and the spelling that stands for it; None otherwise."""
    known = NAMES.get(word.low)
    if known is None:
        return (REGION, word.low) if REGIONS.fullmatch(word.low) else None
    if word.low in PLAIN:
        return None
    if word.low in CASED and not (word.text[0].isupper() or word.text[0] == "`"):
        return None
    return known


def is_content(word: Word) -> bool:
    """Whether the word contributes to the subject of a claim."""
    return bool(word.stem) and word.stem not in GENERIC


@lru_cache(maxsize=50_000)
def _word(token: str, *, is_first: bool) -> Word:
    if token[0] == "`":
        inner = token.strip("`").strip().lower()
        return Word(token, inner, inner, is_name=True)
    low = token.lower()
    if not token[0].isalpha() and not _MIXED.fullmatch(token):
        return Word(token, low, "", is_name=False)
    low = low.removesuffix("'s")[:_MOST_CHARACTERS]
    is_name = (token[0].isupper() and not is_first) or any(c.isupper() or c.isdigit() or c in "_./" for c in token[1:])
    found = stem(low)
    return Word(token, low, SAME_WORDS.get(found, found), is_name)


def _longest(words: Sequence[Word], at: int) -> tuple[int, Sequence[Word]]:
    """The number of words at `at` that form a known name or phrase, at least 1, and the words that replace them."""
    low = words[at].low
    if low in FIRST_PARTS:
        for length in range(min(LONGEST, len(words) - at), 1, -1):
            name = "-".join(word.low for word in words[at : at + length])
            if name in NAMES and name not in PLAIN:
                return length, [Word(name, name, name, is_name=True)]
    if low in FIRST_WORDS:
        for length in range(min(LONGEST_PHRASE, len(words) - at), 0, -1):
            written = PHRASES.get(tuple(word.low for word in words[at : at + length]))
            if written is not None:
                return length, [_word(word, is_first=True) for word in written]
    return 1, words[at : at + 1]


def change_places(one: str, other: str) -> bool:
    """Whether nearly the same words are in another order, as in "A before B" and "B before A"; a clause that moved as a whole,
    as from the end to the beginning, does not count."""
    sides = [[word.low for word in read(text) if word.stem and word.low not in _ARTICLES] for text in (one, other)]
    shared = Counter(sides[0]) & Counter(sides[1])
    if shared.total() < _NEARLY_ALL * max(map(len, sides)):
        return False
    left, right = ([word for word in side if shared[word] == side.count(word)] for side in sides)
    while left and right and left[0] == right[0]:
        left, right = left[1:], right[1:]
    while left and right and left[-1] == right[-1]:
        left, right = left[:-1], right[:-1]
    return sorted(left) == sorted(right) and not any(left[n:] + left[:n] == right for n in range(len(left) or 1))


_ARTICLES = frozenset(("a", "an", "the"))
_NEARLY_ALL = 0.8
