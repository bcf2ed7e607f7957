"""Words of texts and queries, and the terms that a search compares: stems, identifiers, pairs of characters in scripts without
spaces. Texts and queries are read by the same functions, so that equal words give equal terms. Also the dates in prose.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache

import Stemmer

from memcli.clock import time_or_none
from memcli.record import Record
from memcli.regex import regex
from memcli.text.languages import (
    HIRAGANA,
    MEANINGLESS,
    STEM,
    UNSPACED,
    language_of,
    pairs,
    stem_in,
    without_accents,
)

VERSION = f"5-{Stemmer.version()}"
"""Changes when a text no longer has the same terms; indexes of another version are rebuilt."""

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both
    but by can cannot could did do does doing down during each few for from further had has have having he her
    here hers him his how i if in into is it its itself just me more most my no nor not now of off on once only
    or other our ours out over own same she should so some such than that the their theirs them then there these
    they this those through to too under until up very was we were what when where which while who whom why will
    with would you your yours s t d ll m re ve don didn doesn isn
    """.split()
)
_MAX_WORD = 64
_WORD = regex(r"\w+(?:['’][a-z]{1,2}\b)?")
_LINKED = r"(?:['’][a-z]{1,2}\b)?(?:[.-]\w+)*"
_CHAIN = regex(rf"(?:(?<![\w-])--(?=[a-zA-Z]))?\w+{_LINKED}")
_PLAIN_CHAIN = regex(rf"\w\w*{_LINKED}")
"""The same in a text without options, in half of the time: `re` skips to what may begin a match only where this is one class."""
# An option is a term with its dashes, as `--short` would otherwise be the word `short`.
_OPTION = "--"
_MAX_CHAIN, _MOST_LINKS = 40, 4
_PART = regex(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CAMEL = regex(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
"""The stem of a word in lower case. Its own cache is off, as it is slower than the caches here."""

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
MONTH_NUMBERS = (
    {month: n for n, month in enumerate(MONTHS, 1)} | {m[:3]: n for n, m in enumerate(MONTHS, 1)} | {"sept": 9}
)
"""Numbers of months, 1 to 12, by name and abbreviation."""
DAY_NUMBERS = {day: n for n, day in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())}
"""Numbers of weekdays; Monday is 0."""


def terms(text: str) -> list[str]:
    """The terms of `text` in order: stems of its words without stop words; identifiers, versions, file names and options, whole
    and in parts; in scripts without spaces, every two characters. In a text that is clearly in another language, each word also
    has its stem in that language."""
    chains = _chains(text)
    language = language_of(text, chains, STOP_WORDS)
    if not language:
        return [term for chain in chains for term in (_known if len(chain) <= _MAX_WORD else _links)(chain)]
    found: list[str] = []
    for chain in chains:
        low = chain.lower()
        if low in MEANINGLESS[language]:
            continue
        own = (_known if len(chain) <= _MAX_WORD else _links)(chain)
        found += own
        if len(own) == 1 and low.isalpha():
            found.append(stem_in(language, low[:_MAX_WORD]))
    return found


def language(text: str) -> str:
    """The language of a text that is clearly not English, as `language_of` names it; otherwise empty."""
    return language_of(text, _chains(text), STOP_WORDS)


def is_foreign(text: str) -> bool:
    """Whether most of the text is clearly not English: by its function words, or by its letters, where one of a script without
    spaces counts for three."""
    if text.isascii():
        return bool(language(text))
    unspaced = sum(len(run) for run in UNSPACED.findall(text))
    others = sum(c.isalpha() and not c.isascii() for c in text) - unspaced
    return 3 * unspaced + others > sum(c.isalpha() and c.isascii() for c in text) or bool(language(text))


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query, in order."""
    return list(dict.fromkeys(terms(text)))


def without_absent(frequencies: Mapping[str, int]) -> dict[str, int]:
    """The frequencies of the terms of a query, without those of frequency 0 that other terms stand for: compounds, whose parts
    are terms too, and one of the two stems of a word in another language, if texts have the other one."""
    counted = list(frequencies.items())
    found = {}
    for n, (term, count) in enumerate(counted):
        other = counted[n - 1] if term.endswith(STEM) and n else counted[n + 1] if n + 1 < len(counted) else ("", 0)
        is_stem = other[1] > 0 and term.endswith(STEM) != other[0].endswith(STEM)
        # The parts of a version or a date cannot stand for it: its numbers alone mean something else.
        is_compound = ("-" in term or "." in term) and not any(c.isdigit() for c in term)
        if count or not (is_compound or is_stem):
            found[term] = count
    return found


def simple_terms(text: str) -> list[str]:
    """The terms of `text` without compounds with dots and hyphens."""
    return [term for term in terms(text) if "-" not in term and "." not in term]


def exact_terms(text: str) -> list[str]:
    """The terms of `text` that are names: identifiers, versions, options and file names, not split into parts."""
    found = []
    for chain in _chains(text):
        if "." in chain or "-" in chain:
            low = chain.lower()
            found += [term for term in _links(chain)[-1:] if term in (low, low.removeprefix(_OPTION))]
        elif "_" in chain.strip("_") or _CAMEL.search(chain):
            found += _forms(chain[:_MAX_WORD])[:1]
    return list(dict.fromkeys(found))


def words(text: str) -> list[str]:
    """The words of `text` as written, without stop words."""
    return [w for w in _WORD.findall(_fold(text)) if w.lower() not in STOP_WORDS]


def without_terms(text: str, common: frozenset[str]) -> str:
    """`text` without the words whose terms are all in `common`; `text` itself if no word would remain."""
    remaining = _WORD.sub(
        lambda m: "" if (forms := _forms(m[0][:_MAX_WORD])) and common.issuperset(forms) else m[0], _fold(text)
    )
    return " ".join(remaining.split()) if _WORD.search(remaining) else text


# Without `n't` these would be `wo`, `ca`, `sha` and `ai`, which look like words of the subject.
_NEGATED = {"won't": "will", "can't": "can", "shan't": "shall", "ain't": "is"}


def negated(low: str) -> str:
    """The verb in a negated contraction in lower case, as `do` in `don't`; empty for another word."""
    return _NEGATED.get(low) or (low[:-3] if low.endswith("n't") else "")


def _fold(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _chains(text: str) -> list[str]:
    folded = _fold(text)
    if folded.isascii() or not UNSPACED.search(folded):
        return (_CHAIN if _OPTION in folded else _PLAIN_CHAIN).findall(folded)
    found: list[str] = []
    at = 0
    for run in UNSPACED.finditer(folded):
        found += _CHAIN.findall(folded[at : run.start()])
        found.append(run[0])
        at = run.end()
    found += _CHAIN.findall(folded[at:])
    return [chain for chain in found if not HIRAGANA.match(chain)] or found


def _links(chain: str) -> tuple[str, ...] | list[str]:
    """The terms of a chain of words with dots or hyphens between them: those of its words, and if it is short the whole; for an
    option of one word also the option."""
    if "." not in chain and "-" not in chain:
        if not chain.isascii() and UNSPACED.match(chain):
            return pairs(chain)
        return _forms(chain[:_MAX_WORD])
    if chain.startswith(_OPTION):
        name = chain.removeprefix(_OPTION)
        return [*_links(name), *([] if "-" in name or "." in name else [chain[:_MAX_WORD].lower()])]
    parts = _WORD.findall(chain)
    found = [term for word in parts for term in _forms(word[:_MAX_WORD])]
    if found and len(parts) <= _MOST_LINKS and len(chain) <= _MAX_CHAIN:
        found.append(chain.lower())
    return found


_known = lru_cache(maxsize=100_000)(_links)
"""`_links` with a cache, as most words recur."""


@lru_cache(maxsize=100_000)
def _forms(word: str) -> tuple[str, ...]:
    low = word.lower()
    low, mark, ending = low.replace("’", "'").partition("'")
    if mark and ending == "t":  # don't, isn't, can't
        return ()
    low = low.strip("_")
    if not low or low in STOP_WORDS:
        return ()
    forms = [stem(low if low.isascii() else without_accents(low))]
    parts = [p.lower() for p in (_PART.findall(word) if word.isascii() else word.split("_"))]
    if len(parts) > 1:
        forms += [stem(p) for p in parts if len(p) > 1 and p not in STOP_WORDS]
    return tuple(dict.fromkeys(forms))


_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_WRITTEN = regex(
    rf"\b(?:{_DAY}\s+(?:of\s+)?)?({'|'.join(sorted(MONTH_NUMBERS, key=len, reverse=True))})\b\.?(?:\s+{_DAY}(?!\d))?(?:,?\s+(?:of\s+)?(\d{{4}}))?",
    re.IGNORECASE,
)
_NUMERIC = regex(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_AMBIGUOUS = ("may", "mar", "march", "dec", "sun", "jan")


class Date(Record):
    """A month in a text (`in May`), with the year and the day if the text has them (`May 3, 2023`, `2023-05-03`)."""

    month: int
    year: int | None = None
    day: int | None = None

    def match(self, moment: str) -> float:
        """How well `moment` (RFC 3339) matches: 1 on the day, 0.5 in the month, otherwise 0."""
        if int(moment[5:7]) != self.month or (self.year is not None and int(moment[:4]) != self.year):
            return 0.0
        return 1.0 if self.day is not None and int(moment[8:10]) == self.day else 0.5

    @property
    def moment(self) -> str | None:
        """The beginning of the day in UTC, RFC 3339; None without a year and a day, or if there is no such day."""
        if self.year is None or self.day is None:
            return None
        return time_or_none(f"{self.year:04d}-{self.month:02d}-{self.day:02d}")


def dates(text: str) -> list[Date]:
    """The dates in `text`, those in numbers first."""
    found: list[Date] = []
    if any(c.isdigit() for c in text):
        found += [
            Date(int(m[2]), int(m[1]), int(m[3]) if m[3] else None)
            for m in _NUMERIC.finditer(text)
            if 1 <= int(m[2]) <= 12
        ]
    # The pattern of all months takes longer to compile than a module to import.
    has_month = not MONTH_NUMBERS.keys().isdisjoint("".join([c if c.isalpha() else " " for c in text.lower()]).split())
    for match in _WRITTEN.finditer(text) if has_month else ():
        before, name, after, year = match.groups()
        alone = not (before or after or year)
        if alone and name.lower() in _AMBIGUOUS and not re.search(rf"\bin {name}\b", text, re.IGNORECASE):
            continue  # `may` is mostly the verb, `march` the walk
        day = before or after
        found.append(Date(MONTH_NUMBERS[name.lower()], int(year) if year else None, int(day) if day else None))
    return found
