"""WordPiece for plain ASCII: the ids that the `tokenizers` library gives, at a third of its start-up.

The uncased BERT tokenizer (Devlin et al., 2019): control characters out, lowercase, split at white space and around
punctuation, then the longest known piece first. Anything outside ASCII is left to the library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MAX_TOKENS = 256
_MAX_WORD = 100
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WORD = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_FIRST, _LAST, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_SPECIAL = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")


def is_plain(text: str) -> bool:
    """Whether `encode` knows all of `text`: ASCII without the names of special tokens."""
    return text.isascii() and not _SPECIAL.search(text)


def encode(text: str, vocabulary: Mapping[str, int]) -> list[int]:
    """The ids of plain `text` between those that begin and end it; at most MAX_TOKENS."""
    ids = [vocabulary[_FIRST]]
    for word in _WORD.findall(_CONTROLS.sub("", text).lower()):
        ids += _pieces(word, vocabulary)
        if len(ids) >= MAX_TOKENS:
            break
    return [*ids[: MAX_TOKENS - 1], vocabulary[_LAST]]


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    if word in vocabulary:
        return [vocabulary[word]]
    if len(word) > _MAX_WORD:
        return [vocabulary[_UNKNOWN]]
    ids = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else f"##{word[start:end]}"
            if piece in vocabulary:
                ids.append(vocabulary[piece])
                start = end
                break
        else:
            return [vocabulary[_UNKNOWN]]
    return ids
