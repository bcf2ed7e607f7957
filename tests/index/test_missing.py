"""Passages that have no vector yet: which get one first, and what an answer says of the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memcli.app.recall import recall
from memcli.app.workspace import Workspace, opened
from memcli.model.memory import Memory
from memcli.model.recall import Bundle, Query
from tests.conftest import NOW, memory, rewrite
from tests.index.kinds import on_both

pytestmark = on_both


def change(name: str, day: int) -> Memory:
    return memory(
        name,
        kind="diff",
        raw=f"Feed the {name}\n\nIt was hungry.\n\nzoo/{name}.py\n@@\n+feed({name})",
        path=f"code/{name}",
        created_at=f"2026-01-{day:02}T00:00:00Z",
        metadata={"group": name, "source": f"zoo/{name}.py", "subject": f"Feed the {name}"},
        provenance={"source": "observed", "commit": name},
    )


DOCUMENT = memory("guide", raw="Lions sleep at noon.", metadata={"source": "zoo.md"}, provenance={"source": "observed"})
TOLD = memory("told", raw="We chose straw.", created_at="2020-01-01T00:00:00Z")
ANIMALS = [memory(f"m{n}", raw=f"The {name} is grey.") for n, name in enumerate("gnu kudu emu okapi tapir".split())]


def put(workspace: Workspace, *memories: Memory) -> None:
    rewrite(workspace.store, lambda space: space.put(memories, NOW))


def with_vectors(workspace: Workspace) -> set[str]:
    """The memories that have a vector."""
    with opened(workspace) as (_, view):
        (near,) = view.dense(["xylophone"], patience=0.0) or []
        entries = view.entries()
        return {entries[row].id.removeprefix("mem_") for row in near.rows.tolist()}


def ask(workspace: Workspace, topic: str, patience: float) -> Bundle:
    return next(iter(recall(workspace, [Query(topic=topic, now=NOW, patience=patience)])))


@pytest.fixture
def _one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        for name in ("_EMBED_BATCH", "_QUESTION_BATCH"):
            patch.setattr(f"memcli.index.meaning.{name}", 1)
        yield


@pytest.mark.usefixtures("_one_at_a_time")
def test_what_was_written_down_comes_before_documents_and_these_before_history(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(workspace, change("old", 1), change("new", 2), DOCUMENT, TOLD)
    monkeypatch.setattr("memcli.index.meaning._AT_ONCE", 0)
    found = []
    for _ in range(6):
        with opened(workspace) as (_, view):
            view.embed(lambda: False)
        known = with_vectors(workspace)
        with opened(workspace) as (_, view):
            found.append((sorted(known), view.status()["vectors"]))
    # After the messages of both commits, the hunk of the newer one has one too, and then that of the older one.
    assert found == [
        (["told"], 1),
        (["guide", "told"], 2),
        (["guide", "new", "told"], 3),
        (["guide", "new", "old", "told"], 4),
        (["guide", "new", "old", "told"], 5),
        (["guide", "new", "old", "told"], 6),
    ]


@pytest.mark.usefixtures("_one_at_a_time")
def test_a_question_without_time_has_the_best_by_words_embedded(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(workspace, *ANIMALS)
    assert ask(workspace, "okapi", 0.0).missing == 4
    monkeypatch.setattr("memcli.index.meaning._AT_ONCE", 0)
    assert with_vectors(workspace) == {"m3"}


@pytest.mark.usefixtures("_one_at_a_time")
def test_an_answer_is_degraded_while_a_candidate_has_no_vector(workspace: Workspace) -> None:
    put(workspace, *ANIMALS)
    states = [ask(workspace, "the grey gnu and the grey kudu", 0.0) for _ in range(5)]
    assert [bundle.degraded for bundle in states] == [True, True, True, True, False]
    put(workspace, DOCUMENT)
    assert not ask(workspace, "the grey gnu", 0.0).degraded


def test_with_time_all_are_embedded(workspace: Workspace) -> None:
    put(workspace, *ANIMALS, DOCUMENT)
    bundle = ask(workspace, "okapi", 60.0)
    assert (bundle.degraded, bundle.missing) == (False, 0)


def test_of_many_only_candidates_are_embedded(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.index.meaning._AT_ONCE", 2)
    put(workspace, *ANIMALS)
    bundle = ask(workspace, "okapi", 60.0)
    assert (bundle.degraded, bundle.missing) == (False, 4)
    assert ask(workspace, "xylophone", 60.0).missing == 4
