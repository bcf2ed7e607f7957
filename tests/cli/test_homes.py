"""What is named to be changed is found as recall shows it; and what is nowhere hides nothing of what is somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli import Memory
from memcli.errors import NotFoundError
from tests.conftest import Run

HERE, THERE = "tools/uv", "style/tabs"


@pytest.fixture
def both(run: Run) -> str:
    """A memory in the project, two in the user-wide store and one of the same path in both; the id of one there."""
    run("init")
    run("remember", "We use uv, not pip.", "--path", HERE)
    run("remember", "We indent by four.", "--path", "style/both")
    name = run("remember", "Ann prefers tabs.", "--path", THERE, "--scope", "global").out.split()[1]
    run("remember", "Ann prefers a dark theme.", "--path", "style/theme", "--scope", "global")
    run("remember", "Ann indents by two.", "--path", "style/both", "--scope", "global", "--no-check")
    return name


def field(run: Run, ref: str, name: str) -> object:
    return run("get", ref, "--json").json.get(name)


@pytest.mark.parametrize("by", ["id", "path"])
def test_a_user_wide_memory_is_changed_where_it_is(run: Run, both: str, by: str) -> None:
    ref = both if by == "id" else THERE
    for command in (
        ["edit", ref, "--text", "Ann prefers spaces."], ["pin", ref], ["edit", ref, "--tag", "make"],
        ["link", ref, "style/theme"], ["link", "style/theme", ref, "--remove"], ["forget", ref],
    ):  # fmt: skip
        done = run(*command)
        assert done.code == 0, done
        assert "in the user-wide store: the change is made there" in done.err
    assert field(run, ref, "raw") == "Ann prefers spaces."
    assert (field(run, ref, "pinned"), field(run, ref, "active")) == (True, False)
    assert "make" in str(field(run, ref, "tags"))
    assert [one["path"] for one in run("list", "--all", "--json").json] == ["style/both", HERE]
    assert run("forget", ref, "--purge", "--yes").out == f"purged {both} {THERE}\n"
    assert run("get", ref).code == 3
    restored = run("restore", ref)
    assert (restored.code, "user-wide store" in restored.err) == (0, True)
    assert field(run, ref, "raw") == "Ann prefers spaces."
    assert run("check", "store").code == 0


def test_the_trash_of_the_user_wide_store_is_listed(run: Run, both: str) -> None:
    run("forget", both, HERE, "--purge", "--yes")
    found = {one["memories"][0]["path"]: one for one in run("restore", "--list", "--json").json}
    assert {path: one.get("store") for path, one in found.items()} == {HERE: None, THERE: "global"}
    listed = run("restore", "--list").out
    assert "main (user-wide)" in listed
    assert THERE not in run("restore", "--list", "-s", "main").out
    done = run("restore", "--run", found[THERE]["run"])
    assert (done.code, "user-wide store" in done.err) == (0, True)
    assert field(run, both, "raw") == "Ann prefers tabs."


@pytest.mark.usefixtures("both")
def test_a_path_that_both_stores_have_is_that_of_the_project(run: Run) -> None:
    done = run("edit", "style/both", "--text", "We indent by eight.")
    assert (done.code, done.err) == (0, "")
    assert run("forget", "style", "--recursive").out.count("forgotten") == 1
    elsewhere = run("recall", "how does Ann indent?").out
    assert "Ann indents by two." in elsewhere
    assert "eight" not in elsewhere


@pytest.mark.usefixtures("both")
def test_a_link_does_not_lead_from_one_store_to_another(run: Run) -> None:
    for ends in ((HERE, THERE), (THERE, HERE)):
        done = run("link", *ends)
        assert (done.code, "link memories of the same store" in done.err) == (2, True)


def test_what_sessions_yielded_is_changed_in_the_journal(run: Run) -> None:
    run("init")
    run("remember", "The build takes ten minutes.", "--path", "ci/build", "-s", "journal")
    assert run("edit", "ci/build", "--text", "The build takes two minutes.").code == 0
    assert "two minutes" in run("get", "ci/build", "-s", "journal").out
    assert run("forget", "ci/build").code == 0
    assert run("list").out == ""


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    "command",
    [
        ["get"], ["pin"], ["pin", "--remove"], ["forget"], ["forget", "--recursive"], ["forget", "--purge", "--yes"],
        ["edit", "--tag", "x"], ["feedback", "--helpful"],
    ],
)  # fmt: skip
def test_a_bad_ref_does_not_hide_the_good_ones(run: Run, command: list[str]) -> None:
    done = run(*command, "no/where", HERE, "nor/here", THERE)
    assert done.code == 3
    assert HERE in done.out
    assert THERE in done.out
    assert done.err.splitlines()[-1].startswith("memcli: no memory 'no/where' in space 'main'; no memory 'nor/here' in")
    alone = run(*command, "no/where", "nor/here")
    assert (alone.code, alone.out) == (3, "")


def test_a_program_gets_the_error_with_what_was_found(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.init()
        memory.remember("We use uv, not pip.", path=HERE)
        with pytest.raises(NotFoundError, match="no memory 'no/where'") as raised:
            memory.get("no/where", HERE)
    assert [one["path"] for one in raised.value.value] == [HERE]  # type: ignore[attr-defined]
