"""All rules for secrets, the most particular first, and their index: a text is searched only for what it could hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache

from memcli.safety.patterns import Literals, Pattern
from memcli.safety.secrets.context_rules import COMMAND_RULES, CONTEXT_RULES
from memcli.safety.secrets.prefix_rules import PREFIX_RULES
from memcli.safety.secrets.rule import SecretRule
from memcli.safety.secrets.vendor_rules import (
    ADDRESS_RULES,
    BESIDE_RULES,
    CLOUD_RULES,
    CODE_RULES,
    MODEL_RULES,
    SERVICE_RULES,
)

_FORMATS = (*CLOUD_RULES, *CODE_RULES, *MODEL_RULES, *SERVICE_RULES, *PREFIX_RULES, *ADDRESS_RULES)
RULES: tuple[SecretRule, ...] = (*_FORMATS, *BESIDE_RULES, *CONTEXT_RULES, *COMMAND_RULES)
KINDS = tuple(dict.fromkeys(rule.kind for rule in RULES))
WITH_FORMAT = len(_FORMATS)
"""The rank of the first rule that goes by what stands around a secret."""


SHORTEST = 6
TOKEN = 20


class RuleIndex:
    """Rules by the keywords of which a text must have one, as these are written."""

    def __init__(self, rules: Mapping[str, Sequence[SecretRule]], literals: Literals | None = None) -> None:
        """`literals` look for these keywords and maybe others, in lower case; they are made where there are none."""
        self._rules = rules
        self._spellings: dict[str, list[str]] = {}
        for word in rules:
            self._spellings.setdefault(word.lower(), []).append(word)
        self._literals = literals or Literals(self._spellings)

    @staticmethod
    def of(rules: Iterable[SecretRule]) -> RuleIndex:
        """The index of these rules."""
        table: dict[str, list[SecretRule]] = {}
        for rule in rules:
            for word in rule.keywords:
                table.setdefault(word, []).append(rule)
        return RuleIndex(table)

    def __bool__(self) -> bool:
        return bool(self._rules)

    @cached_property
    def formats(self) -> RuleIndex:
        """The index of those rules that go by the format of a secret."""
        formats = {id(rule) for rule in RULES[:WITH_FORMAT]}
        left = {word: [rule for rule in rules if id(rule) in formats] for word, rules in self._rules.items()}
        return RuleIndex({word: rules for word, rules in left.items() if rules}, self._literals)

    def suspects(self, text: str) -> list[SecretRule]:
        """The rules that could find something in `text`, each once."""
        return list({id(rule): rule for rules in self._suspects(text).values() for rule in rules}.values())

    def narrowed(self, whole: str) -> RuleIndex:
        """The index of those rules that could find something in a part of `whole`."""
        return RuleIndex(self._suspects(whole))

    def _suspects(self, text: str) -> dict[str, list[SecretRule]]:
        """The keywords that are in `text`, each with the rules that could find something.

        All are looked for at once, in lower case, and only what that finds is looked for as it is written.
        """
        if not self._rules or len(text) < SHORTEST:
            return {}
        low = text.lower()
        suspects = {}
        probed = {"": True}
        for found in sorted(self._literals.within(low)):
            for word in self._spellings.get(found, ()):
                read = low if word == found else text
                rules = self._rules[word] if word in read else ()
                for probe in {rule.probe for rule in rules} - probed.keys():
                    probed[probe] = _probe(probe).may_occur(low)
                left = [rule for rule in rules if probed[rule.probe] and (rule.is_apart or word in _tokens(read))]
                if left:
                    suspects[word] = left
        return suspects


@lru_cache(2)
def _tokens(text: str) -> str:
    """The words of `text` that are long enough to hold a token."""
    return "\n".join([word for word in text.split() if len(word) >= TOKEN])


@cache
def _probe(pattern: str) -> Pattern:
    return Pattern(pattern)
