"""Diff, blame and recall of earlier commits, on real repositories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memcli.cli.main import main
from memcli.codec.space import decode_space, encode_space
from memcli.errors import StoreError
from memcli.model.space import Space
from memcli.wiring.workspace import open_workspace
from tests.git.conftest import Team
from tests.ingest.conftest import new_repo


@pytest.fixture
def ask(team: Team, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    """Runs a command line in the repository: its exit code, and what it printed on both streams."""
    monkeypatch.chdir(team.root)

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main(list(arguments))
        return code, *capfd.readouterr()

    return call


def told(answer: tuple[int, str, str]) -> Any:
    assert answer[0] == 0, answer
    return json.loads(answer[1])


def test_diff_tells_of_memories(team: Team, ask: Any) -> None:
    assert ask("diff", "--exit-code") == (0, "", "")
    team.remember("ops/backup", "Backups run at night.")
    team.remember("ops/old", "Gone soon.")
    team.memcli("space", "policy", "main", "--set", "allow_delete=true")
    team.commit()
    team.memcli("remember", "We chose PostgreSQL 16.", "--path", "db/choice", "--tag", "new")
    team.memcli("remember", "Deploy with make release.", "--path", "ops/deploy", "--kind", "procedure")
    team.memcli("forget", "ops/backup")
    team.memcli("forget", "ops/old", "--purge", "--yes")
    team.memcli("space", "policy", "main", "--set", "ttl_days=30")
    code, out, err = ask("diff", "--exit-code")
    assert (code, err) == (1, "")
    for line in (
        "  policy.ttl_days: nothing → 30", "    raw: We chose PostgreSQL{+ 16+}.", "    Deploy with make release.",
        "4 memories: 1 added, 1 changed, 1 forgotten, 1 removed",
    ):  # fmt: skip
        assert line in out.splitlines()
    assert "summary_micro" not in out
    assert [line.split()[:2] for line in out.splitlines() if line[:1] in "+~-" and line] == [
        ["+", "ops/deploy"], ["~", "db/choice"], ["~", "ops/backup"], ["-", "ops/old"],
    ]  # fmt: skip
    (space,) = told(ask("diff", "--json"))
    assert {m["path"]: m["status"] for m in space["memories"]} == {
        "ops/deploy": "added", "db/choice": "changed", "ops/backup": "forgotten", "ops/old": "removed",
    }  # fmt: skip
    changed = next(m for m in space["memories"] if m["status"] == "changed")
    assert {"field": "raw", "before": "We chose PostgreSQL.", "after": "We chose PostgreSQL 16."} in changed["fields"]
    assert ask("diff", "--stat")[1].splitlines()[-1] == "4 memories: 1 added, 1 changed, 1 forgotten, 1 removed"


def test_diff_of_two_commits_and_of_one_space(team: Team, ask: Any) -> None:
    team.remember("a", "One.")
    team.remember("b", "Two.", "-s", "other")
    team.memcli("pin", "a")
    team.commit("pin")
    assert ask("diff", "HEAD~1", "HEAD")[1] == ask("diff", "HEAD~1..")[1] == ask("diff", "HEAD~1..HEAD")[1]
    assert [m["status"] for m in told(ask("diff", "HEAD~1", "--json"))[0]["memories"]] == ["pinned"]
    assert [s["space"] for s in told(ask("diff", "HEAD~3", "--json"))] == ["main", "other"]
    assert [s["space"] for s in told(ask("diff", "HEAD~3", "-s", "other", "--json"))] == ["other"]
    backwards = told(ask("diff", "HEAD", "HEAD~3", "--json"))
    assert [(s["space"], s["status"], s["memories"][0]["status"]) for s in backwards] == [
        ("main", "changed", "removed"), ("other", "removed", "removed"),
    ]  # fmt: skip


def test_diff_of_a_renamed_space(team: Team, ask: Any) -> None:
    rename(team)
    team.memcli("remember", "More.", "--path", "more", "-s", "core")
    (space,) = told(ask("diff", "--json"))
    assert (space["space"], space["was"], space["status"]) == ("core", "main", "renamed")
    assert [m["path"] for m in space["memories"]] == ["more"]
    assert ask("diff")[1].startswith("space main → core\n")


def test_blame_names_the_commit_of_each_field(team: Team, ask: Any) -> None:
    team.remember("other", "Something else.")
    team.remember("db/choice", "We chose PostgreSQL 16.")
    team.memcli("edit", "db/choice", "--tag", "storage")
    team.commit("tag it")
    team.memcli("pin", "db/choice")
    found = told(ask("blame", "db/choice", "--json"))
    subjects = {name: commit and commit["subject"] for name, commit in found["fields"].items()}
    assert found["added"]["subject"] == "remember db/choice"
    assert found["added"]["commit"] == team.git("rev-list", "--max-parents=0", "HEAD")
    assert (subjects["raw"], subjects["tags"], subjects["pinned"]) == ("remember db/choice", "tag it", None)
    assert found["fields"]["raw"]["commit"] == team.git("rev-parse", "HEAD~1")
    assert found["fields"]["kind"]["commit"] == found["added"]["commit"]
    out = ask("blame", "db/choice")[1]
    assert next(line for line in out.splitlines() if line.startswith("pinned")).endswith("not committed yet")
    assert ask("blame", "nothing/here")[0] == 3


def test_blame_goes_through_merges_and_renames(team: Team, ask: Any) -> None:
    team.branch("left")
    team.remember("db/choice", "We chose PostgreSQL 16.")
    team.branch("right")
    team.memcli("edit", "db/choice", "--tag", "storage")
    team.commit("tag it")
    assert team.attempt("merge", "--no-edit", "left").returncode == 0
    rename(team)
    team.commit("rename the space")
    team.memcli("pin", "db/choice", "-s", "core")
    team.commit("pin it")
    found = told(ask("blame", "db/choice", "-s", "core", "--json"))
    subjects = {name: commit["subject"] for name, commit in found["fields"].items()}
    assert found["added"]["subject"] == "remember db/choice"
    assert found["added"]["commit"] == team.git("rev-list", "--max-parents=0", "HEAD")
    assert found["fields"]["raw"]["commit"] == team.git("rev-parse", "left")
    assert (subjects["tags"], subjects["pinned"]) == ("tag it", "pin it")


def test_blame_of_what_is_not_committed(team: Team, ask: Any) -> None:
    team.memcli("remember", "New.", "--path", "new")
    found = told(ask("blame", "new", "--json"))
    assert found["added"] is None
    assert set(found["fields"].values()) == {None}


@pytest.mark.parametrize(("damage", "expected"), [(b"<<<<<<< ours\n", "remember db/choice"), (b"{", "mended")])
def test_blame_of_a_file_that_was_broken_for_a_while(team: Team, ask: Any, damage: bytes, expected: str) -> None:
    """What can still be read of it counts; what cannot was not there."""
    before = team.file().read_bytes()
    team.file().write_bytes(damage + before if len(damage) > 1 else damage)
    team.commit("broken")
    team.file().write_bytes(before)
    team.commit("mended")
    assert told(ask("blame", "db/choice", "--json"))["added"]["subject"] == expected


def test_recall_and_the_others_at_a_commit(team: Team, ask: Any) -> None:
    first = team.git("rev-parse", "HEAD")
    team.remember("db/choice", "We chose SQLite.")
    team.remember("db/port", "PostgreSQL listens on 5432.")
    live = ask("recall", "postgresql", "--json")[1]
    then = told(ask("recall", "which database, postgresql?", "--rev", first, "--json", "--include-raw"))
    assert [raw["raw"] for raw in then["raw"]] == ["We chose PostgreSQL."]
    assert told(ask("get", "db/choice", "--rev", first, "--json"))["raw"] == "We chose PostgreSQL."
    assert [m["path"] for m in told(ask("list", "--rev", "HEAD~2", "--json"))] == ["db/choice"]
    assert "db/port" not in ask("list", "--tree", "--rev", first)[1]
    assert [m["path"] for m in told(ask("recall", "postgresql", "--rev", first, "--json"))["sections"]] == ["db/choice"]
    assert ask("recall", "postgresql", "--json")[1] == live
    assert ask("get", "db/port", "--rev", first)[0] == 3


@pytest.mark.slow
def test_indexes_of_commits_do_not_pile_up(team: Team, ask: Any) -> None:
    for n in range(8):
        team.remember(f"n/{n}", f"Number {n}.")
    for n in range(8):
        assert ask("recall", "number", "--rev", f"HEAD~{n}")[0] == 0
    revisions = team.root / ".memory" / "cache" / "revisions"
    assert len(list(revisions.iterdir())) == 4
    assert team.git("status", "--porcelain") == ""


def test_an_index_of_a_commit_is_written_through_no_link(team: Team, ask: Any, tmp_path: Path) -> None:
    (team.root / ".memory" / "cache").mkdir(exist_ok=True)
    (tmp_path / "outside").mkdir()
    (team.root / ".memory" / "cache" / "revisions").symlink_to(tmp_path / "outside")
    assert ask("recall", "postgresql", "--rev", "HEAD")[0] == 8
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_store_of_a_commit_is_not_written(team: Team) -> None:
    workspace = open_workspace({"root": str(team.root), "rev": "HEAD"}, os.environ)
    for act in (workspace.store.update, workspace.store.delete):
        with pytest.raises(StoreError, match="cannot change the store"):
            act("main", lambda space: space)


def test_a_file_that_is_not_canonical_in_a_commit(team: Team, ask: Any) -> None:
    data = team.file().read_bytes()
    team.file().write_bytes(json.dumps(json.loads(data)).encode())
    team.commit("by another tool")
    team.file().write_bytes(data)
    assert told(ask("recall", "postgresql", "--rev", "HEAD", "--json"))["matched"] == 1
    assert told(ask("get", "db/choice", "--rev", "HEAD", "--json"))["raw"] == "We chose PostgreSQL."
    assert told(ask("blame", "db/choice", "--json"))["added"]["subject"] == "remember db/choice"


def test_revisions_that_are_none(team: Team, ask: Any) -> None:
    revisions = [
        ("nonsense", 3, "unknown commit"), ("HEAD~99", 3, "unknown commit"), ("HEAD:README", 3, "unknown commit"),
        ("a b", 3, "unknown commit"), ("0" * 40, 3, "unknown commit"), ("x\x1b[31m", 2, "not a commit"),
        ("A...B", 2, ""), ("--output=x", 2, ""), ("-p", 2, ""), ("x\n", 2, "not a commit"),
    ]  # fmt: skip
    for n, (revision, code, says) in enumerate(revisions):
        commands = (["diff", revision], ["recall", "x", "--rev", revision], ["list", "--rev", revision])
        for command in (commands[0], commands[1 + n % 2]):
            found, out, err = ask(*command)
            assert (found, out, says in err, err.count("\n")) == (code, "", True, 1), command
    assert not (team.root / "x").exists()


def test_where_there_is_nothing_to_look_back_to(team: Team, ask: Any, tmp_path: Path) -> None:
    empty = new_repo(tmp_path / "empty")
    outside = tmp_path / "outside"
    for root in (empty.root, outside):
        assert main(["init", "--root", str(root)]) == 0
        for command in (["diff"], ["blame", "x"], ["recall", "x", "--rev", "HEAD"]):
            code, _, err = ask(*command, "--root", str(root))
            assert code == 3
            assert err.splitlines()[-1].endswith(")")
    empty.commit("nothing of memcli", {"a.txt": "a"})
    empty.git("rm", "-rfq", "--cached", ".memory", "--ignore-unmatch")
    assert ask("diff", "--root", str(empty.root))[:2] == (0, "")


def test_a_commit_from_before_the_store(tmp_path: Path, ask: Any) -> None:
    repo = new_repo(tmp_path / "old")
    first = repo.commit("before", {"a.txt": "a"})
    assert main(["remember", "We chose PostgreSQL.", "--path", "db", "--root", str(repo.root)]) == 3
    assert main(["init", "--root", str(repo.root)]) == 0
    assert main(["remember", "We chose PostgreSQL.", "--path", "db", "--root", str(repo.root)]) == 0
    code, _, err = ask("recall", "postgresql", "--rev", first, "--root", str(repo.root))
    assert code == 0
    assert "has no memories" in err
    (space,) = told(ask("diff", first, "--json", "--root", str(repo.root)))
    assert (space["status"], [m["status"] for m in space["memories"]]) == ("added", ["added"])


def test_without_git(team: Team, ask: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for command in (["diff"], ["blame", "db/choice"], ["list", "--rev", "HEAD"], ["init", "--git"]):
        code, _, err = ask(*command)
        assert (code, "git is not installed" in err) == (7, True)


def test_a_shallow_clone(team: Team, ask: Any, tmp_path: Path) -> None:
    team.remember("db/choice", "We chose SQLite.")
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{team.root}", str(tmp_path / "shallow")], check=True)
    root = str(tmp_path / "shallow")
    assert ask("diff", "--root", root) == (0, "", "")
    assert told(ask("blame", "db/choice", "--json", "--root", root))["fields"]["raw"]["subject"] == "remember db/choice"
    code, _, err = ask("diff", "HEAD~1", "--root", root)
    assert code == 3
    assert "--unshallow" in err


@pytest.mark.slow
def test_a_store_in_a_submodule_and_in_a_folder_that_is_no_utf_8(team: Team, ask: Any, tmp_path: Path) -> None:
    outer = new_repo(tmp_path / "outer")
    outer.git("submodule", "add", "-q", str(team.root), "inner")
    root = outer.root / "inner"
    assert main(["remember", "New.", "--path", "new", "--root", str(root)]) == 0
    (space,) = told(ask("diff", "--json", "--root", str(root)))
    assert [m["path"] for m in space["memories"]] == ["new"]
    odd = os.path.join(os.fsencode(team.root), b'odd \xff [x]* "y"\n')
    os.mkdir(odd)
    assert main(["init", "--root", os.fsdecode(odd)]) == 0
    assert main(["remember", "Odd.", "--path", "odd", "--root", os.fsdecode(odd)]) == 0
    team.commit("odd")
    assert told(ask("get", "odd", "--rev", "HEAD", "--json", "--root", os.fsdecode(odd)))["raw"] == "Odd."
    assert ask("diff", "--root", os.fsdecode(odd)) == (0, "", "")
    assert ask("blame", "odd", "--root", os.fsdecode(odd))[0] == 7


def test_links_and_folders_in_a_commit_are_no_spaces(team: Team, ask: Any) -> None:
    spaces = team.root / ".memory" / "spaces"
    (spaces / "link.json").symlink_to("/etc/passwd")
    (spaces / "folder.json").mkdir()
    (spaces / "folder.json" / "x").write_text("x")
    team.commit()
    assert open_workspace({"root": str(team.root), "rev": "HEAD"}, os.environ).store.spaces() == ["main"]


def test_nothing_that_a_repository_configures_is_run(team: Team, ask: Any) -> None:
    trace = team.root.parent / "trace"
    program = team.root.parent / "program"
    program.write_text(f"#!/bin/sh\necho \"$0 $@\" >> '{trace}'\ncat\n")
    program.chmod(0o755)
    team.write(".gitattributes", "*.json diff=evil filter=evil merge=evil\n")
    team.commit("attributes")
    for name in ("core.fsmonitor", "core.pager", "diff.external", "diff.evil.command", "diff.evil.textconv",
                 "filter.evil.clean", "filter.evil.smudge", "merge.evil.driver", "core.sshCommand", "core.editor",
                 "pager.log", "pager.diff"):  # fmt: skip
        team.git("config", name, str(program))
    trace.unlink(missing_ok=True)
    for command in (["diff"], ["blame", "db/choice"], ["recall", "x", "--rev", "HEAD"], ["init", "--git"], ["doctor"]):
        assert ask(*command)[0] == 0
    assert not trace.exists()


def rename(team: Team) -> None:
    """Gives the space main the name core."""
    team.git("mv", ".memory/spaces/main.json", ".memory/spaces/core.json")
    data = json.loads(team.file("core").read_bytes())
    found: Space = decode_space(json.dumps({**data, "space": "core"}).encode(), "test")
    team.file("core").write_bytes(encode_space(found))


@pytest.mark.slow
def test_an_index_of_a_commit_begins_with_that_of_now_and_answers_as_one_made_anew(team: Team, ask: Any) -> None:
    for n in range(5):
        team.remember(f"n/{n}", f"Number {n} of the deployments.")
    team.memcli("space", "policy", "main", "--set", "allow_delete=true")
    team.memcli("forget", "n/0", "--purge", "--yes")
    team.commit()
    question = ("recall", "deployments number", "--rev", "HEAD~1", "--json", "--explain")
    anew = ask(*question)
    cache = team.root / ".memory" / "cache"
    shutil.rmtree(cache)
    ask("recall", "deployments")
    assert ask(*question) == anew
    shutil.rmtree(cache / "revisions")
    (cache / "main.index").write_bytes(b"no database")
    assert ask(*question)[1] == anew[1]
