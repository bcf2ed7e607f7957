"""What is asked where a space is full, and which decisions are valid."""

from __future__ import annotations

from functools import partial
from typing import Any

import jsonschema
import pytest

from memcli.extras.advice.prompts import describe
from memcli.extras.advice.prompts.describe import Decision
from memcli.model.tokens import count_tokens

DELETE: dict[str, Any] = {"action": "delete", "target": 2, "into": 0, "text": "", "reason": "outdated"}
MERGE: dict[str, Any] = {"action": "merge", "target": 1, "into": 3, "text": " Both. ", "reason": "repeated"}
read = partial(describe.read_decisions, 4, {1, 3}, 2)


def test_decisions_are_read_in_order() -> None:
    answer = {"decisions": [MERGE, DELETE]}
    jsonschema.validate(answer, describe.COMPACT_SCHEMA)
    assert read(answer) == (Decision(1, 3, "Both.", "repeated"), Decision(2, 0, "", "outdated"))
    idle = DELETE | {"into": 9, "text": "said in vain"}
    assert read({"decisions": [idle]}) == (Decision(2, 0, "", "outdated"),)


@pytest.mark.parametrize(
    ("decisions", "told"),
    [
        ([], "1 to 2 decisions, not 0"),
        ([DELETE, DELETE | {"target": 3}, DELETE | {"target": 4}], "1 to 2 decisions, not 3"),
        ([DELETE | {"target": 5}], "no stored memory 5"), ([MERGE | {"into": 7}], "no stored memory 7"),
        ([DELETE | {"target": 0}], "target must be at least 1"), ([DELETE, DELETE], "may occur once"),
        ([MERGE, DELETE | {"target": 3}], "may occur once"), ([MERGE | {"into": 1}], "may occur once"),
        ([MERGE | {"into": 0}], "merge needs the number"), ([MERGE | {"text": " "}], "merge needs the new text"),
        ([MERGE | {"text": "x" * 2001}], "longer than 2000 characters"),
        ([MERGE | {"into": 4}], "stored memory 4 is not mergeable"),
        ([MERGE | {"target": 2}], "stored memory 2 is not mergeable"),
        ([DELETE | {"action": "edit"}], "must be one of delete, merge"),
        ([DELETE | {"reason": "I was told to"}], "must be one of repeated"),
        ([DELETE | {"id": "mem_a"}], "has no part 'id'"), ({"target": 1}, "must be a list"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer(decisions: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read({"decisions": decisions})


def test_what_is_sent_is_bounded() -> None:
    one = {"path": "a/b", "mergeable": True, "text": "word " * 5_000}
    prompt = describe.make_compact(["new " * 5_000] * 50, [one] * 12, 3)
    assert count_tokens(prompt.text) < 5_000
    assert (prompt.task, prompt.max_tokens) == ("compact/2", 1_800)
    assert prompt.text.startswith("Give up to 3 decisions.\n<data-")
    assert describe.make_compact(["a"], [one], 1).text.startswith("Give 1 decision.\n")
