"""Taking a space into another one: what wins, what stays, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import RefusedError, UsageError
from memcli.model.links import elsewhere
from memcli.model.memory import Memory
from memcli.model.names import memory_id, text_hash
from memcli.model.shapes import RELATIONS
from memcli.model.space import Policy, Space
from memcli.policy.draft import (
    IntakePlan,
    check_validity,
    consistent,
    linked,
    plan_intake,
    released,
    superseded,
    superseders,
    with_link,
    without_links,
)
from memcli.record import replace
from tests.conftest import NOW, memory

EARLIER, LATER = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def space(*memories: Memory, **fields: object) -> Space:
    ordered = tuple(sorted(memories, key=lambda m: m.order))
    return Space("main", ordered, updated_at=NOW, **fields)  # type: ignore[arg-type]


def merge(mine: Space, incoming: Space) -> IntakePlan:
    return plan_intake(mine, incoming, "merge", is_new=False)


def test_the_newer_is_kept() -> None:
    mine = space(memory("a", updated_at=EARLIER, raw="old"), memory("b", updated_at=LATER, raw="new"), memory("c"))
    theirs = space(memory("a", raw="newer"), memory("b", raw="older"), memory("c"), memory("d"))
    plan = merge(mine, theirs)
    assert {m.id: m.raw for m in plan.after.objects} == {
        "mem_a": "newer", "mem_b": "new", "mem_c": "The text of c.", "mem_d": "The text of d.",
    }  # fmt: skip
    assert (plan.created, plan.updated, plan.unchanged, plan.kept, plan.removed) == (1, 1, 1, 1, 0)


def test_a_merge_leaves_the_policy_alone() -> None:
    strict = space(policy=Policy(pii_redaction={"detectors": ["email"]}), metadata={"mine": 1})
    loose = space(memory("a"), policy=Policy(allow_delete=True), metadata={"theirs": 1})
    plan = merge(strict, loose)
    assert (plan.after.policy, plan.after.metadata, plan.policy) == (strict.policy, {"mine": 1}, "kept")
    assert plan_intake(strict, loose, "replace", is_new=False).policy == "taken"
    assert plan_intake(Space("new"), loose, "merge", is_new=True).after == replace(loose, name="new")


def test_replacing_deletes_only_where_it_may() -> None:
    mine, theirs = space(memory("a"), memory("b")), space(memory("b"))
    with pytest.raises(RefusedError, match="allow_delete") as caught:
        plan_intake(mine, theirs, "replace", is_new=False)
    assert "allow_delete=true" in caught.value.hint
    may = replace(mine, policy=Policy(allow_delete=True))
    assert plan_intake(may, theirs, "replace", is_new=False).removed == 1
    assert plan_intake(theirs, mine, "replace", is_new=False).created == 1


def test_a_path_belongs_to_one() -> None:
    mine = space(memory("a", path="x"), memory("b", path="y"))
    theirs = space(memory("c", path="x"), memory("d", path="y"))
    plan = merge(mine, theirs)
    paths = {m.id: m.path for m in plan.after.objects}
    assert (paths["mem_a"], paths["mem_b"], len(set(paths.values()))) == ("x", "y", 4)
    assert paths["mem_c"].startswith("x-")
    again = merge(plan.after, theirs)
    assert (again.after, again.unchanged) == (plan.after, 2)


def test_paths_that_change_hands_do() -> None:
    mine = space(memory("a", path="x"), memory("b", path="y"))
    theirs = space(memory("a", path="y"), memory("b", path="x"))
    assert {m.id: m.path for m in merge(mine, theirs).after.objects} == {"mem_a": "y", "mem_b": "x"}


some = st.lists(
    st.builds(
        memory,
        st.sampled_from("abcdef"),
        path=st.sampled_from(["x", "y", "z", "x-1"]),
        updated_at=st.sampled_from([EARLIER, NOW, LATER]),
        raw=st.sampled_from(["one", "two"]),
    ),
    max_size=6,
    unique_by=(lambda m: m.id, lambda m: m.path),
).map(lambda found: space(*found))


@given(some, some)
def test_a_merge_loses_nothing_and_ends(mine: Space, theirs: Space) -> None:
    plan = merge(mine, theirs)
    ids = [m.id for m in plan.after.objects]
    assert sorted(ids) == sorted({m.id for m in (*mine.objects, *theirs.objects)})
    assert len({m.path for m in plan.after.objects}) == len(ids)
    assert plan.created + plan.updated + plan.unchanged + plan.kept == len(theirs.objects)
    again = merge(plan.after, theirs)
    assert (again.created, again.updated, again.after) == (0, 0, plan.after)


def test_two_memories_that_came_to_one_id_are_both_kept() -> None:
    a = memory("x", path="arch/redis", raw="A.", metadata={"hash": "a"}, created_at=EARLIER)
    b = memory("x", path="arch/sessions", raw="B.", metadata={"hash": "b"})
    linked = memory("l", links=({"to": "mem_x", "relation": "relates_to"},))
    for mode in ("merge", "replace"):
        mine = space(a, policy=Policy(allow_delete=True))
        plan = plan_intake(mine, space(b, linked), mode, is_new=False)
        by_path = {m.path: m for m in plan.after.objects}
        assert by_path["arch/sessions"].raw == "B."
        assert by_path["arch/sessions"].id not in {"mem_x"}
        assert by_path["notes/l"].links[0]["to"] == by_path["arch/sessions"].id
        assert ("arch/redis" in by_path) == (mode == "merge")
    again = plan_intake(plan_intake(mine, space(b), "merge", is_new=False).after, space(b), "merge", is_new=False)
    assert (again.created, again.updated, again.unchanged) == (0, 0, 1)


def test_an_older_state_of_a_moved_memory_is_no_other_one() -> None:
    here = memory("x", path="arch/redis", raw="A.", updated_at=LATER, created_at=EARLIER)
    there = memory("x", path="arch/sessions", raw="A, once.", updated_at=EARLIER, created_at=EARLIER)
    assert merge(space(here), space(there)).after.objects == (here,)


def test_what_comes_refers_to_nothing_that_is_not_there() -> None:
    linked = memory(
        "l", links=({"to": "mem_a", "relation": "relates_to"}, {"to": "mem_gone", "relation": "relates_to"})
    )
    old = memory("old", superseded_by="mem_gone")
    after = {m.id: m for m in merge(space(memory("a")), space(linked, old)).after.objects}
    assert [link["to"] for link in after["mem_l"].links] == ["mem_a"]
    assert after["mem_old"].superseded_by is None
    whole = plan_intake(Space("new"), space(linked), "merge", is_new=True).after
    assert whole.objects[0].links == ()


def test_another_memory_of_the_same_second_is_not_taken_for_the_one_that_comes() -> None:
    first, second, third = (memory_id("main", "p", number) for number in (1, 2, 3))

    def told(name: str, path: str, raw: str, **fields: object) -> Memory:
        return replace(memory(path=path, raw=raw, metadata={"hash": text_hash(raw)}, **fields), id=name)

    mine = space(told(first, "moved", "Moved.", created_at="2020-01-01T00:00:00Z"), told(second, "beside", "Beside."))
    after = merge(mine, space(told(first, "p", "Coming."))).after
    assert {m.id: m.raw for m in after.objects} == {first: "Moved.", second: "Beside.", third: "Coming."}


NEXT_MONTH = "2026-03-01T00:00:00Z"
RELATION = st.sampled_from(RELATIONS)
ENDS = st.sampled_from(["mem_b", "mem_c", "notes:mem_b"])


def link(to: str, relation: str = "relates_to", **more: Any) -> dict[str, Any]:
    return {"to": to, "relation": relation, "weight": 1.0, "created_at": NOW, **more}


def test_a_link_that_is_made_again_keeps_its_date_and_takes_a_new_weight() -> None:
    first = with_link(memory("a"), "mem_b", "relates_to", 0.4, NOW)
    assert first.links == (link("mem_b", weight=0.4),)
    assert with_link(first, "mem_b", "relates_to", None, NEXT_MONTH) is first
    assert with_link(first, "mem_b", "relates_to", 0.4, NEXT_MONTH) is first
    assert with_link(first, "mem_b", "relates_to", 0.9, NEXT_MONTH).links == (link("mem_b", weight=0.9),)
    assert with_link(first, "mem_b", "depends_on", None, NEXT_MONTH).links[1]["created_at"] == NEXT_MONTH


def test_fields_that_no_version_knows_stay_in_a_link() -> None:
    known = memory("a", links=(link("mem_b", note="by hand"),))
    assert with_link(known, "mem_b", "relates_to", 0.5, NEXT_MONTH).links[0]["note"] == "by hand"


@given(st.lists(st.tuples(ENDS, RELATION), max_size=6), ENDS, RELATION)
def test_unlink_takes_back_what_link_added(before: list[tuple[str, str]], to: str, relation: str) -> None:
    start = memory("a", links=tuple(link(*place) for place in dict.fromkeys(before)))
    after = without_links(with_link(start, to, relation, None, NEXT_MONTH), to, [relation])
    assert after == (start if (to, relation) not in before else without_links(start, to, [relation]))


@given(st.lists(st.tuples(ENDS, RELATION), max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_links_does_not_matter(places: list[tuple[str, str]], random: Any) -> None:
    def all_of(order: list[tuple[str, str]]) -> Memory:
        made = memory("a")
        for to, relation in order:
            made = with_link(made, to, relation, None, NOW)
        return made

    shuffled = random.sample(places, len(places))
    assert sorted(map(str, all_of(places).links)) == sorted(map(str, all_of(shuffled).links))
    assert all(len(linked(all_of(places), to, [relation])) == 1 for to, relation in places)


def test_what_is_superseded_ends_now_or_where_it_had_ended_and_is_current_again_when_released() -> None:
    for until in (None, "2020-01-01T00:00:00Z", NEXT_MONTH):
        old = memory("b", valid_until=until)
        ended = superseded(old, "mem_a", NOW)
        assert (ended.superseded_by, ended.valid_until) == ("mem_a", until if until and until < NOW else NOW)
        assert until == NEXT_MONTH or released(ended, "mem_a", [NOW], []) == old
    # what is not valid yet never ends before it begins
    assert superseded(memory("b", valid_from=NEXT_MONTH), "mem_a", NOW).valid_until == NEXT_MONTH


def test_what_another_one_superseded_too_is_superseded_by_that() -> None:
    others = [memory("c", links=(link("mem_b", "supersedes"),)), memory("d", links=(link("mem_b"),))]
    old = superseded(memory("b"), "mem_a", NOW)
    found = superseders([*others, memory("a", links=(link("mem_b", "supersedes"),))], "mem_b", but="mem_a")
    assert found == [(NOW, "mem_c")]
    assert released(old, "mem_a", [NOW], found).superseded_by == "mem_c"
    assert released(old, "mem_x", [NOW], found) is old


def test_what_names_a_memory_of_another_space() -> None:
    assert [elsewhere(name) for name in ("notes:mem_a", "notes:a:b")] == [("notes", "mem_a"), ("notes", "a:b")]
    for name in ("mem_a", "notes:", ":mem_a", "No Space:mem_a", "../x:mem_a", "a/b:c", ""):
        assert elsewhere(name) is None, name


def test_an_importance_that_the_kind_has_anyway_is_left_out() -> None:
    assert consistent(memory(kind="decision", importance=0.7)).importance is None
    assert consistent(memory(kind="note", importance=0.5)).importance is None
    assert consistent(memory(kind="decision", importance=0.5)).importance == 0.5
    same = memory(kind="decision")
    assert consistent(same) is same


def test_nothing_ends_before_it_begins() -> None:
    open_ = ({}, {"valid_from": LATER}, {"valid_until": EARLIER}, {"valid_from": EARLIER, "valid_until": EARLIER})
    for fields in open_:
        check_validity(fields)
        consistent(memory(**fields))
    with pytest.raises(UsageError, match=f"valid_until {EARLIER} is before valid_from {LATER}"):
        consistent(memory(valid_from=LATER, valid_until=EARLIER))
