"""The graph of memories: what ties what, what surrounds a memory, and shapes that could lead astray; and names of clusters."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.graph.elements import HUB, Graph, build, cluster_id, neighbourhood
from memcli.graph.elements import names as named
from memcli.model.memory import Memory
from memcli.model.shapes import RELATIONS
from tests.conftest import memory


def link(to: str, relation: str = "relates_to", **more: Any) -> dict[str, Any]:
    return {"to": to, "relation": relation, **more}


def edges(graph: Graph) -> list[tuple[str, str, str]]:
    return [(one.start, one.relation, one.end) for one in graph.edges]


def names(graph: Graph) -> list[str]:
    return [node.id for node in graph.nodes]


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_relation_is_an_edge(relation: str) -> None:
    graph = build({"main": [memory("a", links=(link("mem_b", relation, weight=0.5),)), memory("b")]}, "main")
    assert [(e.start, e.relation, e.end, e.weight) for e in graph.edges] == [("mem_a", relation, "mem_b", 0.5)]


def test_what_both_say_is_one_edge_unless_it_has_a_direction() -> None:
    def both(relation: str) -> Graph:
        ends = [memory("a", links=(link("mem_b", relation),)), memory("b", links=(link("mem_a", relation),))]
        return build({"main": ends}, "main")

    assert len(both("contradicts").edges) == len(both("relates_to").edges) == 1
    assert len(both("depends_on").edges) == 2


def test_what_is_superseded_is_tied_though_no_link_says_so() -> None:
    graph = build({"main": [memory("a"), memory("b", superseded_by="mem_a")]}, "main")
    assert edges(graph) == [("mem_a", "supersedes", "mem_b")]
    said = build(
        {"main": [memory("a", links=(link("mem_b", "supersedes"),)), memory("b", superseded_by="mem_a")]}, "main"
    )
    assert edges(said) == edges(graph)


def test_tags_and_clusters_count_their_members() -> None:
    memories = [memory("a", tags=("x", "y")), memory("b", tags=("x",)), memory("c")]
    graph = build({"main": memories}, "main", {"both": ["mem_a", "mem_c", "mem_gone"]})
    assert {node.id: node.members for node in graph.nodes if node.members} == {
        "tag:x": 2,
        "tag:y": 1,
        "cluster:both": 2,
    }
    assert ("mem_c", "in_cluster", "cluster:both") in edges(graph)


def test_memories_of_other_spaces_go_by_space_and_id() -> None:
    a = memory("a", links=(link("notes:mem_a"), link("notes:mem_gone"), link("mem_gone")))
    graph = build({"main": [a], "notes": [memory("a", links=(link("main:mem_a", "depends_on"),))]}, "main")
    assert names(graph) == ["mem_a", "notes:mem_a"]
    assert edges(graph) == [("mem_a", "relates_to", "notes:mem_a"), ("notes:mem_a", "depends_on", "mem_a")]


@pytest.mark.parametrize(
    "odd", ["x", {}, {"to": "mem_b"}, {"to": 5, "relation": "relates_to"}, {"to": "mem_b", "relation": "likes"}]
)
def test_what_a_hand_put_in_the_place_of_a_link_ties_nothing(odd: Any) -> None:
    assert build({"main": [memory("a", links=(odd,)), memory("b")]}, "main").edges == ()


def chain(length: int) -> list[Memory]:
    return [memory(f"{n:05}", links=(link(f"mem_{n + 1:05}"),)) for n in range(length)]


@pytest.mark.parametrize("depth", range(4))
def test_the_neighbourhood_ends_where_it_was_asked_to(depth: int) -> None:
    around = neighbourhood(build({"main": chain(9)}, "main"), ["mem_00004"], depth)
    assert names(around) == [f"mem_{n:05}" for n in range(4 - depth, 5 + depth)]
    assert around.cut == ({"mem_00004"} if depth == 0 else {f"mem_{4 - depth:05}", f"mem_{4 + depth:05}"})
    assert around.roots == ("mem_00004",)


def test_circles_and_links_to_oneself_end() -> None:
    ring = [memory(str(n), links=(link(f"mem_{(n + 1) % 4}"), link(f"mem_{n}"))) for n in range(4)]
    assert len(neighbourhood(build({"main": ring}, "main"), ["mem_0"], 1 << 40).nodes) == 4


def test_a_tag_that_many_have_is_shown_and_not_followed() -> None:
    crowd = [memory(f"{n:03}", tags=("all", *(["few"] if n < 2 else []))) for n in range(HUB + 1)]
    graph = build({"main": crowd}, "main")
    around = neighbourhood(graph, ["mem_000"], 2)
    assert names(around) == ["mem_000", "mem_001", "tag:all", "tag:few"]
    assert around.cut == {"tag:all"}
    assert len(neighbourhood(graph, ["tag:all"], 1).nodes) == HUB + 2


def test_ten_thousand_memories_in_a_row() -> None:
    graph = build({"main": chain(10_000)}, "main")
    assert len(neighbourhood(graph, ["mem_00000"], 20_000).nodes) == 10_000


@given(st.permutations(range(6)), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(RELATIONS))))
def test_the_order_of_memories_does_not_matter(order: list[int], ties: list[tuple[int, int, str]]) -> None:
    made = [
        memory(str(n), links=tuple(link(f"mem_{b}", r) for a, b, r in dict.fromkeys(ties) if a == n), tags=("t",))
        for n in range(6)
    ]
    graph, other = build({"main": made}, "main"), build({"main": [made[n] for n in order]}, "main")
    assert graph == other
    around = [neighbourhood(graph, ["mem_0"], depth) for depth in range(4)]
    assert all(set(names(less)) <= set(names(more)) for less, more in pairwise(around))


AUTH = ["Auth tokens expire after an hour.", "Auth tokens are signed with a key.", "Rotate auth tokens every week."]
CACHE = ["The Redis cache holds sessions.", "Flush the Redis cache on deploy.", "The Redis cache has no password."]


def about(*texts: str, prefix: str = "m") -> list[Memory]:
    return [memory(f"{prefix}{n}", raw=text) for n, text in enumerate(texts)]


def test_a_name_is_what_the_members_share_and_others_do_not() -> None:
    assert named([about(*AUTH), about(*CACHE)]) == ["auth tokens", "redis cache"]


def test_what_all_clusters_speak_of_is_in_no_name() -> None:
    auth = [f"Billing: {text}" for text in AUTH]
    cache = [f"Billing: {text}" for text in CACHE]
    assert not any("billing" in name for name in named([about(*auth), about(*cache)]))


def test_words_stand_in_the_order_in_which_they_are_said() -> None:
    assert named([[memory(str(n), raw="Text.", tags=("zebra-apple",)) for n in range(4)]]) == ["zebra apple"]


def test_the_words_of_one_member_are_in_no_name() -> None:
    odd = memory("odd", raw="Zeppelin hangar. Zeppelin hangar. Zeppelin hangar.")
    assert named([[*about(*AUTH, *AUTH), odd], about(*CACHE)]) == ["auth tokens", "redis cache"]


def test_two_clusters_have_two_named() -> None:
    found = named([about(*AUTH), about(*AUTH), about(*AUTH)])
    assert len(set(found)) == 3
    assert found[0] == "auth tokens"


def test_members_without_a_telling_word() -> None:
    assert named([about("1234", "5678"), about("42", "43")]) == ["cluster", "cluster 2"]
    assert named([]) == []


def test_hashes_and_endings_of_files_are_no_named() -> None:
    members = [memory(str(n), raw="x", path=f"src/{n}", tags=("parser-py", "9f86d081884c")) for n in range(3)]
    assert named([members]) == ["parser"]


def test_a_member_more_or_less_keeps_the_name() -> None:
    found = {named([about(*AUTH[:n], "Tokens of auth are revoked on logout."), about(*CACHE)])[0] for n in (2, 3)}
    assert found == {"auth tokens"}


def test_an_id_depends_on_members_and_not_on_their_order() -> None:
    assert cluster_id(["mem_a", "mem_b"]) == cluster_id(["mem_b", "mem_a"]) != cluster_id(["mem_c", "mem_d"])


def test_most_members_can_come_and_go_without_another_id() -> None:
    ids = [f"mem_{n}" for n in range(40)]
    same = [cluster_id(ids) == cluster_id([name for name in ids if name != gone]) for gone in ids]
    assert sum(same) == len(ids) - 1
