"""The rule index: the rules for secrets by their keywords, so that a text is searched only for what it could hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from memcli.safety.prefilter import Literals, Pattern
from memcli.safety.secrets.rule import Rule

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

    def within(self, text: str, tokens: Callable[[], str]) -> _Keywords:
        """Those whose keyword `text` has: in one of its `tokens`, but for rules whose keyword may stand apart."""
        if not self._rules or not (found := self._literals.within(text)):
            return _NONE
        left = {}
        for word in sorted(found):
            kept = [rule for rule in self._rules[word] if rule.is_apart or word in tokens()]
            left.update({word: kept} if kept else {})
        return _Keywords(left) if left else _NONE

    def only(self, rules: Sequence[Rule]) -> _Keywords:
        """Those of `rules` alone."""
        if not self:
            return _NONE
        kept = {id(rule) for rule in rules}
        left = {word: [rule for rule in named if id(rule) in kept] for word, named in self._rules.items()}
        return _Keywords({word: named for word, named in left.items() if named})


_NONE = _Keywords({})


class RuleIndex(NamedTuple):
    """Keywords to look for in any case, and those to look for as they stand."""

    any_case: _Keywords
    as_is: _Keywords

    @staticmethod
    def of(rules: Iterable[Rule]) -> RuleIndex:
        """The index of these rules."""
        tables: tuple[dict[str, list[Rule]], ...] = ({}, {})
        for rule in rules:
            for word in rule.keywords:
                tables[word != word.lower()].setdefault(word, []).append(rule)
        return RuleIndex(*map(_Keywords, tables))

    def __bool__(self) -> bool:
        return bool(self.any_case) or bool(self.as_is)

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
        return [rule for rule in rules if not rule.probe or _probe(rule.probe).may_occur(low)]

    def _occurring(self, text: str) -> RuleIndex:
        """What is left by the keywords that are in `text`."""
        if len(text) < SHORTEST:
            return _NOTHING

        @cache
        def tokens() -> str:
            return "\n".join([word for word in text.split() if len(word) >= TOKEN])

        @cache
        def low_tokens() -> str:
            return tokens().lower()

        return RuleIndex(self.any_case.within(text.lower(), low_tokens), self.as_is.within(text, tokens))


_NOTHING = RuleIndex(_NONE, _NONE)


@cache
def _probe(pattern: str) -> Pattern:
    return Pattern(pattern)
