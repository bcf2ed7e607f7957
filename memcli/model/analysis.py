"""Text to terms, the same way for what is stored and for what is asked; and the number of its tokens, estimated offline.

No tokenizer of a provider is shipped: they differ, and change. Words of up to four letters count as one token, longer
ones as one more for every four letters begun; digits come in threes; a mark, a wide character or a line end is one;
anything else outside ASCII and Latin is two. On English prose and on code the estimate is above what the byte-pair
encoders of current models give.
"""

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


_PIECE = re.compile(r"[A-Za-z\u00c0-\u024f]+|\d+|[^\S\n]+|\n|.", re.DOTALL)
_LETTERS_PER_TOKEN = 4
_DIGITS_PER_TOKEN = 3
_SPACES_PER_TOKEN = 8


def count_tokens(text: str) -> int:
    """The estimated number of tokens in `text`."""
    return sum(map(_tokens, _PIECE.findall(text)))


def cut_tokens(text: str, most: int) -> str:
    """The beginning of `text` that is at most `most` tokens, with `…` for what was cut off."""
    end = total = 0
    for match in _PIECE.finditer(text):
        total += _tokens(match[0])
        if total > most:
            return text[:end].rstrip() + "…"
        end = match.end()
    return text


def _tokens(piece: str) -> int:
    first = piece[0]
    if first.isascii():
        if first.isalpha():
            return -(-len(piece) // _LETTERS_PER_TOKEN)
        if first.isdigit():
            return -(-len(piece) // _DIGITS_PER_TOKEN)
        # One space belongs to the word behind it; indentation is packed.
        return (len(piece) - 1 + _SPACES_PER_TOKEN - 1) // _SPACES_PER_TOKEN if first in " \t" else 1
    if "\u00c0" <= first <= "\u024f":
        return -(-len(piece) // 2)
    return 1 if "\u3040" <= first <= "\uffdc" else 2
