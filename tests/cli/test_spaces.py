"""The space for what was told and the one for what was read: who writes and reads which, and what goes from one to the
other."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli import Memory
from memcli.errors import NotFoundError
from memcli.model.space import Policy
from memcli.record import as_dict
from tests.cli.conftest import commit, git, wrong
from tests.conftest import Run

GUIDE = "# Guide\n\nRun the rollback script on the staging host after a bad deploy.\n"
SECRET_TEXT = "The old gateway answers to blue-heron and must stay up."


@pytest.fixture
def repository(tmp_path: Path, run: Run) -> Path:
    """A work tree with one file, of which one memory was told, and one read."""
    (tmp_path / ".git").rmdir()
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "guide.md").write_text(GUIDE)
    assert run("remember", "We chose PostgreSQL.", "--path", "db/choice").code == 0
    assert run("ingest", "guide.md").code == 0
    return tmp_path


def objects(folder: Path, space: str) -> dict[str, dict[str, Any]]:
    """The stored memories of a space by path."""
    file = folder / ".memory" / "spaces" / f"{space}.json"
    return {o["path"]: o for o in json.loads(file.read_text())["objects"]} if file.exists() else {}


def listed(run: Run, *options: str) -> dict[str, str]:
    """The spaces of the listed memories by path: of those of `repo`, too, where it is not named."""
    also = [] if "-s" in options or "--space" in options else run("list", "--json", "-s", "repo", *options).json
    return {m["path"]: m.get("space", "main") for m in [*run("list", "--json", *options).json, *also]}


def test_what_is_read_goes_to_repo_and_what_is_told_to_main(run: Run, repository: Path) -> None:
    assert set(objects(repository, "main")) == {"db/choice"}
    assert set(objects(repository, "repo")) == {"guide.md"}
    file = json.loads((repository / ".memory" / "spaces" / "repo.json").read_text())
    assert file["policy"] == {"visibility": "derived"}
    assert "spaces/repo.json" in (repository / ".memory" / ".gitignore").read_text().splitlines()


def test_a_named_space_takes_what_is_read(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "other.md").write_text("# Other\n\nAnother text, which is long enough to be kept.\n")
    assert run("ingest", "other.md", "-s", "main").code == 0
    assert set(objects(repository, "main")) == {"db/choice", "other.md"}
    monkeypatch.setenv("MEMCLI_SPACE", "team")
    assert run("ingest", "other.md").code == 0
    assert set(objects(repository, "team")) == {"other.md"}


def test_a_space_of_the_configuration_stands_for_main(run: Run, repository: Path) -> None:
    (repository / ".memory" / "config.toml").write_text('space = "team"\n')
    assert run("remember", "We use trunk-based development.", "--path", "git/flow").code == 0
    assert set(objects(repository, "team")) == {"git/flow"}
    assert set(listed(run)) == {"git/flow", "guide.md"}
    (repository / ".memory" / "config.toml").write_text('space = "repo"\n')
    assert "ignored" in run("list").err
    assert set(listed(run)) == {"db/choice", "guide.md"}


@pytest.mark.parametrize("space", ["main", "repo"])
def test_readers_ask_both_or_the_named_one(run: Run, repository: Path, space: str) -> None:
    path = {"main": "db/choice", "repo": "guide.md"}[space]
    assert listed(run) == {"db/choice": "main", "guide.md": "repo"}
    assert list(listed(run, "-s", space)) == [path]
    assert run("status", "--stats", "--json").json["spaces"] == {"main": 1, "repo": 1}
    for question, of, here in (("PostgreSQL", "main", "db/choice"), ("rollback script", "repo", "guide.md")):
        assert here in run("recall", question, "--json").out
        assert (here in run("recall", question, "--json", "-s", space).out) == (of == space)
    assert run("get", path, "--json").json["metadata"]["space"] == space


def test_main_wins_where_both_have_a_path(run: Run, repository: Path) -> None:
    assert run("remember", "Ask Ann before a rollback.", "--path", "guide.md").code == 0
    assert run("get", "guide.md", "--json").json["raw"] == "Ask Ann before a rollback."
    assert "rollback script" in run("get", "guide.md", "--json", "-s", "repo").json["raw"]
    assert run("edit", "guide.md", "--text", "Ask Bob before a rollback.").code == 0
    assert objects(repository, "main")["guide.md"]["raw"] == "Ask Bob before a rollback."
    assert "Ask Ann" not in run("list", "--tree").out
    assert "Ask Bob" in run("list", "--tree").out


@pytest.mark.parametrize(
    "act",
    [
        ("pin", "guide.md"), ("edit", "guide.md", "--tag", "ops"),
        ("edit", "guide.md", "--text", "Roll back with the script, and tell Ann."), ("forget", "guide.md"),
        ("edit", "db/choice", "--set", 'links=[{"to": "guide.md", "relation": "relates_to"}]'),
        ("remember", "The script needs the VPN.", "--path", "ops/vpn", "--link", "depends_on:guide.md"),
        ("remember", "Roll back by hand.", "--supersedes", "guide.md"),
    ],
)  # fmt: skip
def test_what_is_done_to_a_read_memory_is_done_to_a_copy(run: Run, repository: Path, act: tuple[str, ...]) -> None:
    before = objects(repository, "repo")["guide.md"]
    done = run(*act)
    assert done.code == 0
    assert "copied guide.md into space 'main'" in done.err
    copy = next(o for o in objects(repository, "main").values() if o["metadata"].get("copied_hash"))
    assert copy["metadata"]["copied_hash"] == before["metadata"]["hash"]
    assert "space" not in copy["metadata"]  # but that of the file
    assert objects(repository, "repo")["guide.md"]["superseded_by"] == copy["id"]
    assert "repo" not in listed(run).values()  # shown once, or not at all
    assert run("check", "store").code == 0
    links = {link["to"] for o in objects(repository, "main").values() for link in o.get("links", ())}
    assert links <= {o["id"] for o in objects(repository, "main").values()}
    (repository / ".memory" / "spaces" / "repo.json").unlink()  # a clone
    assert run("check", "store").code == 0
    assert run("ingest", "guide.md").code == 0
    assert "repo" not in listed(run).values()
    # The source says something else: that is shown beside the copy.
    (repository / "guide.md").write_text(GUIDE.replace("staging", "production"))
    assert run("ingest", "guide.md").code == 0
    assert "repo" in listed(run).values()


def test_a_named_tracked_space_is_not_left_and_an_id_leads_to_the_copy(run: Run, repository: Path) -> None:
    assert run("pin", "guide.md", "-s", "main").code == 3
    assert run("pin", "guide.md", "-s", "repo").code == 0
    assert objects(repository, "main")["guide.md"]["pinned"]
    nowhere = run("pin", "nowhere")
    assert nowhere.code == 3
    assert "'main' and 'repo'" in nowhere.err
    assert run("remember", "Told.", "-s", "repo").code == 5
    name = objects(repository, "repo")["guide.md"]["id"]
    run("pin", name)
    done = run("edit", name, "--tag", "ops")
    assert (done.code, done.err) == (0, "")
    assert [o["tags"] for o in objects(repository, "main").values() if o.get("pinned")] == [["guide", "ops"]]
    assert len(objects(repository, "main")) == 2


def test_the_policy_of_main_holds(run: Run, repository: Path) -> None:
    pattern = {"patterns": [{"name": "host", "regex": "staging"}]}
    run("space", "policy", "main", "--set", f"pii_redaction={json.dumps(pattern)}", "--set", "review=true")
    assert "staging" not in run("get", "guide.md").out
    (repository / "other.md").write_text("# Other\n\nThe staging host has four cores and runs the tests.\n")
    done = run("ingest", "other.md")
    assert "1 created" in done.out
    assert "staging" not in (repository / ".memory" / "spaces" / "repo.json").read_text().partition("other.md")[2]
    assert run("inbox", "--json").out.strip() == "[]"


def test_the_whole_policy_of_a_derived_space() -> None:
    main = Policy(grace_days=3, review=True, max_objects=7, visibility="private")
    own = Policy(visibility="derived", max_objects=9)
    assert as_dict(own.derived_from(main)) == as_dict(Policy(grace_days=3, max_objects=9, visibility="derived"))


def test_what_is_erased_is_erased_in_the_derived_space_too(run: Run, repository: Path) -> None:
    commit(repository, "gateway.md", f"# Gateway\n\n{SECRET_TEXT}\n", "Describe the gateway")
    run("remember", SECRET_TEXT, "--path", "ops/gateway")
    run("ingest", "gateway.md")
    run("ingest", "--git", "HEAD^!")
    run("recall", "gateway")
    done = run("forget", "ops/gateway", "--purge", "--now", "--yes", "--json")
    assert done.code == 0
    left = [p for p in (repository / ".memory").rglob("*") if p.is_file() and b"blue-heron" in p.read_bytes()]
    assert left == []
    quotes = done.json["quoted_in"]
    assert any("gateway.md" in quote for quote in quotes)
    assert any("commit" in quote for quote in quotes)


def test_a_purge_of_a_copy_takes_the_read_one_along(run: Run, repository: Path) -> None:
    run("pin", "guide.md")
    assert run("forget", "guide.md", "--purge", "--yes").code == 0
    assert "guide.md" not in listed(run, "--all")
    assert run("ingest", "guide.md").code == 0
    assert run("forget", "guide.md", "--purge", "--yes").code == 0
    assert objects(repository, "repo") == {}


def test_readers_of_tracked_spaces_leave_it_out(run: Run, repository: Path) -> None:
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "begin")
    (repository / "guide.md").write_text(GUIDE.replace("bad", "very bad"))
    run("ingest", "guide.md")
    assert run("diff", "--json").out.strip() == "[]"
    assert run("check", "code", "--json").json["anchors"] == 0
    assert run("check", "code", "--json", "-s", "repo").json["anchors"] == 1
    assert [m["path"] for m in run("list", "--json", "--rev", "HEAD").json] == ["db/choice"]


class Terminal:
    """Standard error, which says that it is a terminal."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        pass


