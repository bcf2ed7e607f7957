"""Three versions of a space into one: what must hold for all, and what becomes of each kind of change."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memcli.codec import window
from memcli.codec.merge import merge, merge_files, merge_versions, without_creations
from memcli.codec.space import decode_space, encode_space
from memcli.codec.window import ByteRange
from memcli.errors import CorruptError
from memcli.model.memory import Memory
from memcli.model.names import memory_id, text_hash
from memcli.model.space import Policy, Space
from memcli.record import replace
from tests.codec.test_exports import is_fit
from tests.codec.test_window import over
from tests.conftest import NOW, examples, memory
from tests.strategies import json_values, memories, texts, times, units, words

EARLY, LATE = "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"
NOTHING = Space("main")


def space(*objects: Memory, **fields: object) -> Space:
    return replace(Space("main", updated_at=NOW, **fields).put(objects, NOW), **fields)  # type: ignore[arg-type]


def only(result: Space) -> Memory:
    (found,) = result.objects
    return found


def notes(found: Memory) -> list[tuple[object, object]]:
    return [(note["field"], note["value"]) for note in found.metadata.get("conflicts", [])]


edits = st.fixed_dictionaries(
    {},
    optional={
        "raw": texts, "summary_short": texts, "path": st.sampled_from(["a", "a/b", "c"]), "pinned": st.booleans(),
        "active": st.booleans(), "strength": st.integers(0, 9), "version": st.integers(1, 9), "confidence": units,
        "tags": st.lists(words, max_size=3).map(tuple), "metadata": st.dictionaries(words, json_values, max_size=2),
        "updated_at": times, "created_at": times, "content": json_values, "valid_until": st.none() | times,
        "provenance": st.fixed_dictionaries({}, optional={"reason": texts}),
        "extra": st.dictionaries(words.map(lambda w: f"x_{w}"), json_values, max_size=2),
    },
)  # fmt: skip


@st.composite
def spaces(draw: st.DrawFn, of: Space | None = None) -> Space:
    """Any space; or what becomes of one that is given, by edits, deletions and additions."""
    kept = [replace(m, **draw(edits)) for m in (of.objects if of else ()) if draw(st.integers(0, 4))]
    new = draw(st.lists(memories(), max_size=3, unique_by=lambda m: m.id))
    shared = draw(st.lists(st.sampled_from(["x", "y"]).flatmap(lambda n: edits.map(lambda e: memory(n, **e))),
                           max_size=2, unique_by=lambda m: m.id))  # fmt: skip
    policy = st.builds(Policy, ttl_days=st.none() | st.integers(0, 9), allow_delete=st.booleans())
    return Space(
        name=draw(st.sampled_from(["main", "core"])), metadata=draw(st.dictionaries(words, json_values, max_size=2)),
        policy=draw(policy), extra=draw(st.dictionaries(words.map(lambda w: f"x_{w}"), json_values, max_size=2)),
    ).put({m.id: m for m in [*kept, *new, *shared]}.values(), draw(times))  # fmt: skip


@st.composite
def versions(draw: st.DrawFn) -> tuple[Space, Space, Space]:
    base = draw(spaces())
    return base, draw(spaces(of=base)), draw(spaces(of=base))


@examples(0.8)
@given(versions())
def test_it_does_not_matter_which_side_is_ours(three: tuple[Space, Space, Space]) -> None:
    """Nor is the result anything but what is stored, and what one side alone changed is what it made of it."""
    base, ours, theirs = three
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    assert one == other
    data = encode_space(one.space)
    assert data == encode_space(other.space) == encode_space(decode_space(data, "merged"))
    assert merge(base, base, ours).space == merge(base, ours, base).space == merge(base, ours, ours).space == ours


@examples(0.8)
@given(versions())
def test_nothing_is_lost_but_what_one_side_deleted_and_the_other_left(three: tuple[Space, Space, Space]) -> None:
    base, ours, theirs = three
    merged = merge(base, ours, theirs)
    was, left, right, now = ({m.id: m for m in s.objects} for s in (*three, merged.space))
    for name in left.keys() | right.keys():
        deleted = name in was and (left.get(name, was[name]), right.get(name, was[name])) == (was[name], was[name])
        assert (name in now) != (deleted and not (name in left and name in right))
    apart = {m.raw for name, m in now.items() if name not in left.keys() | right.keys()}  # of two that shared an id
    for name, found in now.items():
        raws = {side[name].raw for side in (left, right) if name in side}
        changed = raws if name not in was else raws - {was[name].raw}
        assert changed - {""} <= {found.raw, *apart, *(str(value) for field, value in notes(found) if field == "raw")}
    ids_of_path: dict[str, set[str]] = {}
    for m in merged.space.objects:
        ids_of_path.setdefault(m.path, set()).add(m.id)
    for path, ids in ids_of_path.items():
        sides = [{m.id for m in side.objects if m.path == path} for side in (ours, theirs)]
        assert len(ids) == 1 or any(ids <= side for side in sides)


def test_different_fields_of_one_memory() -> None:
    ours = memory(raw="New.", summary_micro="New.", metadata={"hash": "new"}, version=2, updated_at=LATE)
    theirs = memory(tags=("db",), pinned=True, updated_at=EARLY)
    merged = merge(space(memory(metadata={"hash": "old"})), space(ours), space(theirs))
    assert only(merged.space) == replace(ours, tags=("db",), pinned=True)
    assert not merged.conflicts


def test_the_newer_value_stays_and_the_older_is_noted() -> None:
    base = memory(raw="Old.", summary_micro="Old.", metadata={"hash": "0", "owner": "x"}, chunks=({"text": "0"},))
    ours = replace(base, raw="One.", summary_micro="One.", metadata={"hash": "1", "owner": "x"}, version=2,
                   chunks=({"text": "1"},), updated_at=LATE)  # fmt: skip
    theirs = replace(base, raw="Two.", summary_micro="Two.", metadata={"hash": "2", "owner": "y"}, version=2,
                     chunks=({"text": "2"},), updated_at=EARLY)  # fmt: skip
    merged = merge(space(base), space(ours), space(theirs))
    found = only(merged.space)
    assert (found.raw, found.summary_micro, found.metadata["hash"], found.chunks) == ("One.", "One.", "1", ours.chunks)
    assert (found.version, found.updated_at, found.metadata["owner"]) == (3, LATE, "y")
    assert found.metadata["conflicts"] == [{"field": "raw", "value": "Two.", "updated_at": EARLY}]
    assert [(c.id, c.field) for c in merged.conflicts] == [("mem_a", "raw")]


def test_a_summary_of_the_old_text_does_not_stay_with_the_new_one() -> None:
    base = memory(raw="Old.", summary_short="Of the old.")
    ours = replace(base, raw="New.", summary_short="Of the new.", updated_at=EARLY)
    theirs = replace(base, summary_short="Better, of the old.", updated_at=LATE)
    found = only(merge(space(base), space(ours), space(theirs)).space)
    assert (found.raw, found.summary_short) == ("New.", "Of the new.")
    assert found.metadata["conflicts"] == [
        {"field": "summary_short", "value": theirs.summary_short, "updated_at": LATE}
    ]


def test_the_hash_is_of_the_text_and_the_content_that_came_out() -> None:
    base = memory(raw="Old.", content=1, metadata={"hash": text_hash("Old.", b"1")})
    ours = replace(base, raw="New.", metadata={"hash": text_hash("New.", b"1")})
    theirs = replace(base, content=2, metadata={"hash": text_hash("Old.", b"2")})
    found = only(merge(space(base), space(ours), space(theirs)).space)
    assert (found.raw, found.content, found.hash) == ("New.", 2, text_hash("New.", b"2"))


RELATED = {"to": "m", "relation": "relates_to"}
WEIGHTED = {**RELATED, "weight": 0.5}
SIDES: tuple[tuple[str, object, object, object, object], ...] = (
    ("tags", ("a", "b"), ("b", "c"), ("a", "b", "d"), ("b", "c", "d")), ("triggers", (), ("x",), ("y", "x"), ("x", "y")),
    ("strength", 3, 5, 4, 6), ("strength", 1, 2, 2, 3),
    ("version", 1, 2, 1, 2), ("version", 1, 2, 2, 3), ("version", 1, 4, 2, 5),
    ("pinned", True, False, True, False), ("active", True, True, False, False),
    ("created_at", NOW, EARLY, LATE, LATE), ("valid_until", EARLY, None, LATE, LATE),
    ("provenance", {"reason": "x"}, {"reason": "y"}, {"reason": "x", "commit": "c"}, {"reason": "y", "commit": "c"}),
    ("links", (), (WEIGHTED,), ({**RELATED, "to": "n"},), (WEIGHTED, {**RELATED, "to": "n"})),
    ("links", (), (WEIGHTED,), (RELATED,), (WEIGHTED,)),
    ("extra", {}, {"x_new": 1}, {"x_other": 2}, {"x_new": 1, "x_other": 2}),
)  # fmt: skip


def test_fields_without_conflict() -> None:
    for field, base, *sides, expected in SIDES:
        states = zip((base, *sides), (NOW, LATE, EARLY), strict=True)
        merged = merge(*(space(replace(memory(), updated_at=at, **{field: value})) for value, at in states))
        assert (getattr(only(merged.space), field), merged.conflicts) == (expected, ()), (field, sides)


TAKEN_OUT: tuple[tuple[str, object, object], ...] = (
    ("valid_until", NOW, None), ("importance", 0.1, None), ("links", (RELATED,), ()), ("metadata", {"ticket": 1}, {}),
    ("extra", {"x_new": 1}, {}),
)  # fmt: skip


def test_what_one_side_took_out_stays_out() -> None:
    for field, base, left in TAKEN_OUT:
        before = memory(**{field: base})
        theirs = replace(before, updated_at="2026-02-15T00:00:00Z", kind="decision")
        for time in (EARLY, LATE):
            merged = merge(space(before), space(replace(before, updated_at=time, **{field: left})), space(theirs))
            assert (getattr(only(merged.space), field), merged.conflicts) == (left, ()), (field, time)


def test_an_edit_outlives_a_deletion_and_says_so() -> None:
    edited = memory(raw="Better.", updated_at=LATE)
    merged = merge(space(memory()), replace(space(), updated_at=EARLY), space(edited))
    assert only(merged.space).raw == "Better."
    assert notes(only(merged.space)) == [("deleted", None)]
    assert [c.field for c in merged.conflicts] == ["deleted"]


def test_one_path_and_two_ids() -> None:
    first, second = memory("a", path="db/choice"), memory("b", path="db/choice", created_at=EARLY)
    merged = merge(NOTHING, space(first), space(second))
    paths = {m.id: m.path for m in merged.space.objects}
    assert paths["mem_a"] == "db/choice"
    assert paths["mem_b"].startswith("db/choice-")
    assert merged.moved == {"mem_b": paths["mem_b"]}


def test_the_same_path_added_on_both_sides_is_one_memory() -> None:
    ours, theirs = memory(raw="One.", updated_at=EARLY), memory(raw="Two.", pinned=True, updated_at=LATE)
    found = only(merge(NOTHING, space(ours), space(theirs)).space)
    assert (found.raw, found.pinned, found.strength, notes(found)) == ("Two.", True, 1, [("raw", "One.")])


def test_the_header() -> None:
    base = space(policy=Policy(ttl_days=1), metadata={"a": 1}, extra={"x": 1})
    ours = replace(base, policy=Policy(ttl_days=2), metadata={"a": 2}, updated_at=LATE)
    theirs = replace(base, policy=Policy(ttl_days=1, allow_delete=True), metadata={"a": 3}, extra={"x": 1, "y": 2},
                     updated_at=EARLY)  # fmt: skip
    merged = merge(base, ours, theirs)
    assert merged.space.policy == Policy(ttl_days=2, allow_delete=True)
    assert merged.space.metadata == {
        "a": 2, "conflicts": [{"field": "metadata.a", "value": 3, "updated_at": EARLY}],
    }  # fmt: skip
    assert (merged.space.updated_at, merged.space.extra) == (LATE, {"x": 1, "y": 2})
    assert [(c.id, c.field) for c in merged.conflicts] == [("", "metadata.a")]


def test_conflicts_of_earlier_merges_stay_until_somebody_takes_them_away() -> None:
    note = {"field": "raw", "value": "x", "updated_at": EARLY}
    base = memory(metadata={"conflicts": [note]})
    settled, ours, theirs = memory(kind="guide", updated_at=LATE), replace(base, kind="log"), replace(base, raw="New.")
    assert notes(only(merge(space(base), space(settled), space(theirs)).space)) == []
    found = only(merge(space(base), space(ours), space(replace(base, kind="config", updated_at=LATE))).space)
    assert notes(found) == [("kind", "log"), ("raw", "x")]


def test_a_side_with_an_id_twice_is_refused() -> None:
    twice = Space("main", (memory(), memory()))
    with pytest.raises(CorruptError, match="mem_a"):
        merge(NOTHING, twice, NOTHING)


def test_two_memories_that_came_to_one_id_on_two_sides_are_both_kept() -> None:
    name = memory_id("main", "arch/sessions")
    moved = memory("x", id=name, path="arch/redis", raw="A.", created_at=EARLY, metadata={"hash": "a"})
    linked = memory("l", links=({"to": name, "relation": "relates_to"},))
    other = memory("x", id=name, path="arch/sessions", raw="B.", created_at=LATE, metadata={"hash": "b"})
    ours, theirs = space(moved, linked), space(other)
    result = merge(NOTHING, ours, theirs)
    by_path = {m.path: m for m in result.space.objects}
    assert {path: m.raw for path, m in by_path.items()} == {
        "arch/redis": "A.", "arch/sessions": "B.", "notes/l": "The text of l.",
    }  # fmt: skip
    assert by_path["arch/sessions"].id == name
    assert by_path["notes/l"].links[0]["to"] == by_path["arch/redis"].id
    assert merge(NOTHING, theirs, ours).space == result.space


def test_the_new_id_of_one_of_two_is_nobodys() -> None:
    name, own = memory_id("main", "arch/sessions"), memory_id("main", "arch/redis")
    moved = memory("x", id=name, path="arch/redis", raw="A.", created_at=EARLY, metadata={"hash": "a"})
    holder = memory("h", id=own, path="arch/cache", raw="C.")
    other = memory("x", id=name, path="arch/sessions", raw="B.", created_at=LATE, metadata={"hash": "b"})
    result = merge(NOTHING, space(moved, holder), space(other))
    assert sorted(m.path for m in result.space.objects) == ["arch/cache", "arch/redis", "arch/sessions"]
    assert len({m.id for m in result.space.objects}) == 3


def test_what_one_side_deleted_is_referred_to_by_nobody() -> None:
    gone, kept = memory("a"), memory("b")
    ours = space(replace(kept, links=({"to": "mem_a", "relation": "relates_to"},), updated_at=LATE), gone)
    old = replace(kept, superseded_by="mem_a", updated_at=LATE)
    assert only(merge(space(gone, kept), ours, space(kept)).space).links == ()
    assert only(merge(space(gone, kept), space(gone, old), space(kept)).space).superseded_by is None


def test_a_side_with_one_name_twice_is_refused() -> None:
    base = encode_space(space(memory("a")))
    twice = encode_space(space(memory("a"), memory("b"))).replace(
        b'"path": ', b'"pinned": false,\n      "pinned": true,\n      "path": ', 1
    )
    for sides in ((base, twice), (twice, base)):
        with pytest.raises(CorruptError, match="an object has the field 'pinned' twice") as caught:
            merge_files(*map(over, (base, *sides)))
        assert "on that side" in caught.value.hint


def test_what_is_wrong_on_a_side_is_to_be_mended_there() -> None:
    base = encode_space(space(memory("a")))
    for wrong, told in (
        (base.replace(b'"policy": {}', b'"policy": 5'), "theirs: policy: it must be an object"),
        (base.replace(b'"objects": [', b'"objects": [7,'), "theirs: object 1 is not a JSON object"),
        (base.replace(b'{"space": null}', b'{"hash": [1]}', 1), "metadata.hash must be text, not a list"),
    ):
        assert wrong != base
        with pytest.raises(CorruptError, match=told) as caught:
            merge_versions(base, base, wrong)
        assert "on that side" in caught.value.hint


def test_a_successor_that_nobody_has_does_not_come_in() -> None:
    plain, stale = memory("a"), replace(memory("a"), superseded_by="mem_nowhere", updated_at=LATE)
    for base in (NOTHING, space(plain)):
        assert only(merge(base, space(plain), space(stale)).space).superseded_by is None
        assert only(merge(base, space(stale), space(plain)).space).superseded_by is None
    assert only(merge(NOTHING, NOTHING, space(stale)).space).superseded_by is None
    edited = replace(stale, raw="Edited.")
    assert only(merge(space(stale), space(stale), space(edited)).space).superseded_by == "mem_nowhere"
    assert only(merge(NOTHING, NOTHING, space(stale), ids={"mem_nowhere"}).space).superseded_by == "mem_nowhere"


def test_what_one_side_deleted_does_not_come_back_for_a_link_that_a_check_made() -> None:
    link = {"relation": "contradicts", "weight": 1.0, "created_at": NOW, "by": "check"}
    base = space(memory("a"))
    linked = space(memory("a", links=({**link, "to": "mem_b"},)), memory("b", links=({**link, "to": "mem_a"},)))
    merged = merge(base, space(), linked)
    assert (only(merged.space).id, only(merged.space).links, merged.conflicts) == ("mem_b", (), ())
    told = space(memory("a", links=({**link, "to": "mem_b", "by": "somebody"},)), memory("b"))
    assert [m.id for m in merge(base, space(), told).space.objects] == ["mem_a", "mem_b"]


def _fit(one: Space) -> Space:
    """The space with each path once, and only such as memcli itself would let in."""
    by_path = {memory.path: memory for memory in one.objects if is_fit(memory.path)}
    return replace(one, objects=tuple(sorted(by_path.values(), key=lambda memory: memory.order)))


@examples(0.4)
@given(versions(), st.lists(memories(), max_size=4, unique_by=(lambda m: m.id, lambda m: m.path)))
def test_files_are_merged_as_whole_spaces_are(three: Sequence[Space], shared: list[Memory]) -> None:
    three = tuple(map(_fit, three))
    names = {name for one in three for memory in one.objects for name in (memory.id, memory.path)}
    more = [memory for memory in shared if names.isdisjoint((memory.id, memory.path)) and is_fit(memory.path)]
    files = [encode_space(one.put(more, one.updated_at)) for one in three]
    try:
        whole = merge_versions(*files)
    except CorruptError:  # of what is damaged nothing is promised but lines
        assume(False)
    merged, pieces = merge_files(*map(over, files))
    assert b"".join(
        b"".join(piece) if isinstance(piece, ByteRange) else bytes(piece) for piece in pieces
    ) == encode_space(whole.space)
    assert (merged.conflicts, merged.moved) == (whole.conflicts, whole.moved)


@pytest.mark.slow
def test_of_large_files_no_more_is_held_than_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "HELD", 1 << 16)
    every = [memory(f"m{n:05}", path=f"at/{n}", raw="A text of some length. " * 80) for n in range(4_000)]
    base = space(*every)
    ours = base.put([replace(every[7], raw="ours")], LATE)
    theirs = base.put([replace(every[9], raw="theirs")], LATE).drop([every[11].id], LATE)
    files = [encode_space(one) for one in (base, ours, theirs)]
    tracemalloc.start()
    try:
        merged, pieces = merge_files(*map(over, files))
        size = sum(map(len, pieces))
        assert tracemalloc.get_traced_memory()[1] < len(files[0])
    finally:
        tracemalloc.stop()
    assert len(merged.space.objects) <= 3
    assert size == len(encode_space(merge_versions(*files).space))


def test_links_to_other_spaces_are_kept() -> None:
    def side(*names: str) -> Space:
        given = tuple({"to": name, "relation": "relates_to", "created_at": NOW} for name in names)
        return Space("main", (memory("a", links=given), *([memory("b")] if "mem_b" in names else [])), updated_at=NOW)

    merged = merge(side("mem_b", "notes:mem_x"), side("notes:mem_x", "notes:mem_y"), side("mem_b", "notes:mem_x")).space
    assert [one["to"] for one in merged.objects[0].links] == ["notes:mem_x", "notes:mem_y"]


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


def file_of(*names: str) -> bytes:
    return encode_space(Space("main").put([memory(name) for name in names], NOW))


@pytest.mark.parametrize("base", [b"", b"{", b"<<<<<<<\n", b"[]"])
def test_without_a_base_nothing_is_deleted(base: bytes) -> None:
    merged = merge_versions(base, file_of("a", "b"), file_of("b", "c"))
    assert [m.id for m in merged.space.objects] == ["mem_a", "mem_b", "mem_c"]


def test_a_side_that_cannot_be_read_is_named() -> None:
    newer = file_of("a").replace(b'"version": 2\n}', b'"version": 3\n}')
    for damage in (b"", b"{", newer):
        with pytest.raises(CorruptError, match="ours"):
            merge_versions(file_of(), damage, file_of())
        with pytest.raises(CorruptError, match="theirs"):
            merge_versions(file_of(), file_of(), damage)
