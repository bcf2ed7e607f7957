"""Names and ids of clusters: of their members alone, unique, and steady."""

from __future__ import annotations

from memcli.graph.elements import cluster_id, names
from memcli.model.memory import Memory
from tests.conftest import memory

AUTH = ["Auth tokens expire after an hour.", "Auth tokens are signed with a key.", "Rotate auth tokens every week."]
CACHE = ["The Redis cache holds sessions.", "Flush the Redis cache on deploy.", "The Redis cache has no password."]


def about(*texts: str, prefix: str = "m") -> list[Memory]:
    return [memory(f"{prefix}{n}", raw=text) for n, text in enumerate(texts)]


def test_a_name_is_what_the_members_share_and_others_do_not() -> None:
    assert names([about(*AUTH), about(*CACHE)]) == ["auth tokens", "redis cache"]


def test_what_all_clusters_speak_of_is_in_no_name() -> None:
    auth = [f"Billing: {text}" for text in AUTH]
    cache = [f"Billing: {text}" for text in CACHE]
    assert not any("billing" in name for name in names([about(*auth), about(*cache)]))


def test_words_stand_in_the_order_in_which_they_are_said() -> None:
    assert names([[memory(str(n), raw="Text.", tags=("zebra-apple",)) for n in range(4)]]) == ["zebra apple"]


def test_the_words_of_one_member_are_in_no_name() -> None:
    odd = memory("odd", raw="Zeppelin hangar. Zeppelin hangar. Zeppelin hangar.")
    assert names([[*about(*AUTH, *AUTH), odd], about(*CACHE)]) == ["auth tokens", "redis cache"]


def test_two_clusters_have_two_names() -> None:
    found = names([about(*AUTH), about(*AUTH), about(*AUTH)])
    assert len(set(found)) == 3
    assert found[0] == "auth tokens"


def test_members_without_a_telling_word() -> None:
    assert names([about("1234", "5678"), about("42", "43")]) == ["cluster", "cluster 2"]
    assert names([]) == []


def test_hashes_and_endings_of_files_are_no_names() -> None:
    members = [memory(str(n), raw="x", path=f"src/{n}", tags=("parser-py", "9f86d081884c")) for n in range(3)]
    assert names([members]) == ["parser"]


def test_a_member_more_or_less_keeps_the_name() -> None:
    found = {names([about(*AUTH[:n], "Tokens of auth are revoked on logout."), about(*CACHE)])[0] for n in (2, 3)}
    assert found == {"auth tokens"}


def test_an_id_depends_on_members_and_not_on_their_order() -> None:
    assert cluster_id(["mem_a", "mem_b"]) == cluster_id(["mem_b", "mem_a"]) != cluster_id(["mem_c", "mem_d"])


def test_most_members_can_come_and_go_without_another_id() -> None:
    ids = [f"mem_{n}" for n in range(40)]
    same = [cluster_id(ids) == cluster_id([name for name in ids if name != gone]) for gone in ids]
    assert sum(same) == len(ids) - 1
