"""What is asked about a note, and what of the answer is believed."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from memcli.extras.advice.prompts import describe

ANSWER: dict[str, Any] = {
    "path": "Shop/Data Base/Why PostgreSQL", "kind": "decision", "tags": ["Postgre SQL", "db", "db", "!"],
    "summary_micro": " We chose PostgreSQL. ", "summary_short": "PostgreSQL, for row-level security.",
    "summary_long": "We chose PostgreSQL since it has row-level security.", "relevance": "high", "auto_pin": False,
}  # fmt: skip


def test_the_answer_becomes_fields() -> None:
    jsonschema.validate(ANSWER, describe.SCHEMA)
    assert describe.read(ANSWER) == ANSWER | {
        "path": "shop/data-base/why-postgresql", "tags": ("postgre-sql", "db"), "summary_micro": "We chose PostgreSQL.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"path": "one"}, "path must have 2 to 6 parts"), ({"path": "../.."}, "path must have 2 to 6 parts"),
        ({"path": "a/b/c/d/e/f/g"}, "path must have 2 to 6 parts"),
        ({"path": "a/" + "/".join(["b" * 64] * 5)}, "not a memory path"),
        ({"kind": "poem"}, "answer.kind must be one of"), ({"tags": "db"}, "answer.tags must be a list"),
        ({"summary_micro": " "}, "summary_micro is empty"),
        ({"summary_micro": "x" * 500}, "summary_micro is longer than 400 characters"),
        ({"relevance": 1}, "answer.relevance must be text"),
        ({"auto_pin": "yes"}, "answer.auto_pin must be true or false"),
        ({"raw": "another text"}, "answer has no part 'raw'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        describe.read(ANSWER | wrong)
    with pytest.raises(ValueError, match=r"answer\.kind is missing"):
        describe.read({name: value for name, value in ANSWER.items() if name != "kind"})


def test_a_long_note_is_cut_and_an_empty_hint_left_out() -> None:
    prompt = describe.make(
        "word " * 50_000, {"kind": "", "tags": [], "project": "shop"}, temperature=0.5, max_tokens=99
    )
    assert len(prompt.text) < 60_000
    assert '"project": "shop"' in prompt.text
    assert "kind" not in prompt.text
    assert (prompt.task, prompt.temperature, prompt.max_tokens) == ("describe/1", 0.5, 99)
