"""Suspects: the rules of whose groups each has a literal in the text, with RE2 and without."""

from __future__ import annotations

import json

import pytest

from memcli.safety import patterns
from memcli.safety.injection import InjectionRule, Suspects

RULES = [
    (("ignore", "forget"), ("rules",)),
    (("<!--", "agent"), ("run ", "send")),
    (("rules",),),
    (("忘れ",), ("ルール",)),
    (("bot", "you load"), ("secret",)),
    *[((f"word{n}",),) for n in range(12)],  # so many that RE2 is worth it
]


TEXTS = {
    "nothing of the kind": [], "forget it": [], "the rules": [2], "forget: the rules": [0, 2],
    "two agents send the rules": [1, 2], "x <!-- send -->": [1], "ルールは忘れて": [3], "forget \udc80 rules": [0, 2],
    "as you load the secret": [4], "two bots, one secret": [4], "the secrets of you": [],
}  # fmt: skip


@pytest.mark.parametrize("plenty", [0, 1 << 40], ids=["with RE2", "without"])
def test_a_rule_is_worth_trying_where_each_group_is_met(monkeypatch: pytest.MonkeyPatch, plenty: int) -> None:
    monkeypatch.setattr(patterns, "_PLENTY", plenty)
    rules = [InjectionRule(first, json.dumps([first, others, {}]).encode()) for first, *others in RULES]
    assert {text: Suspects(rules).within(text) for text in TEXTS} == TEXTS
    # In a long text, a literal of the first group must be at the beginning of a word.
    assert {text: Suspects(rules).within(f"{'z ' * 200}{text}") for text in TEXTS} == TEXTS
