"""What `git diff` compares: a block for each memory, in order of path, of lines that a reviewer can trust."""

from __future__ import annotations

from memcli.model.space import Policy, Space
from memcli.render.reports import space_text
from tests.conftest import memory


def test_memories_are_blocks_in_order_of_path_without_the_time_of_a_change() -> None:
    space = Space(
        "main",
        (
            memory("b", raw="First.\n\nLast.", pinned=True, metadata={"hash": "x", "space": "main", "source": "chat"}),
            memory("a", path="a", raw="", content={"n": 1}, summary_micro="A\nb.", tags=("x", "y")),
        ),
        policy=Policy(ttl_days=3),
    )
    assert (
        space_text(space)
        == """space main
    policy.ttl_days: 3

a
    content: {"n":1}
    created_at: 2026-01-31T09:30:00Z
    id: mem_a
    kind: fact
    summary_micro: "A\\nb."
    summary_short:
    tags: ["x","y"]

notes/b
  First.

  Last.
    created_at: 2026-01-31T09:30:00Z
    id: mem_b
    kind: fact
    metadata.source: chat
    pinned: true
    summary_micro:
"""
    )
    before = Space("main", (memory(),), updated_at="2026-01-01T00:00:00Z")
    after = Space("main", (memory(updated_at="2027-01-01T00:00:00Z", version=2),), updated_at="2027-01-01T00:00:00Z")
    assert space_text(before) == space_text(after)


def test_what_nobody_sees_is_escaped() -> None:
    text = space_text(Space("main", (memory(raw="a\x1b[2Jb\u202ec\rd", metadata={"x\x07": "\u200b"}),)))
    assert all(line.isprintable() for line in text.split("\n"))
    assert "  a\\u001b[2Jb\\u202ec\\u000dd\n" in text
    assert "    metadata.x\\u0007: \\u200b\n" in text
