"""What a merge says of a memory that one side deleted and the other edited."""

from __future__ import annotations

from memcli.codec.merge import merge
from memcli.model.space import Space
from memcli.render.changes import merged_text
from tests.conftest import memory


def test_a_merge_that_brings_back_what_was_deleted_says_so() -> None:
    base = Space("main", (memory("a"), memory("b")))
    ours = Space("main", (memory("b"),))
    theirs = Space("main", (memory("a", raw="Edited."), memory("b")))
    merged = merge(base, ours, theirs)
    assert [m.id for m in merged.space.objects] == ["mem_a", "mem_b"]
    told = merged_text(merged)
    assert "one side edited what the other deleted: notes/a" in told
    assert "forget --purge" in told
    assert "newer value" not in told