def test_recall_says_on_a_terminal_how_to_build_the_space(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", Terminal(said.append))
        run("recall", "PostgreSQL")
        assert said == []
        os.unlink(repository / ".memory" / "spaces" / "repo.json")
        run("recall", "PostgreSQL", "--json")
        run("recall", "PostgreSQL", "-q")
        run("recall", "PostgreSQL", "-s", "main")
        assert said == []
        run("recall", "PostgreSQL")
        assert len(said) == 1
        assert "memcli ingest --git HEAD && memcli ingest ." in said[0]
    assert run("recall", "PostgreSQL").err == ""


HERE, THERE = "tools/uv", "style/tabs"


def test_what_is_changed_elsewhere_or_not_found_is_said(run: Run) -> None:
    run("remember", "We use uv, not pip.", "--path", HERE)
    run("remember", "Ann prefers tabs.", "--path", THERE, "--scope", "global")
    run("remember", "Ann prefers a dark theme.", "--path", "style/theme", "--scope", "global")
    for line in (
        ["edit", THERE, "--text", "Ann prefers spaces."], ["pin", THERE], ["edit", THERE, "--tag", "make"],
        ["link", THERE, "style/theme"], ["link", "style/theme", THERE, "--remove"], ["forget", THERE],
        ["forget", THERE, "--purge", "--yes"], ["restore", THERE], ["edit", THERE, "--set", "active=true"],
    ):  # fmt: skip
        done = run(*line)
        assert (done.code, "user-wide store" in done.err) == (0, "--purge" not in line or "user-wide" in done.err), line
    assert wrong(run, [(f"link {HERE} {THERE}", 2, "link memories of the same store")]) == ""
    for words in ("get", "pin", "pin --remove", "edit --tag x", "feedback --helpful", "forget", "forget --recursive"):
        done = run(*words.split(), "no/where", HERE, "nor/here", THERE)
        assert (done.code, HERE in done.out, THERE in done.out) == (3, True, True), words
        assert done.err.splitlines()[-1].startswith(
            "memcli: no memory 'no/where' in space 'main'; no memory 'nor/here' in"
        )
        assert wrong(run, [(f"{words} no/where nor/here", 3, "nor/here")]) == ""
    assert run("forget", HERE, "no/where", THERE, "--purge", "--yes").out.count("purged mem_") == 2
    assert "main (user-wide)" in run("restore", "--list").out
    assert {one.get("store") for one in run("restore", "--list", "--json").json} == {None, "global"}


def test_a_program_gets_the_error_with_what_was_found(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.init()
        memory.remember("We use uv, not pip.", path=HERE)
        with pytest.raises(NotFoundError, match="no memory 'no/where'") as raised:
            memory.get("no/where", HERE)
    assert [one["path"] for one in raised.value.value] == [HERE]  # type: ignore[attr-defined]
