"""Questions that nothing answered: counted, in order, and no more than are kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.model.usage import MAX_GAPS, Gap, in_order, with_gap
from tests.conftest import NOW


def gap(topic: str, count: int = 1, at: str = NOW) -> Gap:
    return Gap(topic, "main", count, at, at)


def test_a_full_list_lets_the_least_asked_go_and_takes_the_new_one() -> None:
    gaps = [gap(f"topic {n}", 2 + n) for n in range(MAX_GAPS)]
    found = with_gap(in_order(gaps), gap("new"))
    assert len(found) == MAX_GAPS
    assert found[-1] == gap("new")
    assert gap("topic 0", 2) not in found


def test_the_first_spelling_and_the_first_time_stay() -> None:
    found = with_gap([gap("Which DB?", at="2026-01-01T00:00:00Z")], gap("which db"))
    assert found == [Gap("Which DB?", "main", 2, "2026-01-01T00:00:00Z", NOW)]


@given(st.lists(st.sampled_from("abcdef")))
def test_every_question_is_counted(topics: list[str]) -> None:
    gaps: list[Gap] = []
    for topic in topics:
        gaps = with_gap(gaps, gap(topic))
    assert {one.topic: one.count for one in gaps} == {topic: topics.count(topic) for topic in topics}
    assert gaps == in_order(gaps)
