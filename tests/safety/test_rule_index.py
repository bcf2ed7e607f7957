"""The rule index: it names every rule whose keyword a text has, and the same ones with RE2 and without."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.safety import patterns
from memcli.safety.secrets.rules import RULES, TOKEN, WITH_FORMAT, RuleIndex, SecretRule


def made(kind: str, *words: str, **more: object) -> SecretRule:
    return SecretRule(words, json.dumps([words, {"kind": kind, "pattern": "x", **more}]).encode())


MADE = (
    made("low", "abc_"),
    made("as_written", "Abc_", "ABC"),
    made("apart", "say ", "Zed", is_apart=True),
    made("probed", "abc_", probe=r"abc_\d"),
)
WORDS = st.sampled_from(["abc_", "Abc_", "ABC", "say ", "Zed", "zed", "é", "1", " ", "\n", "x" * 8, "Y" * TOKEN])
TEXTS = st.lists(WORDS, max_size=12).map("".join)


def said(rules: list[SecretRule]) -> set[str]:
    return {rule.kind for rule in rules}


def expected(text: str) -> set[str]:
    """What the index promises, said once more in the plainest way."""
    if len(text) < 6:
        return set()
    tokens = [word for word in text.split() if len(word) >= TOKEN]
    low = [word.lower() for word in tokens]
    found = set()
    if any("abc_" in word for word in low):
        found |= {"low"} | ({"probed"} if "abc_1" in text.lower() else set())
    if any("Abc_" in word or "ABC" in word for word in tokens):
        found.add("as_written")
    if "say " in text.lower() or "Zed" in text:
        found.add("apart")
    return found


def narrowed(index: RuleIndex, text: str) -> RuleIndex:
    found = index.by_keyword(text)
    return RuleIndex(list({rule: None for rules in found.values() for rule in rules}), found)


@pytest.mark.parametrize("plenty", [0, 1 << 40], ids=["with RE2", "without"])
@given(text=TEXTS)
def test_the_rules_whose_keywords_occur(plenty: int, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns, "_PLENTY", plenty)
        index = RuleIndex(MADE)
        assert said(index.suspects(text)) == expected(text)
        assert said(narrowed(index, text).suspects(text)) == expected(text)


def test_formats_are_the_rules_that_go_by_a_format() -> None:
    text = "x\n".join(word for rule in RULES for word in rule.keywords) + " https://a:b@c " + "0" * TOKEN
    index = RuleIndex(RULES)
    formats = {id(rule) for rule in RULES[:WITH_FORMAT]}
    found = index.formats.suspects(text)
    assert {id(rule) for rule in found} == {id(rule) for rule in index.suspects(text)} & formats
    assert len(found) > 40


def test_a_detector_loads_nothing_that_weighs_values() -> None:
    """Most texts hold nothing to weigh."""
    code = (
        "import sys; from memcli.safety.secrets.detector import Detector;"
        "Detector({}, lambda _: '').redact('We chose PostgreSQL; the team has long known it.');"
        "print(*[name for name in sys.modules if name.startswith('memcli.safety.secrets')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in run.stdout.split()}
    assert "detector" in loaded
    assert not loaded & {"named", "passwords", "references", "secret_checks", "tables", "tokens"}
