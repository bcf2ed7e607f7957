"""The words of a sentence: as written, in lower case, and by their stems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from memcli.claims.lexicon import (
    CASED,
    FIRST_PARTS,
    FIRST_WORDS,
    GENERIC,
    LONGEST,
    LONGEST_PHRASE,
    NAMES,
    PHRASES,
    PLAIN,
    REGION,
    REGIONS,
    SAME_WORDS,
)
from memcli.record import NamedTuple
from memcli.regex import regex
from memcli.text.words import negated, stem

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
    """One token: as written, in lower case, its stem (empty for marks), and whether it is a name by its form."""

    text: str
    low: str
    stem: str
    is_name: bool


def read(sentence: str) -> list[Word]:
    """The words of a sentence, contractions written out; names and phrases of several words as one."""
    words: list[Word] = []
    for token in _written_out(tokens(sentence)):
        words.append(_word(token, is_first=not words or words[-1].text in ".:!?;"))
    found: list[Word] = []
    at = 0
    while at < len(words):
        length, joined = _longest(words, at)
        found += joined
        at += length
    return found


def tokens(sentence: str) -> list[str]:
    """A sentence as its words, numbers and marks, as they are written."""
    return _TOKEN.findall(sentence if sentence.isascii() else sentence.translate(_APOSTROPHES))


@lru_cache(maxsize=50_000)
def choice_of(word: Word) -> tuple[str, str] | None:
    """The class of names that a word is one of, and the name."""
    known = NAMES.get(word.low)
    if known is None:
        return (REGION, word.low) if REGIONS.fullmatch(word.low) else None
    if word.low in PLAIN:
        return None
    if word.low in CASED and not (word.text[0].isupper() or word.text[0] == "`"):
        return None
    return known


def is_content(word: Word) -> bool:
    """Whether the word says something of what a claim is about."""
    return bool(word.stem) and word.stem not in GENERIC


def _written_out(found: Sequence[str]) -> Iterator[str]:
    for token in found:
        if token[-2:] in ("'t", "'T") and (verb := negated(token.lower())):
            yield from (verb, "not")
        elif ":" in token and token[0].isalpha():  # debian:12
            yield from token.split(":", 1)
        else:
            yield token


@lru_cache(maxsize=50_000)
def _stem(low: str) -> str:
    known = stem(low)
    return SAME_WORDS.get(known, known)


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
    return Word(token, low, _stem(low), is_name)


def _longest(words: Sequence[Word], at: int) -> tuple[int, Sequence[Word]]:
    """How many words from `at` on count as others, and which these are."""
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
    """Whether nearly the same words stand in another order, as in "A before B" and "B before A"; a clause that moved as a
    whole, as from the end to the beginning, changes nothing."""
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
