"""The rules for hidden instructions, which `rules.json` holds, and which of them may find something in a text.

A rule is tried only where each of its groups of literals has one in the text, so plain text compiles nothing. The first group is
tried by the beginnings of words, so what begins with a letter must stand at the beginning of one. Gaps in patterns are bounded,
which keeps every search linear. `languages` are orders in other languages than English; the words are written as `readings` has
them, in lower case and without accents, and a blank at the end says that the word ends. Each row has as `examples` a text that it
finds and one that it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from memcli.record import Record
from memcli.safety.patterns import Literals, RuleFile

INSTRUCTIONS = "instructions"
MARKUP = "markup"
HIDDEN = "hidden"
ESCAPES = "escapes"
EXFILTRATION = "exfiltration"


class InjectionRule(Record):
    """A pattern over lower-case text on one line. `needs`: of each group one literal must stand in the text.

    `forbids`: a "never" before it, or before its group `act`, makes it harmless. `is_local`: so does a place after it,
    as in "ignore the previous instructions in the old wiki".
    """

    reason: str
    needs: tuple[tuple[str, ...], ...]
    pattern: str
    forbids: bool = True
    is_local: bool = False


class Near(Record):
    """Stems of one language that must stand within `within` characters of each other, one of each group."""

    groups: tuple[tuple[str, ...], ...]
    within: int = 60


def _literals(groups: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, groups))


_FILE = RuleFile(__package__)
RULES: tuple[InjectionRule, ...] = tuple(
    InjectionRule(
        row["reason"],
        _literals(row["needs"]),
        _FILE.expanded(row["pattern"]),
        row.get("forbids", True),
        row.get("is_local", False),
    )
    for row in _FILE.rows("rules")
)
LANGUAGES: tuple[Near, ...] = tuple(
    Near(_literals(row["groups"]), row.get("within", 60)) for row in _FILE.rows("languages")
)
_NEGATIONS = frozenset(
    "nicht niemals nie ne pas jamais no nunca não nao non mai не никогда niet se wird werden".split()
)
"""Words before a verb that turn it round; `не`-verbs of the tables hold their own."""
_NEGATED_AFTER = (" nicht ", " pas ", " niet ", "しない", "しては", "하지 마", "하지마", "지 마", "지 않")
_NEGATED_BEFORE = ("不要", "不得", "不能", "切勿", "请勿", "禁止", "别", "勿", "不可")


_BEFORE, _AFTER = 14, 12
_STOPS = (". ", "; ", "! ", "? ", "\n\n", "。", "！")


def is_foreign_order(low: str, row: int) -> bool:
    """Whether `low`, which has a word of each group of the row, gives an agent the order that the row describes."""
    near = LANGUAGES[row]
    first, *others = near.groups
    for word in first:
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            # What stands near the word in the same sentence.
            before, after = low[max(0, at - near.within) : at], low[end : end + near.within]
            start = max((before.rfind(stop) + len(stop) for stop in _STOPS if stop in before), default=0)
            stops = [place for stop in _STOPS if (place := after.find(stop)) >= 0]
            window = before[start:] + word + after[: min(stops, default=len(after))]
            if all(any(other in window for other in group) for group in others) and not _is_negated(low, at, end):
                return True
            at = low.find(word, end)
    return False


def _is_negated(low: str, at: int, end: int) -> bool:
    """Whether a word for "not" stands beside the one at `at`."""
    before = low[max(0, at - _BEFORE) : at]
    if before.rstrip().endswith(_NEGATED_BEFORE) or (before.split()[-1:] and before.split()[-1] in _NEGATIONS):
        return True
    after = f"{low[end : end + _AFTER]} "
    return any(word in after for word in _NEGATED_AFTER)


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
        return [
            n
            for n in sorted(numbers)
            if all(any(word in low for word in group) for group in sorted(self._rules[n], key=len))
        ]

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
                if not word[0].isalpha() or word[0] >= "\u0370":  # no Latin letter
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


def _words(text: str) -> list[str]:
    """The words of `text`, without punctuation."""
    # Bytes are translated many times as fast as text.
    return text.encode("utf-8", "surrogatepass").translate(_PUNCTUATION).decode("utf-8", "surrogatepass").split()
