"""Passages that have no vector yet: which get one first, and what an answer says of the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memcli.app.workspace import Workspace, opened
from memcli.model.memory import Memory
from tests.conftest import memory
from tests.index.kinds import asked, change, on_both, put

pytestmark = on_both


def fed(name: str, day: int) -> Memory:
    text = f"Feed the {name}\n\nIt was hungry.\n\nzoo/{name}.py\n@@\n+feed({name})"
    return change(name, f"zoo/{name}.py", text, name, created_at=f"2026-01-{day:02}T00:00:00Z")


DOCUMENT = memory("guide", raw="Lions sleep at noon.", metadata={"source": "zoo.md"}, provenance={"source": "observed"})
TOLD = memory("told", raw="We chose straw.", created_at="2020-01-01T00:00:00Z")
ANIMALS = [memory(f"m{n}", raw=f"The {name} is grey.") for n, name in enumerate("gnu kudu emu okapi tapir".split())]


def with_vectors(workspace: Workspace) -> set[str]:
    """The memories that have a vector."""
    with opened(workspace) as (_, view):
        (near,) = view.dense(["xylophone"], patience=0.0) or []
        entries = view.entries()
        return {entries[row].id.removeprefix("mem_") for row in near.rows.tolist()}


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
    put(workspace, fed("old", 1), fed("new", 2), DOCUMENT, TOLD)
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
        (["told"], 1), (["guide", "told"], 2), (["guide", "new", "told"], 3), (["guide", "new", "old", "told"], 4),
        (["guide", "new", "old", "told"], 5), (["guide", "new", "old", "told"], 6),
    ]  # fmt: skip


@pytest.mark.usefixtures("_one_at_a_time")
def test_a_question_without_time_has_the_best_by_words_embedded(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(workspace, *ANIMALS)
    assert asked(workspace, "okapi", patience=0.0).missing == 4
    monkeypatch.setattr("memcli.index.meaning._AT_ONCE", 0)
    assert with_vectors(workspace) == {"m3"}


@pytest.mark.usefixtures("_one_at_a_time")
def test_an_answer_is_degraded_while_a_candidate_has_no_vector(workspace: Workspace) -> None:
    put(workspace, *ANIMALS)
    states = [asked(workspace, "the grey gnu and the grey kudu", patience=0.0) for _ in range(5)]
    assert [bundle.degraded for bundle in states] == [True, True, True, True, False]
    put(workspace, DOCUMENT)
    assert not asked(workspace, "the grey gnu", patience=0.0).degraded


def test_with_time_all_are_embedded(workspace: Workspace) -> None:
    put(workspace, *ANIMALS, DOCUMENT)
    bundle = asked(workspace, "okapi", patience=60.0)
    assert (bundle.degraded, bundle.missing) == (False, 0)


def test_of_many_only_candidates_are_embedded(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.index.meaning._AT_ONCE", 2)
    put(workspace, *ANIMALS)
    bundle = asked(workspace, "okapi", patience=60.0)
    assert (bundle.degraded, bundle.missing) == (False, 4)
    assert asked(workspace, "xylophone", patience=60.0).missing == 4
