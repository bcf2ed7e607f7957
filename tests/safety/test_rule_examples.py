"""Every rule of the data files with its two examples: one in which it finds something, and one in which it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memcli import safety
from memcli.safety.injection import LANGUAGES, RULES, Suspects, _applies, _forms, is_foreign_order
from memcli.safety.injection.readings import readings
from memcli.safety.patterns import read_rows
from memcli.safety.secrets.detector import _by_rule
from memcli.safety.secrets.rules import RULES as SECRET_RULES
from memcli.safety.secrets.rules import RuleIndex

BAR = "¦"


def rows(package: str, *tables: str) -> list[dict[str, Any]]:
    lines = [
        line
        for table in tables
        for line in (Path(*safety.__path__) / package / f"{table}.jsonl").read_text("utf-8").splitlines()
    ]
    # Their first items are read without the others, so no line may have other blanks than these.
    assert [json.dumps(json.loads(line), ensure_ascii=False) for line in lines] == lines
    assert [json.loads(line)[0] for line in lines] == [
        first for table in tables for first, _ in read_rows(f"{safety.__name__}.{package}", f"{table}.jsonl")
    ]
    return [json.loads(line)[-1] for line in lines]


def test_every_secret_rule_finds_its_first_example_and_not_the_second() -> None:
    wrong = []
    for rule, row in zip(SECRET_RULES, rows("secrets", "formats", "contexts"), strict=True):
        index = RuleIndex([rule])
        texts = [text.replace(BAR, "") for text in row["examples"]]
        found = [bool(index.suspects(text) and list(_by_rule(rule, text.encode()))) for text in texts]
        if found != [True, False]:
            wrong.append((rule.kind, row["examples"], found))
    assert not wrong


def test_every_injection_rule_finds_its_first_example_and_not_the_second() -> None:
    suspects = Suspects((*RULES, *LANGUAGES))

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
