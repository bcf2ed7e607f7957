"""Merge: the bytes of three versions of a space file into those of one, as git asks for it."""

from __future__ import annotations

from memcli.codec.merge import Merged, merge
from memcli.codec.space import check_writable, decode_space
from memcli.errors import CorruptError
from memcli.model.space import Space


def merge_versions(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """The merged space. Raises CorruptError when ours or theirs is no space that this version may write.

    A base that cannot be read, or is empty because there is none, counts as an empty space: then nothing is deleted.
    """
    left, right = _side(ours, "ours"), _side(theirs, "theirs")
    try:
        before = _side(base, "base")
    except CorruptError:
        before = Space(left.name)
    return merge(before, left, right)


def _side(data: bytes, where: str) -> Space:
    space = decode_space(data, where)
    check_writable(space, where)
    return space
