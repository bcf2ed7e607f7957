"""Ids and names of clusters, made of their members alone.

A name is made of the words that tell a cluster from the others, by class-based tf-idf (M. Grootendorst: "BERTopic: Neural
Topic Modeling with a Class-Based TF-IDF Procedure", 2022).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import log

from memcli.digests import blake2b
from memcli.model.analysis import terms
from memcli.model.memory import Memory
from memcli.record import Record
from memcli.summarize.keyphrases import extract
from memcli.summarize.sentences import BREAK, PARTICIPLE, VAGUE_WORD, classify, path_words, split

_WORDS = 2
_MOST_WORDS = 4
_DIGEST_BYTES = 6
_NAMELESS = "cluster"
_LEAST_SHARE = 0.25
"""A word of fewer members says what those are about, and not the cluster."""
_UNTELLING = (BREAK, PARTICIPLE, VAGUE_WORD)
_ENDINGS = frozenset("py js ts rs rb md rst txt yml yaml toml cfg ini".split())
"""Of file names: every second memory of code has one in its tags."""


def cluster_id(ids: Iterable[str]) -> str:
    """The id of the cluster of these memories: the least digest of any of them.

    Two sets of members have one id as likely as what they share is large (A. Broder: "On the Resemblance and Containment
    of Documents", 1997): most small changes leave it as it is, and clusters that share no member differ.
    """
    return "clu_" + min(blake2b(name.encode(), digest_size=_DIGEST_BYTES).hexdigest() for name in ids)


def names(clusters: Sequence[Sequence[Memory]]) -> list[str]:
    """A short name for each cluster, given members of it; no two are alike, and the earlier cluster has the better one."""
    counted = [_count(members) for members in clusters]
    taken: set[str] = set()
    found = []
    for words, speech in zip(_ranked([one.shares for one in counted]), counted, strict=True):
        name = next(name for name in speech.names(words) if name not in taken)
        taken.add(name)
        found.append(name)
    return found


class _Speech(Record):
    """How a cluster speaks: the share of its members that have each stem, the words that stand for it, and which of two
    stems follows the other."""

    shares: Mapping[str, float]
    forms: Mapping[str, Counter[str]]
    pairs: Counter[tuple[str, str]]

    def names(self, stems: Sequence[str]) -> Iterable[str]:
        """What the cluster may be called, best first, without end."""
        for count in range(_WORDS, _MOST_WORDS + 1):
            yield " ".join(self._word(stem) for stem in self._in_order(stems[:count])) or _NAMELESS
        number = 2
        while True:
            yield f"{' '.join(self._word(stem) for stem in self._in_order(stems[:_WORDS])) or _NAMELESS} {number}"
            number += 1

    def _in_order(self, stems: Sequence[str]) -> list[str]:
        """The stems as they are said: each behind those that it follows more often than it comes before them."""
        order: list[str] = []
        for stem in stems:
            place = len(order)
            while place and self.pairs[stem, order[place - 1]] > self.pairs[order[place - 1], stem]:
                place -= 1
            order.insert(place, stem)
        return order

    def _word(self, stem: str) -> str:
        return min(self.forms[stem].items(), key=lambda item: (-item[1], item[0]))[0]


def _count(members: Sequence[Memory]) -> _Speech:
    counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    for memory in members:
        stems: set[str] = set()
        for line in _lines(memory):
            said = [(stem, word) for word in line.split("-") if (stem := _stem(word))]
            for stem, word in said:
                stems.add(stem)
                forms.setdefault(stem, Counter())[word] += 1
            pairs.update(combinations([stem for stem, _ in said], 2))
        counts.update(stems)
    shares = {stem: n / len(members) for stem, n in counts.items() if n > 1 or len(members) == 1}
    return _Speech(shares, forms, pairs)


def _stem(word: str) -> str:
    """What words that differ in number only have in common; nothing for numbers, hashes, endings and vague words."""
    if not word or word in _ENDINGS or classify(word)[0] in _UNTELLING:
        return ""
    return " ".join(terms(word))


def _lines(memory: Memory) -> list[str]:
    """What a memory is about, as slugs: its tags, the phrases of its text as they follow one another, and its path."""
    phrases = sorted(extract(split(memory.summary_short or memory.raw)), key=lambda phrase: phrase.position)
    return [*memory.tags, "-".join(phrase.tag for phrase in phrases), *path_words(memory.path)]


def _ranked(shares: Sequence[Mapping[str, float]]) -> list[list[str]]:
    """The stems of each cluster, those first that tell it from the others."""
    total: dict[str, float] = {}
    for one in shares:
        for stem, share in one.items():
            total[stem] = total.get(stem, 0.0) + share
    mean = sum(total.values()) / max(len(shares), 1)

    def rank(one: Mapping[str, float], stem: str) -> tuple[bool, float, str]:
        return one[stem] < _LEAST_SHARE, -round(one[stem] * log(1 + mean / total[stem]), 6), stem

    return [sorted(one, key=partial(rank, one)) for one in shares]
