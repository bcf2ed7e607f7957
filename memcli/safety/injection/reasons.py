"""Instructions hidden in stored text: orders to an agent, forged markup, invisible characters, escapes, exfiltration.

A warning, not a boundary: it finds the known forms. What keeps recalled text from acting is how it is printed.
"""

from __future__ import annotations

from functools import cache, cached_property

from memcli.model.characters import ESCAPE, SMUGGLED, is_plain
from memcli.safety.injection.foreign_orders import is_foreign_order, rows
from memcli.safety.injection.mention import is_mentioned
from memcli.safety.injection.readings import Reading, readings
from memcli.safety.injection.rule import ESCAPES, HIDDEN, INSTRUCTIONS, MARKUP, Rule
from memcli.safety.injection.rules import ABOUT, RULES
from memcli.safety.injection.suspects import Suspects
from memcli.safety.prefilter import Pattern

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
    texts = _Texts(low)
    for number in _suspects().within(low):
        if number >= len(RULES):
            if INSTRUCTIONS not in found and is_foreign_order(low, number - len(RULES)):
                found.add(INSTRUCTIONS)
        elif RULES[number].reason not in found and _applies(RULES[number], texts):
            found.add(RULES[number].reason)


@cache
def _suspects() -> Suspects:
    """The rules, and after them the rows of the other languages."""
    return Suspects([*(rule.needs for rule in RULES), *(row.groups for row in rows())])


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
