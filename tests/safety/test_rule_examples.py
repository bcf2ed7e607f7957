"""Every rule of the data files with its two examples: one in which it finds something, and one in which it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memcli import safety
from memcli.safety.injection import LANGUAGES, RULES, Suspects, _applies, _forms, is_foreign_order
from memcli.safety.injection.readings import readings
from memcli.safety.secrets.detector import _by_rule
from memcli.safety.secrets.rules import RULES as SECRET_RULES
from memcli.safety.secrets.rules import RuleIndex

BAR = "¦"


def rows(package: str, *tables: str) -> list[dict[str, Any]]:
    data = json.loads((Path(*safety.__path__) / package / "rules.json").read_text("utf-8"))
    return [row for table in tables for row in data[table]]


def test_every_secret_rule_finds_its_first_example_and_not_the_second() -> None:
    wrong = []
    for rule, row in zip(SECRET_RULES, rows("secrets", "formats", "contexts"), strict=True):
        index = RuleIndex.of([rule])
        texts = [text.replace(BAR, "") for text in row["examples"]]
        found = [bool(index.suspects(text) and list(_by_rule(rule, text.encode()))) for text in texts]
        if found != [True, False]:
            wrong.append((rule.kind, row["examples"], found))
    assert not wrong


def test_every_injection_rule_finds_its_first_example_and_not_the_second() -> None:
    suspects = Suspects([*(rule.needs for rule in RULES), *(groups for groups, _ in LANGUAGES)])

    def finds(number: int, text: str) -> bool:
        low, _ = next(readings(text))
        if number not in suspects.within(low):
            return False
        if number < len(RULES):
            return _applies(RULES[number], _forms(low))
        return is_foreign_order(low, number - len(RULES))

    wrong = []
    for number, row in enumerate(rows("injection", "rules", "languages")):
        found = [finds(number, text) for text in row["examples"]]
        if found != [True, False]:
            wrong.append((number, row["examples"], found))
    assert not wrong
