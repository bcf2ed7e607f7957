"""Spaces as the tables hold them."""

from __future__ import annotations

import pytest

from memcli.codec.space import encode_memory, encode_space, new_space
from memcli.errors import CorruptError
from memcli.extras.postgres.snapshot import space_of
from tests.conftest import memory

HEADER = encode_space(new_space("main"))


def test_a_space_is_its_header_and_its_bodies() -> None:
    assert [m.id for m in space_of(HEADER, [encode_memory(memory("a"))], "main").objects] == ["mem_a"]


def test_a_header_that_has_no_place_for_the_bodies_is_damage_and_no_empty_space() -> None:
    header = HEADER.replace(b"\n  ", b" ")
    assert space_of(header, [], "main").objects == ()
    with pytest.raises(CorruptError, match="did not write"):
        space_of(header, [encode_memory(memory("a"))], "main")


def test_a_row_with_two_memories_is_damage() -> None:
    first, second = encode_memory(memory("a")), encode_memory(memory("b"))
    with pytest.raises(CorruptError, match="a row does not hold one memory"):
        space_of(HEADER, [first + b",\n    " + second], "main")
