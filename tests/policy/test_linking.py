"""What a link makes of two memories, and what is left when it is taken away."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.model.memory import Memory
from memcli.model.references import elsewhere
from memcli.model.shapes import RELATIONS
from memcli.policy.draft import linked, released, superseded, superseders, with_link, without_links
from tests.conftest import NOW, memory

LATER = "2026-03-01T00:00:00Z"
RELATION = st.sampled_from(RELATIONS)
ENDS = st.sampled_from(["mem_b", "mem_c", "notes:mem_b"])


def link(to: str, relation: str = "relates_to", **more: Any) -> dict[str, Any]:
    return {"to": to, "relation": relation, "weight": 1.0, "created_at": NOW, **more}


def test_a_link_that_is_made_again_keeps_its_date_and_takes_a_new_weight() -> None:
    first = with_link(memory("a"), "mem_b", "relates_to", 0.4, NOW)
    assert first.links == (link("mem_b", weight=0.4),)
    assert with_link(first, "mem_b", "relates_to", None, LATER) is first
    assert with_link(first, "mem_b", "relates_to", 0.4, LATER) is first
    assert with_link(first, "mem_b", "relates_to", 0.9, LATER).links == (link("mem_b", weight=0.9),)
    assert with_link(first, "mem_b", "depends_on", None, LATER).links[1]["created_at"] == LATER


def test_fields_that_no_version_knows_stay_in_a_link() -> None:
    known = memory("a", links=(link("mem_b", note="by hand"),))
    assert with_link(known, "mem_b", "relates_to", 0.5, LATER).links[0]["note"] == "by hand"


@given(st.lists(st.tuples(ENDS, RELATION), max_size=6), ENDS, RELATION)
def test_unlink_takes_back_what_link_added(before: list[tuple[str, str]], to: str, relation: str) -> None:
    start = memory("a", links=tuple(link(*place) for place in dict.fromkeys(before)))
    after = without_links(with_link(start, to, relation, None, LATER), to, [relation])
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


@pytest.mark.parametrize("until", [None, "2020-01-01T00:00:00Z", LATER])
def test_what_is_superseded_ends_now_or_where_it_had_ended(until: str | None) -> None:
    old = superseded(memory("b", valid_until=until), "mem_a", NOW)
    assert (old.superseded_by, old.valid_until) == ("mem_a", until if until and until < NOW else NOW)


def test_what_is_not_valid_yet_never_ends_before_it_begins() -> None:
    assert superseded(memory("b", valid_from=LATER), "mem_a", NOW).valid_until == LATER


def test_what_is_released_is_current_again() -> None:
    old = memory("b")
    assert released(superseded(old, "mem_a", NOW), "mem_a", [NOW], []) == old


def test_what_ended_by_itself_stays_ended() -> None:
    old = memory("b", valid_until="2020-01-01T00:00:00Z")
    assert released(superseded(old, "mem_a", NOW), "mem_a", [NOW], []) == old


def test_what_another_one_superseded_too_is_superseded_by_that() -> None:
    others = [memory("c", links=(link("mem_b", "supersedes"),)), memory("d", links=(link("mem_b"),))]
    old = superseded(memory("b"), "mem_a", NOW)
    found = superseders([*others, memory("a", links=(link("mem_b", "supersedes"),))], "mem_b", but="mem_a")
    assert found == [(NOW, "mem_c")]
    assert released(old, "mem_a", [NOW], found).superseded_by == "mem_c"
    assert released(old, "mem_x", [NOW], found) is old


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("notes:mem_a", ("notes", "mem_a")), ("notes:a:b", ("notes", "a:b")), ("mem_a", None), ("notes:", None),
        (":mem_a", None), ("No Space:mem_a", None), ("../x:mem_a", None), ("a/b:c", None), ("", None),
    ],
)  # fmt: skip
def test_what_names_a_memory_of_another_space(name: str, found: tuple[str, str] | None) -> None:
    assert elsewhere(name) == found
