"""Spaces as the tables hold them."""

from __future__ import annotations

import pytest

from memcli.codec.space import encode_memory, encode_space, new_space
from memcli.errors import CorruptError
from memcli.extras.postgres.snapshot import space_of
from tests.conftest import memory

HEADER = encode_space(new_space("main"))


def test_a_space_is_its_header_and_its_bodies() -> None:
    first, second = encode_memory(memory("a")), encode_memory(memory("b"))
    assert [m.id for m in space_of(HEADER, [first], "main").objects] == ["mem_a"]
    header = HEADER.replace(b"\n  ", b" ")  # has no place for the bodies
    assert space_of(header, [], "main").objects == ()
    with pytest.raises(CorruptError, match="did not write"):
        space_of(header, [first], "main")
    with pytest.raises(CorruptError, match="a row does not hold one memory"):
        space_of(HEADER, [first + b",\n    " + second], "main")
