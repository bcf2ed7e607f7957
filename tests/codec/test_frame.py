"""The frame is what stands in the files that are written, and nowhere within a text."""

from __future__ import annotations

from memcli.codec.space import CLOSE, END, INDENT, OBJECTS, OPEN, USUAL_END, encode_space, of_memory, of_space
from memcli.model.space import Space
from tests.conftest import NOW, memory

EDGES = (OBJECTS, OPEN, CLOSE, END, USUAL_END)


def test_every_mark_stands_once_for_each_memory() -> None:
    # A text that quotes the frame does not stand in it.
    hostile = b"".join([*EDGES, INDENT, of_space("policy"), of_memory("id")]).decode()
    data = encode_space(Space("main").put([memory("a", raw=hostile), memory("b")], NOW))
    assert [data.count(edge) for edge in EDGES] == [1, 2, 2, 1, 1]
    assert data.count(of_memory("id")) == data.count(of_memory("path")) == 2
    assert data.count(of_space("policy")) == 1
    assert data.index(OBJECTS) < data.index(OPEN) < data.index(CLOSE) < data.rindex(CLOSE) == data.index(USUAL_END)
