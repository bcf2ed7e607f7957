"""What is named to be changed is found as recall shows it, in the project, its journal or the user-wide store."""

from __future__ import annotations

import pytest

from memcli.app.edit import edit, forget, pin, tag
from memcli.app.homes import by_home, home_of_link
from memcli.app.purge import purge
from memcli.app.workspace import Workspace
from memcli.errors import UsageError
from memcli.extras.links.linking import link, unlink
from memcli.extras.restore.restoring import by_trash, restore, restore_run, trashes
from tests.app.conftest import Project

HERE, THERE = "tools/uv", "style/tabs"


@pytest.fixture
def wide(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The user-wide store: with two memories, and one of a path that the project has too."""
    monkeypatch.setenv("MEMCLI_GLOBAL", str(project.folder / "global"))
    wide = Project(project.folder / "global")
    project.add("We use uv, not pip.", HERE)
    project.add("We indent by four.", "style/both")
    for text, path in (
        ("Ann prefers tabs.", THERE),
        ("A dark theme.", "style/theme"),
        ("Ann indents by two.", "style/both"),
    ):
        wide.add(text, path)
    return wide


def home(project: Project, ref: str) -> Workspace:
    ((found, refs),) = by_home(project.over(), [ref])[0]
    assert refs == [ref]
    return found


@pytest.mark.parametrize("by", ["id", "path"])
def test_a_user_wide_memory_is_changed_where_it_is(project: Project, wide: Project, by: str) -> None:
    ref = wide.get(THERE).id if by == "id" else THERE
    edit(home(project, ref), ref, {"raw": "Ann prefers spaces."})
    assert "in the user-wide store: the change is made there" in project.notes[-1]
    pin(home(project, ref), [ref], True)
    tag(home(project, ref), [ref], ["make"], [])
    link(home_of_link(project.over(), ref, "style/theme"), ref, "style/theme", "relates_to")
    unlink(home_of_link(project.over(), "style/theme", ref), "style/theme", ref)
    forget(home(project, ref), [ref])
    one = wide.stored()[THERE]
    assert (one.raw, one.pinned, one.active, "make" in one.tags) == ("Ann prefers spaces.", True, False, True)
    assert sorted(project.stored()) == ["style/both", HERE]
    purge(home(project, ref), [ref])
    for found, own in by_trash(project.over(), [ref])[0]:
        restore(found, own)
    assert (wide.stored()[THERE], wide.damage(), project.damage()) == (one, [], [])


def test_the_trash_of_the_user_wide_store_is_listed(project: Project, wide: Project) -> None:
    for ref in (THERE, HERE):
        purge(home(project, ref), [ref])
    runs = {run.space.objects[0].path: run for over in trashes(project.over()) for run in over.trash.runs()}
    assert sorted(runs) == [THERE, HERE]
    assert [run.space.objects[0].path for over in trashes(project.over("main")) for run in over.trash.runs()] == [HERE]
    restore_run(project.over(), runs[THERE].name)
    assert ("user-wide store" in project.notes[-1], wide.stored()[THERE].raw) == (True, "Ann prefers tabs.")


@pytest.mark.usefixtures("wide")
def test_a_path_that_both_stores_have_is_that_of_the_project(project: Project) -> None:
    assert home(project, "style/both").root == str(project.root)
    edit(home(project, "style/both"), "style/both", {"raw": "We indent by eight."})
    for found, own in by_home(project.over(), ["style"], recursive=True)[0]:
        assert [memory.path for memory in forget(found, own, True)] == ["style/both"]
    texts = [section.memory.raw for section in project.recall("how does Ann indent?").sections]
    assert ("Ann indents by two." in texts, "We indent by eight." in texts) == (True, False)
    for ends in ((HERE, THERE), (THERE, HERE)):  # a link does not lead from one store to another
        with pytest.raises(UsageError):
            home_of_link(project.over(), *ends)


def test_what_sessions_yielded_is_changed_in_the_journal(project: Project) -> None:
    project.add("The build takes ten minutes.", "ci/build", space="journal")
    project.edit("ci/build", raw="The build takes two minutes.")
    assert project.stored("journal")["ci/build"].raw == "The build takes two minutes."
    project.forget("ci/build")
    assert project.listed() == []
