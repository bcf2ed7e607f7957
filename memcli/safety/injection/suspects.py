"""Which rules may find something in a text, by the literals that each of them needs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from memcli.safety.patterns import Literals

Groups = Sequence[Sequence[str]]
_PUNCTUATION = bytes.maketrans(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", b" " * 32)
_HEAD = 5


class Suspects:
    """The numbers of the rules, given by their groups of literals, each of which must have one in the text."""

    def __init__(self, rules: Sequence[Groups]) -> None:
        self._rules = rules

    def within(self, low: str) -> list[int]:
        """Those that may find something in `low`, a text in lower case, in order."""
        found = self._literals.at_once(low)
        if found is None:
            return self._one_by_one(low)
        bits = 0
        for word in found:
            bits |= self._bits[word]
        return [number for number, wanted in enumerate(self._wanted) if bits & wanted == wanted]

    @cached_property
    def _literals(self) -> Literals:
        return Literals(word for groups in self._rules for group in groups for word in group)

    def _one_by_one(self, low: str) -> list[int]:
        by_head, by_sign = self._index
        heads = {word[:_HEAD] for word in _words(low)}
        numbers = {number for head in heads & by_head.keys() for number in by_head[head]}
        numbers.update(number for number, signs in by_sign if any(sign in low for sign in signs))
        return [n for n in sorted(numbers) if all(_has_one(low, group) for group in sorted(self._rules[n], key=len))]

    @cached_property
    def _bits(self) -> dict[str, int]:
        """For each literal the bits of the groups that have it."""
        bits: dict[str, int] = {}
        bit = 1
        for groups in self._rules:
            for group in groups:
                for word in group:
                    bits[word] = bits.get(word, 0) | bit
                bit <<= 1
        return bits

    @cached_property
    def _wanted(self) -> list[int]:
        """For each rule the bits of all of its groups."""
        wanted, at = [], 0
        for groups in self._rules:
            wanted.append(((1 << len(groups)) - 1) << at)
            at += len(groups)
        return wanted

    @cached_property
    def _index(self) -> tuple[dict[str, list[int]], list[tuple[int, list[str]]]]:
        """The rules by what the words of their first group begin with, and those where one begins with a sign."""
        by_head: dict[str, list[int]] = {}
        by_sign = []
        for number, groups in enumerate(self._rules):
            heads, signs = set(), []
            for word in groups[0]:
                if not _is_latin(word):
                    signs.append(word)
                    continue
                head = word[:_HEAD]
                head = head if head.isalnum() else _words(word)[0][:_HEAD]
                heads |= {head, f"{head}s"} if len(head) < _HEAD else {head}
            for head in heads:
                by_head.setdefault(head, []).append(number)
            if signs:
                by_sign.append((number, signs))
        return by_head, by_sign


def _has_one(low: str, group: Sequence[str]) -> bool:
    return any(word in low for word in group)


def _is_latin(word: str) -> bool:
    return word[0].isalpha() and word[0] < "\u0370"


def _words(text: str) -> list[str]:
    """The words of `text`, without punctuation."""
    # Bytes are translated many times as fast as text.
    return text.encode("utf-8", "surrogatepass").translate(_PUNCTUATION).decode("utf-8", "surrogatepass").split()
