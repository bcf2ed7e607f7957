"""Words by what they do to a claim, units, and names of one class, read from `words.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.data import read_json
from memcli.regex import regex
from memcli.text.words import STOP_WORDS, stem

_DATA: Mapping[str, Any] = read_json(__package__, "words.json")


def _split(value: str | list[str]) -> list[str]:
    """The words of an entry, which is one string, or one a line."""
    return (value if isinstance(value, str) else " ".join(value)).split()


def _words(name: str) -> frozenset[str]:
    return frozenset(_split(_DATA[name]))


def _stems(name: str) -> frozenset[str]:
    return frozenset(map(stem, _split(_DATA[name])))


def _inverted(name: str) -> dict[str, str]:
    """For each word of the lists of an entry the name of its list."""
    return {word: key for key, value in _DATA[name].items() for word in _split(value)}


NEGATIONS = _words("negations")
"""Words that deny; contractions are written out before."""
DENYING = _stems("denying")
"""Stems of words that deny what they are said of."""
AFFIRMING = _stems("affirming")
"""Stems of words that affirm what they are said of, and add nothing else."""
SCOPES: Mapping[str, str] = _inverted("scopes")
"""Words that say where something holds: elsewhere the opposite may."""
CONDITIONS = _words("conditions")
"""Words that begin what a claim is limited to."""
BREAKS = _words("breaks") | _words("reasons")
"""Words between two claims of one sentence."""
VERBS = _words("verbs")
"""Verbs at which a subject ends."""
HEDGES = _words("hedges")
"""Words of sentences that claim nothing yet."""
NEWER: tuple[str, ...] = tuple(_DATA["newer"])
"""Phrases that say that something held before and this holds now."""
REPLACED = frozenset(_DATA["replaced"])
"""Phrases before the name of what was not chosen, or no longer is."""
NUMBERS: Mapping[str, int] = {word: int(number) for word, number in _inverted("numbers").items()}
PERIODS: Mapping[str, float] = {word: float(seconds) for word, seconds in _inverted("periods").items()}
"""Words for how often something happens, each with its period in seconds."""
GENERIC = frozenset(STOP_WORDS) | _stems("generic")
"""Stems that say nothing of what a claim is about."""
SAME_WORDS: Mapping[str, str] = {
    stem(word): stem(group.split()[0]) for group in _DATA["same"] for word in group.split()
}
"""Stems that mean the same in notes of engineers."""
UNITS: Mapping[str, tuple[str, float]] = {
    word: (dimension, factor)
    for dimension, units in _DATA["units"].items()
    for words, factor in units.items()
    for word in words.split()
}
"""For each unit what it measures, and its size in the first unit of that."""
PRODUCTS = _words("products")
"""Names behind which a number is a version."""
APPROXIMATE, BEYOND = _words("approximate"), _words("beyond")
"""Words before a number that is not exact, and before a bound beyond which something holds."""

PHRASES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    tuple(phrase.split()): tuple(written.split()) for written, group in _DATA["phrases"].items() for phrase in group
}
"""The words that a sequence of words in lower case stands for."""
LONGEST_PHRASE = max(map(len, PHRASES))
FIRST_WORDS = frozenset(phrase[0] for phrase in PHRASES)

REGION = "region"
REGIONS = regex(r"(?:[a-z]{2}|[a-z]{4,12})(?:-gov)?-(?:north|south|east|west|central){1,2}-?\d{1,2}[a-z]?")
"""The names of regions of clouds: there are too many to list."""
NAMES: Mapping[str, tuple[str, str]] = {
    name: (kind, group.split("=")[0])
    for kind, names in reversed(_DATA["classes"].items())  # the first class that has a name counts
    for group in reversed(_split(names))
    for name in group.split("=")
}
"""For each name in lower case, words joined by a hyphen: its class, and the one name for all its spellings. Two names of one
class in the same place exclude each other."""
CASED = _words("cased")
"""Names that are also plain words: they count where they begin with a capital inside a sentence, or stand as code."""
PLAIN = _words("plain")
"""Of these the ones that are hardly ever written with a capital when they are meant."""
FIRST_PARTS = frozenset(name.split("-")[0] for name in NAMES if "-" in name)
LONGEST = max(name.count("-") for name in NAMES) + 1
