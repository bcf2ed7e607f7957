"""Generated memories that look like real ones: three summaries, tags, metadata, about 1.5 KB, words by Zipf's law."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

_VOCABULARY = 20_000
_KINDS = ("decision", "fact", "log", "procedure", "guide", "diff")
_SYLLABLES = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "ki",
    "lo",
    "mu",
    "ne",
    "pa",
    "qui",
    "ro",
    "sa",
    "te",
    "vu",
    "wy",
    "zo",
)


class Chance:
    """A stream of numbers made of a seed by SHA-256: the same on every machine and every version of Python."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._block = 0
        self._left = b""

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, but not, `limit`."""
        if len(self._left) < 4:
            self._left = hashlib.sha256(f"{self._seed}/{self._block}".encode()).digest()
            self._block += 1
        value, self._left = int.from_bytes(self._left[:4], "big"), self._left[4:]
        return value % limit


def word(rank: int) -> str:
    """The word of this rank; the lower the rank, the more frequent the word is."""
    parts = []
    rest = rank + len(_SYLLABLES)
    while rest:
        rest, part = divmod(rest, len(_SYLLABLES))
        parts.append(_SYLLABLES[part])
    return "".join(parts)


def text(chance: Chance, words: int) -> str:
    """Sentences of about ten words, in which the word of rank r stands about 1/r as often as the first."""
    found = []
    for n in range(words):
        scale = 1 << (1 + chance.below(14))  # log-uniform ranks: Zipf's law
        rank = min(_VOCABULARY - 1, scale + chance.below(scale))
        found.append(word(rank).capitalize() if n % 10 == 0 else word(rank) + ("." if n % 10 == 9 else ""))
    return " ".join(found)


def objects(count: int) -> Iterator[dict[str, object]]:
    """`count` memories, oldest first."""
    for n in range(count):
        chance = Chance(f"object {n}")
        raw = text(chance, 110)
        sentences = raw.split(". ")
        day, minute = divmod(n, 1440)
        yield {
            "id": f"obj:{n}",
            "path": f"{word(chance.below(40))}/{word(chance.below(400))}/{word(chance.below(_VOCABULARY))}-{n}",
            "kind": _KINDS[chance.below(len(_KINDS))],
            "raw": raw,
            "summary_micro": sentences[0],
            "summary_short": ". ".join(sentences[:2]),
            "summary_long": ". ".join(sentences[:5]),
            "tags": sorted({word(chance.below(300)) for _ in range(4)}),
            "metadata": {"group": f"G{n // 20}", "source": f"src/{word(chance.below(400))}.py"},
            "created_at": f"20{10 + day // 336 % 80:02d}-{1 + day // 28 % 12:02d}-{1 + day % 28:02d}T{minute // 60:02d}:{minute % 60:02d}:00Z",
        }


def questions(count: int) -> list[str]:
    """Questions of three words each: a frequent one, a middling one, a rare one."""
    found = []
    for n in range(count):
        chance = Chance(f"question {n}")
        ranks = (4 + chance.below(30), 100 + chance.below(400), 2000 + chance.below(4000))
        found.append(" ".join(word(rank) for rank in ranks))
    return found


def lines(count: int) -> Iterator[str]:
    """The memories as `memcli remember --batch` takes them."""
    for item in objects(count):
        yield json.dumps(item, ensure_ascii=False)
