"""The rule index: the rules for secrets by their keywords, so that a text is searched only for what it could hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from memcli.safety.prefilter import Literals, Pattern
from memcli.safety.secrets.rule import Rule

SHORTEST = 6
TOKEN = 20


class RuleIndex:
    """Rules by the keywords of which a text must have one, as these are written."""

    def __init__(self, rules: Mapping[str, Sequence[Rule]]) -> None:
        self._rules = rules
        self._spellings: dict[str, list[str]] = {}
        for word in rules:
            self._spellings.setdefault(word.lower(), []).append(word)
        self._literals = Literals(self._spellings)

    @staticmethod
    def of(rules: Iterable[Rule]) -> RuleIndex:
        """The index of these rules."""
        table: dict[str, list[Rule]] = {}
        for rule in rules:
            for word in rule.keywords:
                table.setdefault(word, []).append(rule)
        return RuleIndex(table)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def suspects(self, text: str) -> list[Rule]:
        """The rules that could find something in `text`, each once."""
        return _probed(self._occurring(text), text)

    def narrowed(self, whole: str) -> RuleIndex:
        """The index of those rules that could find something in a part of `whole`."""
        occurring = self._occurring(whole)
        kept = {id(rule) for rule in _probed(occurring, whole)}
        left = {word: [rule for rule in rules if id(rule) in kept] for word, rules in occurring.items()}
        return RuleIndex({word: rules for word, rules in left.items() if rules})

    def _occurring(self, text: str) -> dict[str, list[Rule]]:
        """The keywords that are in `text`, each with its rules: in a long word, but for those that may stand apart.

        All are looked for in lower case at once, and in long words only where that finds one.
        """
        if not self._rules or len(text) < SHORTEST:
            return {}

        @cache
        def tokens() -> str:
            return "\n".join([word for word in text.split() if len(word) >= TOKEN])

        @cache
        def low_tokens() -> str:
            return tokens().lower()

        occurring = {}
        low = text.lower()
        for found in sorted(self._literals.within(low)):
            for word in self._spellings[found]:
                is_as_written = word != found
                if is_as_written and word not in text:
                    continue
                words = tokens if is_as_written else low_tokens
                rules = [rule for rule in self._rules[word] if rule.is_apart or word in words()]
                if rules:
                    occurring[word] = rules
        return occurring


def _probed(occurring: Mapping[str, Sequence[Rule]], text: str) -> list[Rule]:
    """The rules, each once, whose probe, where they have one, is in `text`."""
    rules = {id(rule): rule for rules in occurring.values() for rule in rules}.values()
    low = text.lower() if rules else ""
    probes = {rule.probe for rule in rules if rule.probe}
    found = {probe for probe in probes if _probe(probe).may_occur(low)}
    return [rule for rule in rules if not rule.probe or rule.probe in found]


@cache
def _probe(pattern: str) -> Pattern:
    return Pattern(pattern)
