"""The files of a merge as git hands them over."""

from __future__ import annotations

import pytest

from memcli.codec.merge import merge_versions
from memcli.codec.space import encode_space
from memcli.errors import CorruptError
from memcli.model.space import Space
from tests.conftest import NOW, memory


def file(*names: str) -> bytes:
    return encode_space(Space("main").put([memory(name) for name in names], NOW))


@pytest.mark.parametrize("base", [b"", b"{", b"<<<<<<<\n", b"[]"])
def test_without_a_base_nothing_is_deleted(base: bytes) -> None:
    merged = merge_versions(base, file("a", "b"), file("b", "c"))
    assert [m.id for m in merged.space.objects] == ["mem_a", "mem_b", "mem_c"]


def test_a_side_that_cannot_be_read_is_named() -> None:
    newer = file("a").replace(b'"version": 2\n}', b'"version": 3\n}')
    for damage in (b"", b"{", newer):
        with pytest.raises(CorruptError, match="ours"):
            merge_versions(file(), damage, file())
        with pytest.raises(CorruptError, match="theirs"):
            merge_versions(file(), file(), damage)
