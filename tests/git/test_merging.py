"""Real git, which calls the merge driver: nothing that either side remembered is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.cli.main import main
from memcli.codec.space import decode_space, encode_full, encode_space
from memcli.model.space import Space
from tests.conftest import ROOT, Run, memory, slow_but
from tests.git.conftest import Team

BOTH = {"db/choice", "ops/deploy", "ops/backup"}


def diverge(team: Team) -> None:
    """Each of two branches adds a memory of its own."""
    team.branch("left")
    team.remember("ops/deploy", "Deploy with make release.")
    team.branch("right")
    team.remember("ops/backup", "Backups run at night.")


def test_both_branches_add(team: Team) -> None:
    diverge(team)
    assert team.attempt("merge", "-q", "left").returncode == 0
    assert set(team.texts()) == BOTH


def test_both_edit_the_same_field(team: Team) -> None:
    team.branch("left")
    team.remember("db/choice", "We chose MySQL.")
    team.branch("right")
    team.remember("db/choice", "We chose SQLite.")
    done = team.attempt("merge", "left")
    assert done.returncode == 0
    assert ".memory/spaces/main.json: 1 conflict" in done.stderr + done.stdout
    found = team.at("db/choice")
    assert found.raw == found.summary_micro == "We chose SQLite."
    assert [(n["field"], n["value"]) for n in found.metadata["conflicts"]] == [("raw", "We chose MySQL.")]
    assert found.version == 3
    team.memcli("edit", "db/choice", "--set", "pinned=true")
    assert "conflicts" in team.at("db/choice").metadata
    team.memcli("edit", "db/choice", "--text", "We chose SQLite, and MySQL for reports.")
    assert "conflicts" not in team.at("db/choice").metadata


def test_a_merge_that_brings_back_what_was_purged_says_so(team: Team) -> None:
    team.branch("right")
    team.remember("db/choice", "We chose PostgreSQL 16.")
    team.branch("left")
    team.memcli("forget", "db/choice", "--purge", "--now", "--yes")
    team.commit()
    done = team.attempt("merge", "right")
    assert done.returncode == 0
    assert "the merge brings back what was purged here: 'db/choice'" in done.stderr + done.stdout
    assert list(team.texts()) == ["db/choice"]


def test_rebase(team: Team) -> None:
    team.branch("left")
    for n in range(3):
        team.remember(f"left/{n}", f"Left {n}.")
    team.remember("db/choice", "We chose MySQL.")
    team.branch("right")
    for n in range(3):
        team.remember(f"right/{n}", f"Right {n}.")
    team.on("left")
    assert team.attempt("rebase", "-q", "right").returncode == 0
    assert len(team.texts()) == 7
    assert team.texts()["db/choice"] == "We chose MySQL."


def test_cherry_pick_and_revert(team: Team) -> None:
    team.branch("left")
    team.remember("left/0", "Left 0.")
    team.remember("left/1", "Left 1.")
    picked = team.git("rev-parse", "HEAD")
    team.branch("right")
    team.remember("right/0", "Right 0.")
    assert team.attempt("cherry-pick", picked).returncode == 0
    assert set(team.texts()) == {"db/choice", "left/1", "right/0"}
    team.remember("right/1", "Right 1.")
    assert team.attempt("revert", "HEAD~1").returncode == 0
    assert set(team.texts()) == {"db/choice", "right/0", "right/1"}


@pytest.mark.parametrize("kind", slow_but(["--sparse-index"], ["--no-sparse-index", "--sparse-index"]))
@pytest.mark.parametrize("command", slow_but(["merge"], ["merge", "rebase", "cherry-pick"]))
def test_a_sparse_checkout_that_leaves_the_store_out(team: Team, kind: str, command: str) -> None:
    """Git finds no `.gitattributes` there."""
    team.commit("code", {"src/a.py": "a = 1\n"})
    diverge(team)
    team.git("sparse-checkout", "set", "--cone", kind, "src")
    done = team.attempt(command, "left")
    assert (done.returncode, team.file().exists()) == (0, False), done.stderr
    team.git("sparse-checkout", "disable")
    assert set(team.texts()) == BOTH


def test_stash_pop(team: Team) -> None:
    team.memcli("remember", "Stashed.", "--path", "stashed")
    team.git("stash", "-q")
    team.remember("kept", "Kept.")
    assert team.attempt("stash", "pop").returncode == 0
    assert set(team.texts()) == {"db/choice", "stashed", "kept"}


def test_a_space_renamed_on_one_side_and_edited_on_the_other(team: Team) -> None:
    team.remember("ops/backup", "Backups run at night.")
    team.branch("left")
    team.git("mv", ".memory/spaces/main.json", ".memory/spaces/core.json")
    data = json.loads(team.file("core").read_bytes())
    team.file("core").write_bytes(encode_space(decode_space(json.dumps({**data, "space": "core"}).encode(), "test")))
    team.commit("rename the space")
    team.branch("right")
    team.remember("ops/deploy", "Deploy with make release.")
    team.on("left")
    assert team.attempt("merge", "--no-edit", "right").returncode == 0
    assert not team.file().exists()
    assert team.space("core").name == "core"
    assert set(team.texts("core")) == {"db/choice", "ops/backup", "ops/deploy"}
    assert main(["get", "ops/deploy", "-s", "core", "--root", str(team.root)]) == 0


def test_both_add_a_space_of_one_name(team: Team) -> None:
    team.branch("left")
    team.remember("a", "Left.", "-s", "new")
    team.remember("b", "The same.", "-s", "new")
    team.branch("right")
    team.remember("b", "The same.", "-s", "new")
    team.remember("c", "Right.", "-s", "new")
    assert team.attempt("merge", "--no-edit", "left").returncode == 0
    assert team.texts("new") == {"a": "Left.", "b": "The same.", "c": "Right."}


def test_a_clone_without_the_driver(team: Team, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    diverge(team)
    team.git("clone", "-q", str(team.root), str(tmp_path / "clone"))
    clone = Team(tmp_path / "clone", team.hour)
    assert clone.attempt("merge", "origin/left").returncode == 1
    assert b"<<<<<<<" in clone.file().read_bytes()
    clone.git("merge", "--abort")
    capfd.readouterr()
    assert main(["doctor", "--root", str(clone.root)]) == 8
    assert "this clone does not have it (run `memcli init --git`)" in capfd.readouterr().out
    clone.memcli("init", "--git")
    assert clone.git("status", "--porcelain") == ""
    assert clone.attempt("merge", "origin/left").returncode == 0
    assert set(clone.texts()) == BOTH
    clone.git("config", "merge.memcli.driver", "/nowhere/memcli merge-driver %O %A %B")
    main(["doctor", "--root", str(clone.root)])
    assert "the merge driver of this clone does not exist: /nowhere/memcli" in capfd.readouterr().out
    clone.memcli("init", "--git")
    clone.git("config", "diff.memcli.textconv", "/nowhere/memcli merge-driver --textconv")
    main(["doctor", "--root", str(clone.root)])
    assert "the textconv of this clone does not exist: /nowhere/memcli" in capfd.readouterr().out


def test_a_side_that_names_another_space_leaves_a_conflict(run: Run, tmp_path: Path) -> None:
    ours = encode_space(Space("main", updated_at="2026-01-01T00:00:00Z"))
    for name, data in (("base", ours), ("ours", ours), ("theirs", ours.replace(b'"main"', b'"../../x"'))):
        (tmp_path / name).write_bytes(data)
    done = run("merge-driver", "base", "ours", "theirs", "--path", ".memory/spaces/main.json")
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "it would contain space '../../x' (set \"space\" to 'main' in it)" in done.err
    assert run("merge-driver", "base", "base", "base", "--path", ".memory/spaces/main.json").code == 0


@pytest.mark.parametrize("damage", slow_but([b"{", b"newer"], [b"{", b"", b"<<<<<<< HEAD\n{}\n", b"[]", b"newer"]))
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_side_that_is_no_space(team: Team, damage: bytes, side: str) -> None:
    diverge(team)
    team.on(side)
    if damage == b"newer":
        damage = team.file().read_bytes().replace(b'"version": 2\n}', b'"version": 99\n}')
    team.file().write_bytes(damage)
    team.commit("damage")
    team.on("right")
    done = team.attempt("merge", "left")
    assert done.returncode == 1
    told = done.stdout + done.stderr
    assert ".memory/spaces/main.json was merged line by line: " in told
    assert ("theirs" if side == "left" else "ours") in told
    assert "Traceback" not in told
    assert len(team.git("ls-files", "-u").splitlines()) == 3


def test_autocrlf_changes_no_byte(team: Team, tmp_path: Path) -> None:
    before = team.file().read_bytes()
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=true", "clone", "-q", "-c", "core.autocrlf=true", str(team.root), str(tmp_path / "w")],
        check=True, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0
    clone = Team(tmp_path / "w", team.hour)
    assert clone.file().read_bytes() == before
    clone.remember("more", "Another.")
    assert clone.git("status", "--porcelain") == ""
    assert clone.git("cat-file", "blob", "HEAD:.memory/spaces/main.json").encode() == clone.file().read_bytes().strip()


def test_in_a_linked_work_tree_and_a_folder_with_spaces(team: Team, tmp_path: Path) -> None:
    team.branch("left")
    team.remember("ops/deploy", "Deploy with make release.")
    team.on("main")
    team.git("worktree", "add", "-q", "-b", "right", str(tmp_path / "an odd 'name'"), "main")
    other = Team(tmp_path / "an odd 'name'", team.hour)
    other.remember("ops/backup", "Backups run at night.")
    assert other.attempt("merge", "--no-edit", "left").returncode == 0
    assert set(other.texts()) == BOTH


def test_a_program_in_an_odd_folder(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "100% o'dd $HOME"
    folder.mkdir()
    (folder / "memcli").write_text(f"#!/bin/sh\nexec '{sys.executable}' -P -m memcli \"$@\"\n")
    (folder / "memcli").chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(folder / "memcli")])
    team.memcli("init", "--git")
    assert "100%% o" in team.git("config", "merge.memcli.driver")
    diverge(team)
    assert team.attempt("merge", "--no-edit", "left").returncode == 0
    team.memcli("doctor")


def test_a_memory_too_deep_to_be_written(team: Team) -> None:
    deep = team.file().read_bytes().replace(b'"metadata": {', b'"metadata": {"x": ' + b"[" * 400 + b"]" * 400 + b",", 1)
    team.branch("left")
    team.file().write_bytes(deep)
    team.commit("deep")
    team.branch("right")
    team.remember("ops/backup", "Backups run at night.")
    done = team.attempt("merge", "--no-edit", "left")
    assert (done.returncode, "line by line" in done.stderr + done.stdout) == (1, True)


def test_git_diff_shows_memories_where_this_clone_has_memcli(team: Team) -> None:
    team.remember("ops/deploy", "Deploy with make release.")
    team.memcli("pin", "db/choice")
    told = team.attempt("diff").stdout
    assert [line for line in told.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")] == [
        "+    pinned: true"
    ]
    team.git("config", "--unset", "diff.memcli.textconv")
    assert '+      "pinned": true,' in team.attempt("diff").stdout


def test_a_file_that_is_no_space_is_compared_line_by_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "main.json"
    file.write_bytes(b"<<<<<<< ours\n\x1b[2J\n")
    assert run("merge-driver", "--textconv", str(file)).out == "<<<<<<< ours\n\\u001b[2J\n"
    assert run("merge-driver", str(file)).code == 2


def test_versions_of_the_format_may_be_mixed(tmp_path: Path) -> None:
    base, left, right = memory("a"), memory("b", metadata={"space": "main"}), memory("c", raw="A text. " * 20)
    sides = ((base,), (base, left), (base, right))
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for versions in ((1, 2, 2), (2, 1, 2), (2, 2, 1), (1, 1, 2), (1, 1, 1)):
        for file, objects, version in zip(files, sides, versions, strict=True):
            file.write_bytes((encode_space if version == 2 else encode_full)(Space("main", objects)))
        assert main(["merge-driver", *map(str, files)]) == 0
        assert files[1].read_bytes() == encode_space(Space("main", (base, left, right)))


def test_init_git_again_changes_nothing(team: Team) -> None:
    attributes = team.root / ".memory" / ".gitattributes"
    attributes.write_text("# ours\nexports/* -diff\n")
    team.memcli("init", "--git")
    files = (attributes, team.root / ".git" / "config", team.root / ".git" / "info" / "attributes")
    once = [file.read_bytes() for file in files]
    driven = b"spaces/*.json merge=memcli\nspaces/*.json diff=memcli\n"
    assert once[0] == b"# ours\nexports/* -diff\n*.json text eol=lf\n" + driven
    team.memcli("init", "--git")
    assert [file.read_bytes() for file in files] == once


def test_init_git_outside_a_work_tree_makes_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--git", "--root", str(tmp_path)]) == 3
    assert "git init" in capfd.readouterr().err
    assert not (tmp_path / ".memory").exists()


def test_attributes_that_are_a_link_are_not_written_through(team: Team, tmp_path: Path) -> None:
    attributes = team.root / ".memory" / ".gitattributes"
    attributes.unlink()
    attributes.symlink_to(tmp_path / "outside")
    team.memcli("init", "--git", code=8)
    assert not (tmp_path / "outside").exists()


def test_the_driver_needs_no_store_and_no_repository(tmp_path: Path) -> None:
    for name in ("base", "ours", "theirs"):
        (tmp_path / name).write_bytes(encode_space(Space("main")))
    command = [sys.executable, "-P", "-m", "memcli", "merge-driver", "base", "ours", "theirs"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(os.listdir(tmp_path)) == ["base", "ours", "theirs"]
    done = subprocess.run(
        [*command[:-1], "missing"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)


def test_the_driver_takes_no_path_that_climbs(tmp_path: Path, run: Run) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.write_bytes(encode_space(Space("main")))
    for name in ("base", "ours", "theirs"):
        (tmp_path / name).write_bytes(encode_space(Space("main")))
    for climbing in range(4):
        words = ["base", "ours", "theirs", "spaces/main.json"]
        words[climbing] = f"x/../../{outside.name}"
        done = run("merge-driver", *words[:3], "--path", words[3])
        assert (done.code, done.err.count("\n")) == (2, 1)
    assert outside.read_bytes() == encode_space(Space("main"))
