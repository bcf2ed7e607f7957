"""What an answer must and must not contain, and the measures of many answers."""

from __future__ import annotations

import pytest

from memcli.errors import UsageError
from memcli.extras.check.expectations import AnswerEntry, Case, CaseVerdict, Measures, judge, measure, read_expectation
from tests.policy.test_fields import CASES

ENTRIES = [
    (frozenset(("mem_a", "db/choice")), "1. [mem_a] We chose PostgreSQL because of JSONB."),
    (frozenset(("mem_b", "code/src/a.py/x", "mem_c", "code/src/b.py/y")), "2. [mem_b] Fix the pool size"),
]


def verdict(*, is_empty: bool = False, entries: list[AnswerEntry] = ENTRIES, **fields: object) -> CaseVerdict:
    case = Case(file="f", line=1, topic="t", **fields)  # type: ignore[arg-type]
    return judge(read_expectation(case), entries, is_empty)


def test_what_an_entry_may_satisfy() -> None:
    for text, place in CASES["entries"]:
        found = verdict(must_include=(text,))
        assert (found.places, found.has_passed) == ((place,), place is not None), text
        unwanted = verdict(must_not_include=(text,))
        assert ([at for _, at in unwanted.unwanted], unwanted.has_passed) == ([place] if place else [], place is None)


def test_one_of_the_answers_is_enough_and_in_one_entry() -> None:
    assert verdict(answers=("oracle", "jsonb")).places == (1,)
    assert verdict(answers=("postgresql.*pool",)).places == (None,)
    both = verdict(answers=("oracle",), must_include=("mem_b", "mem_z"))
    assert (both.places, [want.text for want in both.missing]) == ((2, None, None), ["mem_z", "/oracle/"])


def test_an_answer_may_have_to_be_empty() -> None:
    assert not verdict(empty=True).has_passed
    assert not verdict(empty=True, entries=[]).has_passed  # there is more than the budget holds
    assert verdict(empty=True, entries=[], is_empty=True).has_passed


BAD = (
    ("must_include", "/abc", "f:1: must_include '/abc' is not a /pattern/"),
    ("must_include", "//", "f:1: must_include '//' is not a /pattern/"),
    ("must_not_include", "a[b", "f:1: must_not_include 'a[b' is not a path glob"),
    ("answers", "(?=a)", "f:1: answers is not an RE2 pattern"),
    ("must_include", "/" + "a" * 2000 + "/", "f:1: must_include has "),
)


def test_a_bad_pattern_is_named() -> None:
    for field, text, message in BAD:
        with pytest.raises(UsageError) as caught:
            verdict(**{field: (text,)})
        assert caught.value.message.startswith(message)


def test_question_sets_may_use_the_patterns_of_python() -> None:
    assert verdict(answers=("Postgre(?=sql)",), allows_python_patterns=True).places == (1,)
    with pytest.raises(UsageError, match="f:1: answers is not an RE2 pattern"):
        verdict(answers=("(?=a",), allows_python_patterns=True)


def test_the_measures() -> None:
    verdicts = [
        verdict(must_include=("mem_b", "mem_z")),  # half of it, at 2
        verdict(must_include=("mem_a",), must_not_include=("mem_b",)),  # answered at 1, and failed
        verdict(answers=("oracle",)),
        verdict(empty=True, entries=[], is_empty=True),
    ]
    assert measure(verdicts) == Measures(4, 1, 3, 1, (0.5 + 1 + 0) / 3, (0.5 + 1 + 0) / 3)
    assert measure(verdicts[3:]) == Measures(1, 1, 0, 0, None, None)
