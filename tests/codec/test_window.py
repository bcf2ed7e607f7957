"""A window answers as the bytes that it is over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec import window
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.codec.window import MOST, ByteRange, ByteWindow, Move, MoveStep, encode_step, joined, step_of, steps_between
from memcli.model.space import Space
from tests.conftest import NOW, memory


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "WINDOW", 8)
    monkeypatch.setattr(window, "HELD", 0)


def over(data: bytes, reads: list[int] | None = None) -> ByteWindow:
    """A window on bytes; `reads` gets the length of each read."""

    def read(at: int, length: int) -> bytes:
        if reads is not None:
            reads.append(length)
        return data[at : at + length]

    return ByteWindow(read, len(data))


PLACES = st.integers(0, 60)


TEXTS = st.text("ab\n", min_size=1, max_size=50).map(str.encode)


@given(TEXTS | st.just(b""), TEXTS, PLACES, PLACES)
def test_it_is_searched_as_bytes_are(data: bytes, text: bytes, start: int, end: int) -> None:
    held = over(data)
    for _ in range(2):  # with what it holds from before, too
        assert held.find(text, start, end) == data.find(text, start, end)
        assert held.rfind(text, start, end) == data.rfind(text, start, end)
        assert held.find(text) == data.find(text)
        assert held.rfind(text) == data.rfind(text)
        assert held[start:end] == data[start:end]
        first, last = sorted((min(start, len(data)), min(end, len(data))))
        assert b"".join(held.part(first, last)) == data[first:last]


@given(st.lists(st.sampled_from((b"xy\n", b"x", b"\n")), max_size=40).map(b"".join), PLACES, PLACES)
def test_it_counts_as_bytes_do(data: bytes, start: int, end: int) -> None:
    assert over(data).count(b"xy\n", start, end) == data.count(b"xy\n", start, end)


def test_what_is_not_there_has_no_index() -> None:
    assert over(b"some text of bytes").index(b"bytes", 3) == 13
    with pytest.raises(ValueError, match="zz"):
        over(b"some text of bytes").index(b"zz")


def test_a_small_file_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "HELD", 100)
    data = bytes(range(100))
    reads: list[int] = []
    held = over(data, reads)
    assert held[50:60] == data[50:60]
    assert held.find(b"\x02") == 2
    assert held[:] == data
    assert reads == [100]


def test_many_searches_read_the_whole_file_once() -> None:
    data = encode_space(Space("main").put([memory(name) for name in "abc"], NOW))
    reads: list[int] = []
    shelf = SpliceShelf(over(data, reads), "main")
    for n in range(20):
        assert shelf.get(f"mem_{n}") is None
    assert len(data) in reads
    reads.clear()
    assert shelf.get("mem_b") == memory("b")
    assert shelf.size == 3
    assert not reads


CUTS = st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from((b"", b"\xf0", b"\xf1\xf2")))


@given(st.lists(CUTS, min_size=1, max_size=5))
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
