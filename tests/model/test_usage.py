"""What is counted: events in totals, and questions that nothing answered."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.model.usage import (
    BOUNDS,
    BUCKET,
    COMPACTION,
    INJECTION,
    MAX_GAPS,
    MICROS,
    RUN,
    Gap,
    in_order,
    parts_of,
    space_of,
    with_gap,
)
from tests.conftest import NOW

RECALL = (RUN, "recall", "main", "fusion", "0")


def test_a_command_is_counted_with_its_duration() -> None:
    assert [
        (micros, bound)
        for micros, bound in [(0, ".005"), (5000, ".005"), (5001, ".01"), (30_000_001, "inf")]
        if parts_of(RECALL, micros) != {RECALL: 1, (BUCKET, "recall", bound): 1, (MICROS, "recall"): micros}
    ] == []


def test_other_events_are_counted_by_their_labels_and_how_long_a_server_ran_is_not() -> None:
    server = (RUN, "mcp", "main", "", "0")
    cases = {server: 5000, (COMPACTION, "main"): 3, (INJECTION, "main", "prompt"): 1}
    assert [parts_of(key, amount) for key, amount in cases.items()] == [
        {key: 1 if key == server else amount} for key, amount in cases.items()
    ]
    assert [space_of(key) for key in (RECALL, (COMPACTION, "main"), (MICROS, "recall"))] == ["main", "main", ""]


@given(st.integers(0, 10**12))
def test_each_duration_is_in_one_bucket(micros: int) -> None:
    (bound,) = [key[2] for key in parts_of(RECALL, micros) if key[0] == BUCKET]
    below = BOUNDS[BOUNDS.index(bound) - 1] if bound != BOUNDS[0] else "-1"
    assert float(below) < micros / 1e6 <= float(bound)


def test_the_bounds_rise() -> None:
    assert [float(bound) for bound in BOUNDS] == sorted(float(bound) for bound in BOUNDS)


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
