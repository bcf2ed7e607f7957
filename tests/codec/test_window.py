"""A window answers as the bytes that it is over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec import window
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.codec.window import ByteWindow
from memcli.model.space import Space
from tests.conftest import NOW, memory


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "WINDOW", 8)
    monkeypatch.setattr(window, "HELD", 0)


def over(data: bytes) -> ByteWindow:
    return ByteWindow(lambda at, length: data[at : at + length], len(data))


PLACES = st.integers(0, 60)


@given(
    st.text("ab\n", max_size=50).map(str.encode),
    st.text("ab\n", min_size=1, max_size=12).map(str.encode),
    PLACES,
    PLACES,
)
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
    reads: list[tuple[int, int]] = []

    def read(at: int, length: int) -> bytes:
        reads.append((at, length))
        return data[at : at + length]

    held = ByteWindow(read, len(data))
    assert held[50:60] == data[50:60]
    assert held.find(b"\x02") == 2
    assert held[:] == data
    assert reads == [(0, 100)]


def test_many_searches_read_the_whole_file_once() -> None:
    data = encode_space(Space("main").put([memory(name) for name in "abc"], NOW))
    reads: list[int] = []

    def read(at: int, length: int) -> bytes:
        reads.append(length)
        return data[at : at + length]

    shelf = SpliceShelf(ByteWindow(read, len(data)), "main")
    for n in range(20):
        assert shelf.get(f"mem_{n}") is None
    assert len(data) in reads
    reads.clear()
    assert shelf.get("mem_b") == memory("b")
    assert shelf.size == 3
    assert not reads
