"""Instructions hidden in stored text: orders to an agent, forged markup, invisible characters, escapes, exfiltration.

A warning, not a boundary: it finds the known forms. What keeps recalled text from acting is how it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache, cached_property

from memcli.model.characters import ESCAPE, SMUGGLED, is_plain
from memcli.policy.foreign_orders import is_foreign_order
from memcli.policy.injection_rule import ESCAPES, HIDDEN, INSTRUCTIONS, MARKUP, Rule
from memcli.policy.injection_rules import ABOUT, RULES
from memcli.policy.mention import is_mentioned
from memcli.policy.prefilter import Literals, Pattern
from memcli.policy.readings import Reading, readings

_PUNCTUATION = bytes.maketrans(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", b" " * 32)
_HEAD = 5
_HEAD_OF_TEXT = 4000


def find_reasons(text: str) -> frozenset[str]:
    """Why `text` should not be put before an agent as it is; nothing for a plain one. Never raises; linear in time."""
    found = set()
    if not is_plain(text):
        if SMUGGLED().search(text):
            found.add(HIDDEN)
        if ESCAPE().search(text):
            found.add(ESCAPES)
    whole = ""
    for reading in readings(text):
        whole = whole or reading.text
        if not reading.is_name or not any(word in whole[:_HEAD_OF_TEXT] for word in ABOUT):
            _read(reading, found)
    return frozenset(found)


def _read(reading: Reading, found: set[str]) -> None:
    """Adds to `found` the reasons that one reading gives."""
    low = reading.text
    words = set(_words(low))
    heads = {word[:_HEAD] for word in words}
    has_any = _literals().any_of(low)
    texts = _Texts(low)
    for number in sorted(_suspects(heads, has_any)):
        rule, needs = RULES[number], _needs()[number]
        if rule.reason not in found and all(has_any(group) for group in needs) and _applies(rule, texts):
            found.add(rule.reason)
    if INSTRUCTIONS not in found and is_foreign_order(low, heads):
        found.add(INSTRUCTIONS)


def _suspects(heads: set[str], has_any: Callable[[Collection[str]], bool]) -> set[int]:
    """The numbers of the rules of whose first group one may be in a text whose words begin with `heads`."""
    by_head, by_sign = _index()
    found = {number for head in heads & by_head.keys() for number in by_head[head]}
    return found.union(number for number, signs in by_sign if has_any(signs))


@cache
def _index() -> tuple[dict[str, list[int]], list[tuple[int, frozenset[str]]]]:
    """The rules by what their first words begin with, and those whose first words begin with a sign."""
    by_head: dict[str, list[int]] = {}
    by_sign = []
    for number, rule in enumerate(RULES):
        words = rule.needs[0]
        stems = {_words(word)[0][:_HEAD] for word in words if word[0].isalpha()}
        for head in stems | {f"{stem}s" for stem in stems if len(stem) < _HEAD}:
            by_head.setdefault(head, []).append(number)
        if signs := frozenset(word for word in words if not word[0].isalpha()):
            by_sign.append((number, signs))
    return by_head, by_sign


@cache
def _needs() -> list[list[frozenset[str]]]:
    """What each rule needs, the shortest group first: it is the quickest to be missing."""
    return [[frozenset(group) for group in sorted(rule.needs, key=len)] for rule in RULES]


@cache
def _literals() -> Literals:
    return Literals(word for rule in RULES for group in rule.needs for word in group)


def _words(text: str) -> list[str]:
    """The words of `text`, without punctuation."""
    # Bytes are translated many times as fast as text.
    return text.encode("utf-8", "surrogatepass").translate(_PUNCTUATION).decode("utf-8", "surrogatepass").split()


class _Texts:
    """A text, by lines and by paragraphs, each made when a rule first asks for it."""

    def __init__(self, low: str) -> None:
        self._low = low

    @cached_property
    def by_line(self) -> str:
        return self._low.replace("*", "")

    @cached_property
    def by_paragraph(self) -> str:
        low = self._low.replace("\n\n", "\f").replace("\n", " ").replace("\f", "\n")
        return low.replace("*", "")


def _applies(rule: Rule, texts: _Texts) -> bool:
    # An order may run over the lines of a paragraph; markup may not, and what begins a line counts as it is.
    forms = [texts.by_line]
    if rule.reason != MARKUP and "\n" in texts.by_line:
        forms.append(texts.by_paragraph)
    return any(not is_mentioned(rule, text, match) for text in forms for match in _pattern(rule.pattern).finditer(text))


@cache
def _pattern(pattern: str) -> Pattern:
    return Pattern(pattern)
