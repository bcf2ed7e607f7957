"""What is noted of writes leads from the bytes of one file to those of another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.window import MOST, ByteRange, Move, MoveStep, encode_step, joined, step_of, steps_between


@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from((b"", b"\xf0", b"\xf1\xf2"))),
        min_size=1,
        max_size=5,
    )
)
def test_moves_join_over_several_writes(cuts: list[tuple[int, int, bytes]]) -> None:
    first = last = bytes(range(30))
    moves: list[Move] = [(0, 0, len(first))]
    for start, length, put in cuts:
        start = min(start, len(last))  # noqa: PLW2901
        end = min(len(last), start + length)
        moves = joined(moves, [(0, 0, start), (end, start + len(put), len(last) - end)])
        last = last[:start] + put + last[end:]
    for old, new, length in moves:
        assert first[old : old + length] == last[new : new + length]
    kept = {old + n for old, _, length in moves for n in range(length)}
    assert kept == {n for n in last if n < len(first)}


STEPS = [
    MoveStep("0", "1", [(0, 0, 5)], [(7, 3)]),
    MoveStep("1", "2", [(0, 1, 4)], []),
    MoveStep("2", "3", [(1, 0, 4)], []),
]
LINES = b"\n".join(map(encode_step, STEPS))


def test_the_steps_between_two_files_are_found() -> None:
    assert steps_between(LINES, "0", "3") == STEPS
    assert steps_between(LINES, "1", "2") == STEPS[1:2]
    assert steps_between(LINES, "0", "4") is None
    assert steps_between(LINES, "9", "3") is None
    assert steps_between(b"", "0", "1") is None


@pytest.mark.parametrize(
    "damage",
    [b"{", b"[]", b'{"after": "2"}', b'{"after":"2","before":"1","moves":[[1]],"new":[]}', b"\xff", LINES[-9:]],
)
def test_what_cannot_be_read_is_not_known(damage: bytes) -> None:
    line = encode_step(STEPS[0])
    assert steps_between(line + b"\n" + damage, "0", "1") is None
    assert steps_between(damage + b"\n" + line, "0", "1") == STEPS[:1]


def test_a_step_says_where_everything_is() -> None:
    data = b"0123456789" * 10

    def read(at: int, length: int) -> bytes:
        return data[at : at + length]

    memory = b'\n    {\n      "id": "x"\n    }'
    step = step_of("a", "b", [b"head", ByteRange(read, 10, 30), b",", memory, b",", ByteRange(read, 40, 90), b"tail"])
    assert step == MoveStep("a", "b", [(10, 4, 20), (40, 26 + len(memory), 50)], [(30, len(memory) - 5)])


def test_what_was_taken_from_memory_or_is_too_much_is_no_step() -> None:
    part = ByteRange(lambda at, length: b"", 0, 9)
    assert step_of("a", "b", [b"head", memoryview(b"\n    {\n")]) is None
    assert step_of("a", "b", [b"head", b"tail"]) == MoveStep("a", "b", [], [])
    assert step_of("a", "b", [part] * (MOST + 1)) is None
    assert step_of("a", "b", [part] * MOST) is not None
