"""Instructions hidden in stored text: orders to an agent, forged markup, invisible characters, escapes, exfiltration.

A warning, not a boundary: it finds the known forms. What keeps recalled text from acting is how it is printed.
"""

from __future__ import annotations

import re
from functools import cache, cached_property

from memcli.model.characters import ESCAPE, INVISIBLE, SMUGGLED, is_plain
from memcli.policy.injection_rules import (
    DISCUSSED,
    ESCAPES,
    HIDDEN,
    INSTRUCTIONS,
    LANGUAGES,
    MARKUP,
    RULES,
    Near,
    Rule,
)
from memcli.policy.prefilter import Literals, Pattern

_LOOKALIKES = str.maketrans("аеорсухіѕјԁɡһӏԛԝАЕОРСУХІЅЈВКМНТαορνικτ\u0131", "aeopcyxisjdghlqwAEOPCYXISJBKMHTaopviKTi")
"""Letters of other scripts that pass for Latin ones."""
_PUNCTUATION = bytes.maketrans(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", b" " * 32)
_HEAD = 5
_MANY = 12
_QUOTES = "`\"'“”‘’«»„"
_FORBIDDEN = ("never ", "not ", "n't ", "n’t ", "not ever ", "avoid ", "refuse to ", "cannot ", "to not ")
_NEAR_WORDS = 300


def find_reasons(text: str) -> frozenset[str]:
    """Why `text` should not be put before an agent as it is; nothing for a plain one. Never raises; linear in time."""
    found = set()
    if not is_plain(text):
        if SMUGGLED().search(text):
            found.add(HIDDEN)
        if ESCAPE().search(text):
            found.add(ESCAPES)
    low = _fold(text if text.isascii() else _plain(text))
    words = _words(low)
    if len(words) > _MANY and list(map(len, words)).count(1) * 2 > len(words):
        low = _compiled(r"(?<=\b\w) (?=\w\b)").sub("", text.lower()).replace("  ", " ")  # s p e l l e d  o u t
        words = _words(low)
    heads = {word[:_HEAD] for word in set(words)}
    has_any = _literals().any_of(low)
    texts = _Texts(low)
    for rule, starts, signs, needs in _table():
        if rule.reason in found or (starts.isdisjoint(heads) and not (signs and has_any(signs))):
            continue
        if all(has_any(group) for group in needs) and _applies(rule, texts):
            found.add(rule.reason)
    if INSTRUCTIONS not in found and _is_foreign_order(low, heads):
        found.add(INSTRUCTIONS)
    return frozenset(found)


@cache
def _table() -> list[tuple[Rule, frozenset[str], frozenset[str], list[frozenset[str]]]]:
    """Each rule with what its first words begin with, with those that begin with a sign, and with what it needs, the
    shortest group first: it is the quickest to be missing."""
    table = []
    for rule in RULES:
        words = rule.needs[0]
        heads = frozenset(_words(word)[0][:_HEAD] for word in words if word[0].isalpha())
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


def _plain(text: str) -> str:
    """`text` as a reader takes it: compatibility forms, look-alikes and invisible characters resolved."""
    import unicodedata

    plain = unicodedata.normalize("NFKC", text if is_plain(text) else INVISIBLE().sub("", text))
    return _compiled(r"\w+").sub(_in_latin, plain) if _has_other_scripts(plain) else plain


def _has_other_scripts(text: str) -> bool:
    """Whether there are letters beyond the Latin ones. No pattern: to make one of such ranges takes milliseconds."""
    return any("\u036f" < c < "\u2000" or "\u2e7f" < c < "\ufb00" for c in set(text))


def _in_latin(word: re.Match[str]) -> str:
    """A word that mixes Latin letters with their look-alikes, without these."""
    text = word[0]
    return text.translate(_LOOKALIKES) if any("a" <= c <= "z" or "A" <= c <= "Z" for c in text) else text


def _fold(text: str) -> str:
    """`text` in lower case, with one blank for many; line ends stay line ends."""
    low = text.lower().replace("’", "'")
    return "\n".join([" ".join(line.split()) for line in low.splitlines()]) if "\n" in low else " ".join(low.split())


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
    for text in forms:
        for match in _pattern(rule.pattern).finditer(text):
            harmless = rule.forbids and _is_forbidden(text, match.start())
            if not harmless and not _is_quoted(text, match.start(), match.end()):
                return True
    return False


@cache
def _pattern(pattern: str) -> Pattern:
    return Pattern(pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _is_forbidden(text: str, start: int) -> bool:
    """Whether the words at `start` are what must not be done."""
    return text[max(0, start - 16) : start].endswith(_FORBIDDEN)


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether the match stands in quotation marks in a text that speaks about such things."""
    before = text[max(0, start - 40) : start]
    after = text[end : end + 80]
    if not any(quote in before for quote in _QUOTES) or not any(quote in after for quote in _QUOTES):
        return False
    around = text[max(0, start - _NEAR_WORDS) : start] + text[end : end + _NEAR_WORDS]
    return any(word in around for word in DISCUSSED)


def _is_foreign_order(low: str, heads: set[str]) -> bool:
    """Whether `low` says in another language than English that what was ordered before no longer holds."""
    foreign = not low.isascii() and _has_other_scripts(low)
    if not foreign and _foreign_heads().isdisjoint(heads):
        return False
    for near, starts in _languages():
        if (not starts.isdisjoint(heads) if starts else foreign) and _is_near(near, low):
            return True
    return False


@cache
def _languages() -> list[tuple[Near, frozenset[str]]]:
    """Each language with what its verbs begin with; nothing for those in other scripts than Latin."""
    import unicodedata

    table = []
    for near in LANGUAGES:
        groups = tuple(tuple(unicodedata.normalize("NFKC", word) for word in group) for group in near.groups)
        is_latin = groups[0][0] < "\u0370"
        heads = frozenset(word.split()[0][:_HEAD] for word in groups[0]) if is_latin else frozenset()
        table.append((Near(groups, near.within), heads))
    return table


@cache
def _foreign_heads() -> frozenset[str]:
    """What the verbs of any language in Latin script begin with."""
    return frozenset(head for _, starts in _languages() for head in starts)


def _is_near(near: Near, low: str) -> bool:
    first, *others = near.groups
    if not all(any(word in low for word in group) for group in near.groups):
        return False
    for word in first:
        at = low.find(word)
        while at >= 0:
            window = low[max(0, at - near.within) : at + near.within + len(word)]
            if all(any(other in window for other in group) for group in others):
                return True
            at = low.find(word, at + len(word))
    return False
