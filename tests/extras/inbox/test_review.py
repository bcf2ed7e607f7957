"""The inbox: what waits for review, what is accepted, edited, rejected, or purged from it."""

from __future__ import annotations

import pytest

from memcli.app import inbox
from memcli.app.export import export_space
from memcli.app.ingest import ingest
from memcli.app.purge import erase_proposed
from memcli.errors import ConflictError, UsageError
from memcli.extras.inbox import review
from memcli.extras.transfer.bundles import import_bundle
from memcli.record import replace
from tests.app.conftest import Given, Project

GIVEN = {"kind": "decision", "tags": ["money"], "pinned": True}


def raws(project: Project) -> dict[str, str]:
    return {path: memory.raw for path, memory in project.stored().items()}


def found(project: Project) -> dict[str, str]:
    """The ids of what waits, by text."""
    return {memory.raw: memory.id for memory in inbox.waiting(project.over())}


def test_accepting_is_as_remembering(project: Project) -> None:
    project.add("Money is integer cents.", "shop/money", space="direct", **GIVEN)
    project.propose("Money is integer cents.", "shop/money", space="later", **GIVEN)
    assert (project.stored("later"), project.recalled("money", space="later")) == ({}, [])
    project.accept(space="later")

    stored = (project.stored(space)["shop/money"] for space in ("direct", "later"))
    first, second = (replace(one, id="x", metadata={**one.metadata, "space": ""}) for one in stored)
    assert first == second


def test_with_a_review_ingest_and_import_wait_too(project: Project) -> None:
    project.policy(review=True)
    given = Given([{"path": "notes", "raw": "The cache is Redis.", "metadata": {"source": "notes.md"}}])
    assert [ingest(project.over("main"), given).to_json().get("proposed") for _ in range(2)] == [1, None]
    project.add("Elsewhere.", "x/y", space="other")
    export = export_space(project.over(), "other")
    assert import_bundle(project.over(), export, "x", into="main").to_json()["proposed"] == 1
    project.accept()
    assert sorted(project.listed()) == ["notes", "x/y"]
    assert ingest(project.over("main"), given).deduplicated == 1


def test_what_is_rejected_does_not_come_again(project: Project) -> None:
    project.propose("A poor idea.", "ideas/poor")
    project.reject("ideas/poor")
    assert (project.propose("A poor idea.", "ideas/poor").status, project.waiting()) == ("deduplicated", [])
    assert project.holding(b"poor idea") == []
    assert (project.propose("A better idea.", "ideas/poor").status, project.waiting()) == ("proposed", ["ideas/poor"])
    project.propose("The best idea.", "ideas/poor")
    project.reject(found(project)["The best idea."])
    assert (project.propose("The best idea.", "ideas/poor").status, project.waiting()) == (
        "deduplicated",
        ["ideas/poor"],
    )
    project.reject("ideas/poor")
    assert [project.propose(f"{which} idea.", "ideas/poor").status for which in ("A third", "A better")] == [
        "proposed", "deduplicated",
    ]  # fmt: skip


@pytest.mark.parametrize("is_rejected", [False, True])
def test_a_purge_leaves_nothing_of_a_proposal(project: Project, is_rejected: bool) -> None:
    told = project.propose("Zebras drink absinthe.")
    project.propose("We chose PostgreSQL.", "db/choice")
    if is_rejected:
        project.reject(told.id)
    assert [memory.path for memory in erase_proposed(project.over(), [told.id])] == [told.path]
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    assert not [path for path in files for word in (b"zebra", b"absinthe") if word in path.read_bytes().lower()]
    assert (project.waiting(), erase_proposed(project.over(), [told.id])) == (["db/choice"], [])


def test_a_proposal_is_edited_before_it_is_accepted_and_may_update_and_supersede(project: Project) -> None:
    project.propose("A draft.", "notes/draft")
    review.edit(project.over(), "notes/draft", {"kind": "decision", "raw": "The final text."})
    project.accept("notes/draft")
    memory = project.stored()["notes/draft"]
    assert (memory.kind, memory.raw, memory.extra) == ("decision", "The final text.", {})
    project.add("Sessions live in Redis.", "auth/sessions")
    project.propose("Sessions live in cookies.", "auth/sessions")
    project.propose("Tokens.", "auth/tokens", supersedes="auth/sessions")
    project.accept()
    memory = project.stored()["auth/sessions"]
    assert (memory.raw, memory.superseded_by) == ("Sessions live in cookies.", project.stored()["auth/tokens"].id)


def test_a_proposal_overwrites_nothing_but_the_memory_that_it_was_made_for(project: Project) -> None:
    project.propose("Proposed text.", "z/z")
    project.add("What a person said.", "z/z")
    with pytest.raises(ConflictError, match="has changed since"):
        project.accept()
    assert raws(project) == {"z/z": "What a person said."}
    project.reject("z/z")
    project.add("Restart the ferry.", "ops/ferry")
    project.propose("Drain first.", "ops/ferry")
    project.accept()
    assert raws(project)["ops/ferry"] == "Drain first."
    project.propose("Drain twice.", "ops/ferry")
    project.edit("ops/ferry", path="ops/old")
    project.add("The timetable.", "ops/ferry")
    with pytest.raises(ConflictError):
        project.accept()


def test_two_proposals_at_one_path_are_both_kept(project: Project) -> None:
    for text in ("The first text.", "The second text.", "The second text."):
        project.propose(text, "z/z")
    ids = found(project)
    assert (sorted(ids), project.waiting()) == (["The first text.", "The second text."], ["z/z", "z/z"])
    with pytest.raises(UsageError) as several:
        project.accept("z/z")
    assert all(name in f"{several.value.message} {several.value.hint}" for name in ids.values())
    with pytest.raises(ConflictError, match="are both proposed for 'z/z'; nothing was accepted"):
        project.accept()
    project.accept(ids["The first text."])
    with pytest.raises(ConflictError, match="the memory at 'z/z' has changed since"):
        project.accept(ids["The second text."])
    review.edit(project.over(), ids["The second text."], {"path": "z/y"})
    project.accept()
    assert raws(project) == {"z/z": "The first text.", "z/y": "The second text."}
