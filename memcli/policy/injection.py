"""Instructions hidden in stored text: orders to an agent, forged markup, invisible characters, escapes, exfiltration.

A warning, not a boundary: it finds the known forms. What keeps recalled text from acting is how it is printed.
"""

from __future__ import annotations

import re
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
    is_about = False
    for number, reading in enumerate(readings(text)):
        if number == 0:
            is_about = any(word in reading.text[:_HEAD_OF_TEXT] for word in ABOUT)
        if not (reading.is_name and is_about):
            _read(reading, found)
    return frozenset(found)


def _read(reading: Reading, found: set[str]) -> None:
    """Adds to `found` the reasons that one reading gives."""
    low = reading.text
    words = set(_words(low))
    heads = {word[:_HEAD] for word in words}
    has_any = _literals().any_of(low)
    texts = _Texts(low)
    for rule, starts, signs, needs in _table():
        if rule.reason in found or (starts.isdisjoint(heads) and not (signs and has_any(signs))):
            continue
        if all(has_any(group) for group in needs) and _applies(rule, texts):
            found.add(rule.reason)
    if INSTRUCTIONS not in found and is_foreign_order(low, heads):
        found.add(INSTRUCTIONS)


@cache
def _table() -> list[tuple[Rule, frozenset[str], frozenset[str], list[frozenset[str]]]]:
    """Each rule with what its first words begin with, with those that begin with a sign, and with what it needs, the
    shortest group first: it is the quickest to be missing."""
    table = []
    for rule in RULES:
        words = rule.needs[0]
        stems = {_words(word)[0][:_HEAD] for word in words if word[0].isalpha()}
        heads = frozenset(stems | {f"{stem}s" for stem in stems if len(stem) < _HEAD})
        signs = frozenset(word for word in words if not word[0].isalpha())
        table.append((rule, heads, signs, [frozenset(group) for group in sorted(rule.needs, key=len)]))
    return table


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
    return any(
        not is_mentioned(rule, text, match) for text in forms for match in _pattern(rule.pattern).finditer(text)
    )


@cache
def _pattern(pattern: str) -> Pattern:
    return Pattern(pattern)
