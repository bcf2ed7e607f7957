from __future__ import annotations

import pytest

from memcli.app.choice import repeated_places
from memcli.model.recall import Section
from tests.conftest import memory

RULE = "The workers of the staging cluster restart when the load average is"


def section(passage: str) -> Section:
    return Section(memory("a", raw=passage), 1.0, {}, "main", passage=passage)


def repeated(*passages: str, beside: str = "") -> list[int]:
    """`beside`: for each passage, whether it is of a space beside the ones that are told to (x) or not."""
    return repeated_places(
        [section(passage) for passage in passages], [mark == "x" for mark in beside.ljust(len(passages))]
    )


def test_what_was_told_is_shown_rather_than_what_a_session_yielded() -> None:
    assert repeated(RULE, RULE, beside="x ") == [0]
    assert repeated(f"{RULE} 5. We agreed.", RULE, beside="x ") == []
    assert repeated(f"{RULE} 5. We agreed.", RULE, beside=" x") == [1]
    assert repeated(f"{RULE} 5.", RULE, beside="xx") == [1]


def test_what_is_said_before_word_for_word_is_a_repetition() -> None:
    assert repeated(f"Note: {RULE} 5.", f"{RULE} 5!", "Short.", "Short.") == [1]
    assert repeated(f"# Load\n\n{RULE} 5.\n- Ask Anna.", f"+# Load\n+\n+{RULE} 5.\n+- Ask Anna.") == [1]


@pytest.mark.parametrize("other", ["6", "-5", "5.5", "> 5", "<= 5", "!= 5"])
def test_another_number_sign_or_comparison_is_no_repetition(other: str) -> None:
    assert repeated(f"{RULE} 5 now.", f"{RULE} {other} now.") == []
    assert repeated(f"{RULE} {other} now.", f"{RULE} 5 now.") == []
