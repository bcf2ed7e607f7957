"""Clusters of a space: found by vectors, kept in the cache, and gone with what they were made of."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from memcli.app.purge import purge
from memcli.app.space import embed_spaces, index_status
from memcli.app.workspace import Workspace, opened
from memcli.embed.hashed import HashedEmbedder
from memcli.extras.upkeep.maintain import clusters
from memcli.index.meaning import mean_directions
from memcli.model.memory import Memory
from memcli.model.space import Policy
from memcli.record import as_dict, replace
from memcli.text.passages import embedded_texts, passages
from tests.conftest import NOW, memory, open_at, rewrite
from tests.index.kinds import on_both

TOPICS = {
    "auth": "auth tokens expire signed key rotate",
    "cache": "redis cache flush sessions memory limit",
    "deploy": "kubernetes deploy rollout cluster node image",
}


def of_topics(each: int = 6) -> list[Memory]:
    """Memories of three topics that share no word, each without one of its words and with one of its own."""
    found = []
    for topic, words in TOPICS.items():
        for n in range(each):
            kept = [word for at, word in enumerate(words.split()) if at != n]
            found.append(memory(f"{topic}{n}", raw=" ".join([*kept, f"{topic}word{n}"])))
    return found


def filled(workspace: Workspace, memories: list[Memory]) -> Workspace:
    rewrite(workspace.store, lambda space: space.put(memories, NOW))
    return workspace


@on_both
def test_topics_are_clusters_with_names(workspace: Workspace) -> None:
    memories = [*of_topics(), memory("alone", raw="Lunch is at noon on Fridays in the canteen.")]
    found = clusters(filled(workspace, memories)).found
    assert sorted(sorted(one.ids) for one in found) == [[f"mem_{t}{n}" for n in range(6)] for t in TOPICS]
    assert len({one.id for one in found}) == len({one.name for one in found}) == 3
    by_member = {one.ids[0][4:-1]: one.name for one in found}
    assert set(by_member["auth"].split()) <= set(TOPICS["auth"].split())
    assert all(0 <= strength <= 1 for one in found for strength in one.strengths)
    assert all(list(one.strengths) == sorted(one.strengths, reverse=True) for one in found)


def test_they_are_the_same_whatever_was_written_first(workspace: Workspace, tmp_path: Path) -> None:
    expected = clusters(filled(workspace, of_topics()))
    other = open_at(tmp_path / "other")
    for one in reversed(of_topics()):
        filled(other, [one])
        clusters(other)  # so that rows are made in this order
    assert clusters(other) == expected


def test_they_come_back_the_same_without_the_cache(workspace: Workspace, tmp_path: Path) -> None:
    expected = clusters(filled(workspace, of_topics()))
    shutil.rmtree(Path(workspace.root) / "cache")
    assert clusters(open_at(tmp_path)) == expected


@on_both
def test_they_are_found_once_for_a_state_of_the_space(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = clusters(filled(workspace, of_topics()))
    monkeypatch.setattr("memcli.graph.hdbscan.hdbscan", pytest.fail)
    assert clusters(workspace) == expected
    assert clusters(workspace, only_known=True) == expected


@on_both
def test_a_space_without_clusters_is_looked_at_once_too(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert clusters(filled(workspace, [memory("a")])).found == ()
    monkeypatch.setattr("memcli.graph.hdbscan.hdbscan", pytest.fail)
    assert clusters(workspace).reason == ""


@on_both
def test_another_memory_leaves_the_other_clusters_as_they_are(workspace: Workspace) -> None:
    before = {one.name: one.id for one in clusters(filled(workspace, of_topics())).found}
    filled(workspace, [memory("auth9", raw="auth tokens expire signed key rotate nightly")])
    after = clusters(workspace).found
    assert {one.name for one in after} == before.keys()
    assert sum(before[one.name] == one.id for one in after) >= 2
    assert sorted(len(one.ids) for one in after) == [6, 6, 7]


@on_both
def test_only_what_is_known(workspace: Workspace) -> None:
    filled(workspace, of_topics())
    assert clusters(workspace, only_known=True).reason == "none were looked for"
    clusters(workspace)
    filled(workspace, [memory("new")])
    assert clusters(workspace, only_known=True).found == ()


@on_both
def test_what_is_forgotten_or_superseded_is_in_none(workspace: Workspace) -> None:
    memories = of_topics()
    gone = {"mem_auth0": {"active": False}, "mem_cache0": {"superseded_by": "mem_cache1"}}
    memories = [Memory(**{**as_dict(one), **gone.get(one.id, {})}) for one in memories]
    found = {name for one in clusters(filled(workspace, memories)).found for name in one.ids}
    assert found == {one.id for one in memories} - gone.keys()


def test_a_purged_memory_leaves_nothing_in_them(workspace: Workspace) -> None:
    rewrite(workspace.store, lambda space: replace(space, policy=Policy(allow_delete=True)))
    clusters(filled(workspace, of_topics()))
    index = Path(workspace.root) / "cache" / "main.index"
    assert b'"mem_auth0"' in index.read_bytes()
    purge(workspace, ["mem_auth0"], now=True)
    assert len(clusters(workspace).found) == 3
    holders = [file.name for file in index.parent.iterdir() if file.is_file() and b'"mem_auth0"' in file.read_bytes()]
    assert holders == []


def test_without_an_embedder_there_are_none(tmp_path: Path) -> None:
    workspace = filled(open_at(tmp_path, MEMCLI_EMBEDDER="off"), of_topics())
    assert (clusters(workspace).found, clusters(workspace).reason) == ((), "there is no embedder")


@on_both
def test_too_many_memories(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.index.view.MOST_CLUSTERED", 10)
    reason = clusters(filled(workspace, of_topics())).reason
    assert reason == "clusters are found among at most 10 memories, not 18"


@on_both
def test_vectors_that_are_missing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.index.meaning._AT_ONCE", 3)
    filled(workspace, of_topics())
    assert "index embed" in clusters(workspace).reason
    embed_spaces(workspace)
    assert len(clusters(workspace).found) == 3  # what could not be told was not kept


@on_both
def test_an_empty_space(workspace: Workspace) -> None:
    assert clusters(workspace) == clusters(workspace, "nowhere")
    assert clusters(workspace).found == ()


@pytest.mark.parametrize("at_once", [1, 2, 3, 8192])
def test_the_mean_of_passages_is_a_direction(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy

    monkeypatch.setattr("memcli.index.meaning._MEANS_AT_ONCE", at_once)
    vectors = numpy.array([[2, 0], [0, 9], [0, 0], [-5, 0], [3, 4]], numpy.int8)
    means = mean_directions(numpy.array([0, 2, 3, 4]), 5, vectors.__getitem__)
    assert means.tolist() == [[1414, 1414], [0, 0], [-2000, 0], [1200, 1600]]


def test_the_vector_of_a_memory_is_that_of_all_its_passages(workspace: Workspace) -> None:
    """A long text is cut into passages, whose vectors are in the file in the order in which they were made."""
    parts = [f"## Part {n}\n\n" + f"Words of part {n} go on and on. " * 40 for n in range(6)]
    memories = [memory("short", raw="Lunch."), memory("long", raw="\n\n".join(parts)), memory("other", raw="Tea.")]
    with opened(filled(workspace, memories)) as (_, view):
        rows = {row: entry.id for row, entry in view.entries().items()}
        found, means = view._meaning().means(rows)  # type: ignore[attr-defined]
    by_id = {rows[row]: mean for row, mean in zip(found.tolist(), means, strict=True)}
    assert [round(float((mean * mean).sum()) ** 0.5) for mean in by_id.values()] == [2000] * 3
    embedder = HashedEmbedder()
    (lunch,) = embedder.embed(embedded_texts(memories[0], passages(memories[0])))
    assert cosine(by_id["mem_short"], lunch) == pytest.approx(1, abs=1e-4)
    pieces = embedder.embed(embedded_texts(memories[1], passages(memories[1])))
    assert len(pieces) > 1
    assert all(cosine(by_id["mem_long"], piece) > 0.5 for piece in pieces)


def cosine(one: Any, other: bytes) -> float:
    import numpy

    values = numpy.frombuffer(other, numpy.int8).astype(float)
    return float(one @ values / numpy.linalg.norm(one) / numpy.linalg.norm(values))


def test_the_index_tells_how_many_are_known(workspace: Workspace) -> None:
    filled(workspace, of_topics())
    assert index_status(workspace)["clusters"] == 0
    clusters(workspace)
    assert index_status(workspace)["clusters"] == 3
