"""Words of texts and queries, and the terms that a search compares: stems, identifiers, pairs of characters of Chinese,
Japanese and Korean. Texts and queries are read by the same functions, so that equal words give equal terms."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby, pairwise

import Stemmer

VERSION = f"4-{Stemmer.version()}"
"""Changes when the same text no longer gives the same terms; indexes made by another version are remade."""

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
_WORD = re.compile(r"\w+(?:['’][a-z]{1,2}\b)?")
_CHAIN = re.compile(r"(?:(?<![\w-])--(?=[a-zA-Z]))?\w+(?:['’][a-z]{1,2}\b)?(?:[.-]\w+)*")
_OPTION = "--"
_FIRST_UNSPACED = "\u3040"
_MAX_CHAIN, _MOST_LINKS = 40, 4
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
"""The stem of a word in lower case. Stemmer has a cache of its own, which is slower than the ones here, and off."""

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
MONTH_NUMBERS = (
    {month: n for n, month in enumerate(MONTHS, 1)} | {m[:3]: n for n, m in enumerate(MONTHS, 1)} | {"sept": 9}
)
"""From 1 on, by the whole name and its abbreviations."""
DAY_NUMBERS = {day: n for n, day in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())}
"""From 0, which is Monday."""


def terms(text: str) -> list[str]:
    """The terms of `text` in order: stems of its words without stop words; identifiers, versions, file names and options
    whole and in parts; of Chinese, Japanese and Korean, which do not show where words end, every two characters."""
    return [term for chain in _chains(text) for term in (_known if len(chain) <= _MAX_WORD else _links)(chain)]


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query, in the order of their first place."""
    return list(dict.fromkeys(terms(text)))


def is_compound(term: str) -> bool:
    """Whether the term joins words by dots or hyphens, which are terms of their own too. A version or a date is not one: its
    numbers alone mean something else."""
    return ("-" in term or "." in term) and not any(c.isdigit() for c in term)


def simple_terms(text: str) -> list[str]:
    """The terms of `text` without those that dots and hyphens join."""
    return [term for term in terms(text) if "-" not in term and "." not in term]


def exact_terms(text: str) -> list[str]:
    """The terms of `text` that are names and not language: identifiers, versions, options and file names, as wholes."""
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
    """`text` without the words whose every term is in `common`; `text` itself when no word would be left."""
    kept = _WORD.sub(
        lambda m: "" if (forms := _forms(m[0][:_MAX_WORD])) and common.issuperset(forms) else m[0], _fold(text)
    )
    return " ".join(kept.split()) if _WORD.search(kept) else text


_NEGATED = {"won't": "will", "can't": "can", "shan't": "shall", "ain't": "is"}


def negated(low: str) -> str:
    """The verb that a contraction in lower case denies, as `do` for `don't`; empty for another word."""
    return _NEGATED.get(low) or (low[:-3] if low.endswith("n't") else "")


def _fold(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _chains(text: str) -> list[str]:
    folded = _fold(text)
    if folded.isascii() or max(folded) < _FIRST_UNSPACED:
        return _CHAIN.findall(folded)
    found: list[str] = []
    for is_unspaced, run in groupby(folded, _is_unspaced):
        part = "".join(run)
        found += [part] if is_unspaced else _CHAIN.findall(part)
    return found


def _is_unspaced(character: str) -> bool:
    return character.isalnum() and (
        _FIRST_UNSPACED <= character <= "\u9fff"
        or "\uac00" <= character <= "\ud7a3"
        or "\U00020000" <= character <= "\U0003ffff"
    )


def _links(chain: str) -> tuple[str, ...] | list[str]:
    """The terms of words that a dot or a hyphen joins, and the whole of a few; of an option of one word, the option too."""
    if "." not in chain and "-" not in chain:
        if _is_unspaced(chain[0]):
            return ["".join(two) for two in pairwise(chain)] or [chain]
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
"""As `_links`: most words come again and again."""


@lru_cache(maxsize=100_000)
def _forms(word: str) -> tuple[str, ...]:
    low = word.lower()
    low, mark, ending = low.replace("’", "'").partition("'")
    if mark and ending == "t":  # don't, isn't, can't
        return ()
    low = low.strip("_")
    if not low or low in STOP_WORDS:
        return ()
    forms = [stem(low)]
    parts = [p.lower() for p in (_PART.findall(word) if word.isascii() else word.split("_"))]
    if len(parts) > 1:
        forms += [stem(p) for p in parts if len(p) > 1 and p not in STOP_WORDS]
    return tuple(dict.fromkeys(forms))
