"""Counting: what an event adds to the totals."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.model.usage import BOUNDS, BUCKET, COMPACTION, INJECTION, MICROS, RUN, parts_of, space_of

RECALL = (RUN, "recall", "main", "fusion", "0")


def test_a_command_is_counted_with_its_duration() -> None:
    assert [
        (micros, bound)
        for micros, bound in [(0, ".005"), (5000, ".005"), (5001, ".01"), (30_000_001, "inf")]
        if parts_of(RECALL, micros) != {RECALL: 1, (BUCKET, "recall", bound): 1, (MICROS, "recall"): micros}
    ] == []


def test_how_long_a_server_ran_is_not_counted() -> None:
    assert parts_of((RUN, "mcp", "main", "", "0"), 5000) == {(RUN, "mcp", "main", "", "0"): 1}


def test_other_events_are_counted_by_their_labels() -> None:
    assert parts_of((COMPACTION, "main"), 3) == {(COMPACTION, "main"): 3}
    assert parts_of((INJECTION, "main", "prompt"), 1) == {(INJECTION, "main", "prompt"): 1}


def test_the_space_of_an_event_and_of_a_total() -> None:
    assert [space_of(key) for key in (RECALL, (COMPACTION, "main"), (MICROS, "recall"))] == ["main", "main", ""]


@given(st.integers(0, 10**12))
def test_each_duration_is_in_one_bucket(micros: int) -> None:
    (bound,) = [key[2] for key in parts_of(RECALL, micros) if key[0] == BUCKET]
    below = BOUNDS[BOUNDS.index(bound) - 1] if bound != BOUNDS[0] else "-1"
    assert float(below) < micros / 1e6 <= float(bound)


def test_the_bounds_rise() -> None:
    assert [float(bound) for bound in BOUNDS] == sorted(float(bound) for bound in BOUNDS)
