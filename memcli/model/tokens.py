"""How many tokens a text is for a language model, estimated offline and rather too high than too low.

No tokenizer of a provider is shipped: they differ, and change. Words of up to four letters are taken for one token,
longer ones for one more for every four letters begun; digits come in threes; a mark, a wide character or a line end is
one; anything else outside ASCII and Latin is two. On English prose and on code this is above what the byte-pair
encoders of current models give.
"""

from __future__ import annotations

import re

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
