"""Text to terms, the same way for what is stored and for what is asked."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import Stemmer

VERSION = f"1-{Stemmer.version()}"
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
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_POSSESSIVE = ("'s", "’s")
_stem = Stemmer.Stemmer("english", 0)


def terms(text: str) -> list[str]:
    """The terms of `text` in order: stems of its words without stop words; identifiers whole and in parts."""
    return [term for word in _WORD.findall(_fold(text)) for term in _forms(word[:_MAX_WORD])]


def query_terms(text: str) -> list[str]:
    """The distinct terms of a question, in order."""
    return list(dict.fromkeys(terms(text)))


def words(text: str) -> list[str]:
    """The words of `text` as written, without stop words."""
    return [w for w in _WORD.findall(_fold(text)) if w.lower() not in STOP_WORDS]


def without_terms(text: str, common: frozenset[str]) -> str:
    """`text` without the words whose every term is in `common`; `text` itself when no word would be left."""
    kept = _WORD.sub(
        lambda m: "" if (forms := _forms(m[0][:_MAX_WORD])) and common.issuperset(forms) else m[0], _fold(text)
    )
    return " ".join(kept.split()) if _WORD.search(kept) else text


def _fold(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=200_000)
def _forms(word: str) -> tuple[str, ...]:
    low = word.lower()
    if low.endswith(_POSSESSIVE):
        low = low[:-2]
    low = low.strip("_")
    if not low or low in STOP_WORDS:
        return ()
    forms = [_stem.stemWord(low)]
    parts = [p.lower() for p in (_PART.findall(word) if word.isascii() else word.split("_"))]
    if len(parts) > 1:
        forms += [_stem.stemWord(p) for p in parts if len(p) > 1 and p not in STOP_WORDS]
    return tuple(dict.fromkeys(forms))
