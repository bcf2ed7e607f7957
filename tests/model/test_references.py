"""What deleting a memory leaves behind: no reference to it, and what it had superseded holds again."""

from __future__ import annotations

from typing import Any

import pytest

from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.model.links import is_same_memory, made_current, removal, renamed, without_dangling
from memcli.model.memory import Memory
from memcli.model.space import Space
from tests.conftest import NOW, memory

LATER = "2026-02-01T00:00:00Z"


def link(to: str, relation: str = "relates_to", **fields: Any) -> dict[str, Any]:
    return {"to": to, "relation": relation, **fields}


def superseding(name: str, old: str, **fields: Any) -> Memory:
    return memory(name, links=({**link(f"mem_{old}", "supersedes"), "created_at": NOW},), **fields)


def shelf(objects: list[Memory]) -> SpliceShelf:
    return SpliceShelf(encode_space(Space("main", tuple(sorted(objects, key=lambda m: m.order)))), "main")


def after(objects: list[Memory], *gone: str) -> dict[str, Memory]:
    change = removal(shelf(objects), {f"mem_{name}" for name in gone}, LATER)
    assert change.drop == {f"mem_{name}" for name in gone}
    kept = {m.id: m for m in objects if m.id not in change.drop} | {m.id: m for m in change.put}
    return {name.removeprefix("mem_"): memory for name, memory in kept.items()}


def test_links_to_what_is_gone_go_and_leave_the_date():
    one = memory("a", links=(link("mem_b"), link("mem_c")))
    left = after([one, memory("b"), memory("c")], "b")
    assert left["a"].links == (link("mem_c"),)
    assert (left["a"].version, left["a"].updated_at) == (one.version, one.updated_at)


def test_what_was_superseded_is_current_again():
    old = memory("old", superseded_by="mem_new", valid_until=NOW)
    objects = [old, superseding("new", "old")]
    left = after(objects, "new")["old"]
    assert (left.superseded_by, left.valid_until, left.version, left.updated_at) == (None, None, 2, LATER)
    assert [m.id for m in made_current(shelf(objects), removal(shelf(objects), {"mem_new"}, LATER))] == ["mem_old"]


EARLIER = "2025-01-01T00:00:00Z"
CHAIN = [
    memory("a", superseded_by="mem_b", valid_until=NOW),
    superseding("b", "a", superseded_by="mem_c"),
    superseding("c", "b"),
]
TWICE = [memory("a", superseded_by="mem_b", valid_until=NOW), superseding("b", "a"), superseding("c", "a")]
CIRCLE = [memory(name, superseded_by=f"mem_{by}") for name, by in ("ab", "bc", "cb")]
OWN_END = [memory("a", superseded_by="mem_b", valid_until=EARLIER), superseding("b", "a")]


@pytest.mark.parametrize(
    ("objects", "gone", "successor", "until", "version"),
    [
        (CHAIN, "b", "mem_c", NOW, 1), (CHAIN, "bc", None, None, 2), (TWICE, "b", "mem_c", NOW, 1),
        (TWICE, "bc", None, None, 2), (CIRCLE, "bc", None, None, 2), (OWN_END, "b", None, EARLIER, 2),
    ],
)  # fmt: skip
def test_the_next_successor_takes_the_place_of_one_that_is_gone(
    objects: list[Memory], gone: str, successor: str | None, until: str | None, version: int
) -> None:
    left = after(objects, *gone)
    assert (left["a"].superseded_by, left["a"].valid_until, left["a"].version) == (successor, until, version)
    assert not any(link["to"] in {f"mem_{name}" for name in gone} for one in left.values() for link in one.links)
    current = made_current(shelf(objects), removal(shelf(objects), {f"mem_{name}" for name in gone}, LATER))
    assert [one.id for one in current] == ([] if successor else ["mem_a"])


def test_what_refers_to_nothing_gone_is_left_alone():
    objects = [memory("a", links=(link("mem_b"),)), memory("b"), memory("c")]
    assert removal(shelf(objects), {"mem_c", "mem_x"}, LATER).put == ()


def test_dangling_references_are_taken_out():
    one = memory("a", links=(link("mem_b"), link("mem_x")), superseded_by="mem_y")
    sound = without_dangling(one, {"mem_b"}.__contains__)
    assert (sound.links, sound.superseded_by) == ((link("mem_b"),), None)
    assert without_dangling(sound, {"mem_b"}.__contains__) is sound


def test_a_new_id_is_new_wherever_it_stands():
    one = memory(
        "a", links=(link("mem_a"), link("mem_b")), superseded_by="mem_a", chunks=({"chunk_id": "mem_a#0", "text": "x"},)
    )
    other = renamed(one, {"mem_a": "mem_z"})
    assert (other.id, other.superseded_by, other.chunks[0]["chunk_id"]) == ("mem_z", "mem_z", "mem_z#0")
    assert [one["to"] for one in other.links] == ["mem_z", "mem_b"]


def test_versions_of_one_memory_are_told_from_two_of_one_id():
    one = memory("a", path="x", metadata={"hash": "1"})
    assert is_same_memory(one, memory("a", path="x", metadata={"hash": "2"}, created_at=LATER))
    assert is_same_memory(one, memory("a", path="y", metadata={"hash": "2"}))
    assert is_same_memory(one, memory("a", path="y", metadata={"hash": "1"}, created_at=LATER))
    assert not is_same_memory(one, memory("a", path="y", metadata={"hash": "2"}, created_at=LATER))


def test_a_chain_that_is_deleted_link_by_link_leaves_the_first_current():
    first = memory("a", superseded_by="mem_b", valid_until=NOW)
    second = superseding("b", "a", superseded_by="mem_c", valid_until=LATER)
    left = after([first, second, superseding("c", "b")], "b")
    left = after(list(left.values()), "c")
    assert (left["a"].superseded_by, left["a"].valid_until) == (None, None)


def test_what_only_a_supersession_ended_does_not_end_without_it():
    old = memory("old", superseded_by="mem_new", valid_until=NOW)
    assert without_dangling(old, lambda _: False).valid_until is None
    ended = memory("old", superseded_by="mem_new", valid_until="2025-01-01T00:00:00Z")
    assert without_dangling(ended, lambda _: False).valid_until == "2025-01-01T00:00:00Z"
