"""Counting: what the lines of the log add up to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.model.metrics import BOUNDS, BUCKET, MAX_SPACES, MICROS, OTHERS, Totals, add_lines
from memcli.model.usage import COMPACTION, INJECTION, RUN


def totals_of(*lines: bytes) -> Totals:
    totals: Totals = {}
    add_lines(totals, lines)
    return totals


def test_a_command_is_counted_with_its_duration() -> None:
    assert totals_of(b"run\trecall\tmain\tfusion\t0\t5000", b"run\trecall\tmain\tfusion\t0\t5001") == {
        (RUN, "recall", "main", "fusion", "0"): 2,
        (BUCKET, "recall", ".005"): 1,
        (BUCKET, "recall", ".01"): 1,
        (MICROS, "recall"): 10_001,
    }


def test_how_long_a_server_ran_is_not_counted() -> None:
    assert totals_of(b"run\tmcp\tmain\t\t0\t5000") == {(RUN, "mcp", "main", "", "0"): 1}


def test_other_events_are_counted_by_their_labels() -> None:
    lines = (b"compaction\tmain\t1", b"compaction\tmain\t2", b"injection\tmain\tprompt\t1")
    assert totals_of(*lines) == {(COMPACTION, "main"): 3, (INJECTION, "main", "prompt"): 1}


@pytest.mark.parametrize(
    "line",
    [
        b"", b"run", b"run\t1", b"run\trecall\tmain\tfusion\t0", b"run\trecall\tmain\tfusion\tx\t1",
        b"run\trecall\tmain\tfusion\t0\t-1", b"run\trecall\tmain\tfusion\t0\t" + b"9" * 16, b"compaction\t1", b"\xff\t1",
        b"compaction\tmain\tmain\t1", b"nothing\tmain\t1", b"compaction\tmain\t", b"run\trecarun\tget\tmain\t\t0\t12",
        "compaction\tmain\t²".encode(),
    ],
)  # fmt: skip
def test_a_damaged_line_is_left_out(line: bytes) -> None:
    assert totals_of(line) == {}


@given(st.lists(st.binary(max_size=40)))
def test_no_line_is_an_error(lines: list[bytes]) -> None:
    assert all(count >= 0 for count in totals_of(*lines).values())


def test_more_spaces_than_are_told_apart_are_counted_together() -> None:
    lines = [b"compaction\ts%d\t1" % n for n in range(MAX_SPACES + 5)]
    totals = totals_of(*lines, b"compaction\ts0\t1")
    assert len(totals) == MAX_SPACES + 1
    assert (totals[COMPACTION, OTHERS], totals[COMPACTION, "s0"]) == (5, 2)
    add_lines(totals, [b"run\trecall\tnew\tfusion\t0\t1"])
    assert totals[RUN, "recall", OTHERS, "fusion", "0"] == 1


def test_the_bounds_rise() -> None:
    assert [float(bound) for bound in BOUNDS] == sorted(float(bound) for bound in BOUNDS)
