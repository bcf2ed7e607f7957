"""What a merge makes of memories of one id that were made anew, and what a purge takes out of that."""

from __future__ import annotations

from itertools import permutations

import pytest

from memcli.codec.merge import merge, without_creations
from memcli.codec.space import encode_space
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.record import replace
from tests.codec.test_merge import NOTHING, only, space
from tests.conftest import memory

FIRST, SECOND, THIRD = (f"2026-02-0{day}T00:00:00Z" for day in (1, 2, 3))


def made(text: str, at: str, **fields: object) -> Memory:
    return memory("a", raw=text, **{"created_at": at, "updated_at": at, **fields})


FOUND = {"to": "mem_b", "relation": "contradicts", "by": "check"}
OLD = made("Old.", FIRST, content={"port": 1}, tags=("db",), links=(FOUND,), updated_at=THIRD, version=4)
NEW = made("New.", SECOND)


@pytest.mark.parametrize("base", [NOTHING, space(made("Older.", FIRST))])
def test_what_was_made_anew_stays_as_it_is_and_the_older_is_noted(base: Space) -> None:
    merged, other = merge(base, space(OLD), space(NEW)), merge(base, space(NEW), space(OLD))
    assert encode_space(merged.space) == encode_space(other.space)
    assert merged == other
    found = only(merged.space)
    notes = found.metadata["conflicts"]
    assert replace(found, metadata={}) == NEW
    assert {note["field"]: note["value"] for note in notes} == {"content": {"port": 1}, "raw": "Old.", "tags": ["db"]}
    assert {(note["created_at"], note["updated_at"]) for note in notes} == {(FIRST, THIRD)}
    assert [conflict.field for conflict in merged.conflicts] == ["content", "raw", "tags"]
    assert merge(NOTHING, merged.space, space(OLD)).space == merged.space
    assert without_creations(found, FIRST) == NEW
    assert without_creations(found, "2026-01-31T00:00:00Z") is found


def test_the_notes_of_the_older_say_when_it_was_made_and_those_of_the_newer_do_not() -> None:
    note = {"field": "raw", "value": "Oldest.", "updated_at": FIRST}
    ours, theirs = (replace(one, metadata={"conflicts": [note]}) for one in (made("Old.", FIRST), NEW))
    found = only(merge(NOTHING, space(ours), space(theirs)).space)
    assert without_creations(found, FIRST) == theirs


def test_the_order_in_which_three_are_merged_does_not_matter() -> None:
    results = set()
    for one, two, three in permutations((made("Old.", FIRST), NEW, made("Last.", THIRD))):
        both = merge(NOTHING, space(one), space(two)).space
        results.add(encode_space(replace(merge(NOTHING, both, space(three)).space, updated_at="")))
    assert len(results) == 1


def test_what_was_left_as_it_was_gives_way_to_what_was_made_anew() -> None:
    old = made("Old.", FIRST)
    assert only(merge(space(old), space(replace(old, kind="guide")), space(NEW)).space).metadata["conflicts"] == [
        {"created_at": FIRST, "updated_at": FIRST, "field": "kind", "value": "guide"}
    ]
