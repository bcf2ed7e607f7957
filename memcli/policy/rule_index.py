"""The rule index: the rules for secrets by their keywords, so that a text is searched only for what it could hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from memcli.policy.prefilter import Literals, Pattern
from memcli.policy.rule import Rule

SHORTEST = 6
TOKEN = 20


class _Keywords:
    """Rules, by the keywords of which a text must have one."""

    def __init__(self, rules: Mapping[str, Sequence[Rule]]) -> None:
        self._rules = rules
        self._literals = Literals(rules)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def __iter__(self) -> Iterator[Rule]:
        """The rules; one with two keywords comes twice."""
        for rules in self._rules.values():
            yield from rules

    def within(self, text: str) -> _Keywords:
        """Those whose keyword `text` has."""
        found = self._literals.within(text)
        return _Keywords({word: rules for word, rules in self._rules.items() if word in found}) if found else _NONE

    def only(self, rules: Sequence[Rule]) -> _Keywords:
        """Those of `rules` alone."""
        if not self:
            return _NONE
        kept = {id(rule) for rule in rules}
        left = {word: [rule for rule in named if id(rule) in kept] for word, named in self._rules.items()}
        return _Keywords({word: named for word, named in left.items() if named})


_NONE = _Keywords({})


class RuleIndex(NamedTuple):
    """Keywords to look for anywhere, in any case and as they stand, and those to look for in tokens alone."""

    apart: _Keywords
    apart_as_is: _Keywords
    tokens: _Keywords
    tokens_as_is: _Keywords

    @staticmethod
    def of(rules: Iterable[Rule]) -> RuleIndex:
        """The index of these rules."""
        tables: tuple[dict[str, list[Rule]], ...] = ({}, {}, {}, {})
        for rule in rules:
            for word in rule.keywords:
                table = tables[(not rule.is_apart) * 2 + (word != word.lower())]
                table.setdefault(word, []).append(rule)
        return RuleIndex(*map(_Keywords, tables))

    def __bool__(self) -> bool:
        return any(map(bool, self[:]))

    def suspects(self, text: str) -> list[Rule]:
        """The rules that could find something in `text`, each once."""
        return self._occurring(text)._probed(text)

    def narrowed(self, whole: str) -> RuleIndex:
        """The index of those rules that could find something in a part of `whole`."""
        occurring = self._occurring(whole)
        left = occurring._probed(whole)
        return RuleIndex(*(keywords.only(left) for keywords in occurring)) if left else _NOTHING

    def _probed(self, text: str) -> list[Rule]:
        """The rules, each once, whose probe, where they have one, is in `text`."""
        rules = list({id(rule): rule for keywords in self for rule in keywords}.values())
        low = text.lower() if rules else ""
        return [rule for rule in rules if not rule.probe or _probe(rule.probe).occurs(low)]

    def _occurring(self, text: str) -> RuleIndex:
        """What is left by the keywords that are in `text`."""
        if len(text) < SHORTEST:
            return _NOTHING
        tokens = ""
        if self.tokens or self.tokens_as_is:
            tokens = "\n".join([word for word in text.split() if len(word) >= TOKEN])
        return RuleIndex(
            self.apart.within(text.lower()) if self.apart else _NONE,
            self.apart_as_is.within(text) if self.apart_as_is else _NONE,
            self.tokens.within(tokens.lower()) if tokens else _NONE,
            self.tokens_as_is.within(tokens) if tokens else _NONE,
        )


_NOTHING = RuleIndex(_NONE, _NONE, _NONE, _NONE)


@cache
def _probe(pattern: str) -> Pattern:
    return Pattern(pattern)
