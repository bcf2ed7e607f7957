"""Quantities in a sentence: numbers with their units, brought to one unit, and what they count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from memcli.claims.lexicon import NUMBERS
from memcli.claims.words import Word, is_content
from memcli.model.analysis import STOP_WORDS
from memcli.regex import regex

_UNITS: Mapping[str, Mapping[str, float]] = {
    "time": {
        "ns nanosecond nanoseconds": 1e-9, "us µs microsecond microseconds": 1e-6, "ms msec millisecond milliseconds": 1e-3,
        "s sec secs second seconds": 1, "m min mins minute minutes": 60, "h hr hrs hour hours": 3600,
        "d day days": 86400, "week weeks": 604800, "month months": 2629800, "quarter quarters": 7889400,
        "year years": 31557600,
    },
    "size": {
        "byte bytes": 1, "b": 1, "kb kib kbyte": 1e3, "mb mib megabyte megabytes": 1e6, "gb gib gigabyte gigabytes": 1e9,
        "tb tib": 1e12, "k": 1e3,
    },
    "rate": {"hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9, "fps": 1},
    "bitrate": {"kbit/s kbps": 1e3, "mbit/s mbps": 1e6, "gbit/s gbps": 1e9, "baud": 1},
    "share": {"% percent pct": 0.01},
    "width": {"bit bits": 1},
    "voltage": {"v volt volts": 1, "mv": 1e-3, "kv": 1e3},
    "current": {"a amp amps": 1, "ma": 1e-3},
    "length": {"px pixel pixels": 1, "em": 1, "mm": 1e-3, "cm": 1e-2, "meter meters metre metres": 1, "km": 1e3},
    "temperature": {"°c degrees": 1},
    "money": {"usd dollars $": 1, "eur euro euros €": 1},
}  # fmt: skip
UNITS = {
    word: (dimension, factor)
    for dimension, units in _UNITS.items()
    for words, factor in units.items()
    for word in words.split()
}
_GLUED = regex(r"(\d[\d,]*(?:\.\d+)?)([a-zµ%°]+(?:/s)?)", re.IGNORECASE)
_NUMBER = regex(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?%?", re.IGNORECASE)
_VERSION = regex(r"v?\d+(?:\.\d+)+|v\d+", re.IGNORECASE)
_CLOCK = regex(r"\d{1,2}:\d\d(?::\d\d)?")
_APPROXIMATE = frozenset(
    "about around roughly approximately circa takes took take reaches reached measured ~ saw was".split()
)
_MOST = frozenset("max maximum most ≤ limit limited capped cap within".split())
_LEAST = frozenset("min minimum least ≥".split())
_BEYOND = frozenset(
    "over larger bigger more above longer beyond older greater > ≤ below under less smaller fewer <".split()
)


class Quantity(NamedTuple):
    """A number: of what dimension, how much of it, how it was written, and what the words beside it are."""

    dimension: str
    value: float
    text: str
    at: int
    beside: frozenset[str]
    is_approximate: bool = False
    noun: str = ""
    bound: str = ""
    is_beyond: bool = False


def quantities(words: Sequence[Word]) -> list[Quantity]:
    """The quantities of a sentence, in order."""
    found: list[Quantity] = []
    used = -1
    for at, word in enumerate(words):
        if at <= used:
            continue
        read = _read(words, at)
        if read is None:
            continue
        dimension, value, length, text = read
        used = at + length - 1
        near = words[max(0, at - 4) : at]
        beside = frozenset(w.stem for w in (*near, *words[at + length : at + length + 3]) if is_content(w))
        noun = words[used].stem if dimension == "number" and " " in text else ""
        is_approximate = any(w.low in _APPROXIMATE for w in near[-3:])
        lows = {w.low for w in near[-3:]}
        bound = "most" if lows & _MOST else "least" if lows & _LEAST else ""
        found.append(Quantity(dimension, value, text, at, beside, is_approximate, noun, bound, bool(lows & _BEYOND)))
    return found


def _read(words: Sequence[Word], at: int) -> tuple[str, float, int, str] | None:
    word = words[at]
    if _CLOCK.fullmatch(word.text):
        hours, minutes = word.text.split(":")[:2]
        return "clock", int(hours) * 60 + int(minutes), 1, word.text
    version = _version(words, at)
    if version is not None:
        return version
    if word.low == "half" and at + 1 < len(words):
        return _half(words, at)
    number = _number(word)
    if number is None:
        return None
    value, unit = number
    if not unit:
        return _with_unit(words, at, value)
    dimension, factor = UNITS[unit]
    return dimension, value * factor, 1, word.text


def _half(words: Sequence[Word], at: int) -> tuple[str, float, int, str] | None:
    """`half an hour`, `half minute`."""
    for length in (2, 3):
        if at + length <= len(words) and (known := UNITS.get(words[at + length - 1].low)) and known[0] == "time":
            return "time", known[1] / 2, length, " ".join(w.text for w in words[at : at + length])
    return None


def _number(word: Word) -> tuple[float, str] | None:
    """The number that a token is, and the unit that is glued to it."""
    if word.low in NUMBERS:
        return float(NUMBERS[word.low]), ""
    text = word.text
    if not text[0].isdigit():
        return None
    if _NUMBER.fullmatch(text):
        plain = text.rstrip("%").replace(",", "")
        try:
            return float(plain), "%" if text.endswith("%") else ""
        except ValueError:
            return None
    return None


def _with_unit(words: Sequence[Word], at: int, value: float) -> tuple[str, float, int, str] | None:
    """A number with its unit, or else a plain one, of which the noun beside it says what it counts."""
    following = words[at + 1] if at + 1 < len(words) else None
    is_word = words[at].low in NUMBERS
    length, text = 1, words[at].text
    if following is not None and not is_word and following.low in ("k", "million"):
        value *= 1e3 if following.low == "k" else 1e6
        length, text = 2, f"{text} {following.text}"
        following = words[at + 2] if at + 2 < len(words) else None
    if following is not None:
        known = UNITS.get(following.low) if not is_word or len(following.low) > 2 else None
        if known is not None and length == 1:
            return known[0], value * known[1], 2, f"{text} {following.text}"
        if following.stem and following.low not in _LINKS and following.low not in STOP_WORDS:
            return "number", value, length + 1, f"{text} {following.text}"
    return None if is_word else ("number", value, length, text)


_LINKS = frozenset("in on at of for to from with and or is are was per by as".split())


def _version(words: Sequence[Word], at: int) -> tuple[str, float, int, str] | None:
    """A number that is the version of what is named before it."""
    word, before = words[at], words[at - 1] if at else None
    if before is not None and before.low == ":" and at > 1 and words[at - 2].stem and word.text[0].isdigit():
        named = words[at - 2]
        if named.is_name or "." in word.text or named.text[0] == "`":
            from_image = _parts(word.text)
            if from_image is not None and _is_product(named):
                return f"version of {named.stem}", from_image, 1, f"{named.text} {word.text}"
    if not (_VERSION.fullmatch(word.low) or (word.text.isdigit() and before is not None and _is_product(before))):
        return None
    value = _parts(word.low.removeprefix("v"))
    if value is None:
        return None
    if "." in word.text and (at + 1 < len(words) and words[at + 1].low in UNITS):
        return None
    if (
        "." in word.text
        and word.text.count(".") == 1
        and not word.low.startswith("v")
        and not _names_version(words, at)
    ):
        return None
    named = next(
        (
            w
            for w in reversed(words[max(0, at - 4) : at])
            if w.stem and (is_content(w) or _is_product(w)) and w.low not in ("version", "versions", "minimum")
        ),
        None,
    )
    return f"version of {named.stem if named else ''}", value, 1, word.text


def _names_version(words: Sequence[Word], at: int) -> bool:
    near = words[max(0, at - 3) : at]
    return any(w.low in ("version", "versions") for w in words[max(0, at - 5) : at + 2]) or any(
        _is_product(w) for w in near
    )


_PRODUCTS = frozenset(
    "python java node nodejs ubuntu debian alpine postgres postgresql llvm gcc clang tls ssl go ruby php macos ios "
    "android safari cpython kernel version rails django react vue angular typescript c++ openssl".split()
)


def _is_product(word: Word) -> bool:
    return word.low in _PRODUCTS


def _parts(text: str) -> float | None:
    """A version as one number, for comparison."""
    numbers = re.findall(r"\d+", text)[:3]
    if not numbers or any(len(n) > 6 for n in numbers):
        return None
    return sum(int(n) / 1e4**place for place, n in enumerate(numbers))


def glued(text: str) -> str:
    """The text with a space between a number and the unit that is written right behind it."""
    return _GLUED.sub(_split, text)


def _split(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2]}" if match[2].lower() in UNITS else match[0]
