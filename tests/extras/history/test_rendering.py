"""Changes, and merges of what one side deleted and the other edited, as a person reads them."""

from __future__ import annotations

import pytest

from memcli.codec.merge import merge
from memcli.extras.history.rendering import diff_text, pieces_text
from memcli.model.changes import FieldChange, MemoryChange, SpaceChange
from memcli.model.space import Space
from memcli.present.changes import difference
from memcli.render.memory import render_memory
from memcli.render.reports import merged_text
from tests.conftest import memory


def test_words_that_went_and_came(subtests: pytest.Subtests) -> None:
    cases = [
        ("We deploy on Friday.", "We deploy on Monday.", "We deploy on [-Friday-]{+Monday+}."),
        ("one two", "one two three", "one two{+ three+}"),
        ("", "new", "{+new+}"),
        ("a b c", "b c", "[-a -]b c"),
        (f"{'x ' * 100}a", f"{'x ' * 100}b", f"…{'x ' * 20}[-a-]{{+b+}}"),
        ("a" + " x" * 3000, "b" + " y" * 3000, f"[-a{' x' * 99} …{' x' * 100}-]{{+b{' y' * 99} …{' y' * 100}+}}"),
        ("a\n" * 3000, "b\n" * 3000, "[-6000 characters-]{+6000 characters+}"),
    ]
    for before, after, expected in cases:
        with subtests.test(before=ascii(before), after=ascii(after)):
            assert pieces_text(difference(before, after)) == expected


def test_words_that_went_and_came_also_in_long_texts() -> None:
    before = "".join(f"line {n} of some length\n" for n in range(600))
    after = before.replace("line 7 ", "line seven ").replace("line 590 ", "line more ")
    assert "[-line 590 of some length\n-]{+line more of some length\n+}" in pieces_text(difference(before, after))


def test_no_change_reaches_a_terminal_as_an_escape() -> None:
    fields = (FieldChange("raw", "one", "two\x1b[31m\n\u202e"), FieldChange("x\x1b[0m", None, "\x1b]0;t\x07"))
    change = MemoryChange("changed", memory(path="a\x1b[31m"), fields)
    told = diff_text([SpaceChange("main", "changed", "main", (), (change,))])
    assert not any(c in told for c in "\x1b\x07\u202e")


def test_a_memory_tells_of_its_conflicts() -> None:
    notes = [{"field": "raw", "value": "Old.", "updated_at": "2026-02-01T00:00:00Z"}, {"field": "deleted"}, "odd"]
    told = render_memory(memory(metadata={"conflicts": notes}))
    assert "conflict: raw was Old. on the other side of a merge (2026-02-01T00:00:00Z)" in told
    assert "deleted on the other side of a merge" in told
    assert render_memory(memory(metadata={"conflicts": 7}))


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
