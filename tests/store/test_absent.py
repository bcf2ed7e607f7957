"""What git tracks and the work tree lacks is never begun anew."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from memcli.store.absent import absent
from tests.conftest import Run, slow_but
from tests.store.conftest import commit, git, repository

WAYS = ["deleted", "staged", "sparse", "sparse index"]
MYSQL = ("remember", "We chose MySQL.")
READS = "recall database; list; get db/choice; list --tree; status; export; space policy"


@pytest.fixture
def folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with a committed store, and a folder `src` beside it."""
    found = repository(tmp_path / "shop")
    (found / "src").mkdir()
    (found / "src" / "a.py").write_text("a = 1\n")
    monkeypatch.chdir(found)
    assert run("remember", "We chose PostgreSQL.", "--path", "db/choice").code == 0
    commit(found, "memory")
    return found


def lose(folder: Path, how: str) -> str:
    """Has the work tree lack the store; the git command that brings it back."""
    if how == "deleted":
        shutil.rmtree(folder / ".memory")
        return "restore .memory"
    if how == "staged":
        git(folder, "rm", "-rqf", ".memory")
        shutil.rmtree(folder / ".memory", ignore_errors=True)
        return "restore --staged --worktree .memory"
    git(folder, "sparse-checkout", "set", *(["--sparse-index"] if how == "sparse index" else []), "--cone", "src")
    return "sparse-checkout add .memory"


@pytest.mark.parametrize("how", slow_but(("deleted", "sparse"), WAYS))
@pytest.mark.parametrize("place", slow_but((".",), [".", "src"]))
def test_a_store_that_git_has_is_not_begun_anew(
    folder: Path, run: Run, how: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = lose(folder, how)
    monkeypatch.chdir(folder / place)
    for line in (MYSQL, ("init",), ("recall", "which database?"), ("check", "store")):
        told = run(*line)
        assert told.code == 8, line
        (shown,) = re.findall(rf"`(git (?:-C .. )?{command})`", told.err)
        assert not (folder / ".memory" / "spaces").exists()
        assert not (folder / "src" / ".memory").exists()
    assert "FAIL  store" in run("doctor").out
    subprocess.run(shown.split(), check=True)
    assert "PostgreSQL" in run("recall", "postgresql").out


@pytest.mark.parametrize("how", WAYS)
def test_a_store_that_is_named_is_not_begun_anew(folder: Path, run: Run, how: str) -> None:
    command = lose(folder, how)
    shutil.rmtree(folder / ".memory", ignore_errors=True)
    for line in (MYSQL, ("recall", "which database?")):
        told = run(*line, "--root", str(folder))
        assert (told.code, command in told.err, (folder / ".memory").exists()) == (8, True, False)


@pytest.mark.parametrize("how", ["deleted", "sparse"])
def test_a_space_that_git_has_is_neither_begun_anew_nor_read_as_empty(folder: Path, run: Run, how: str) -> None:
    run("remember", "The wiki moved.", "-s", "docs", "--path", "wiki")
    if how == "deleted":
        (folder / ".memory" / "spaces" / "main.json").unlink()
        for line in READS.split("; "):
            told = run(*line.split())
            assert (told.code, told.out) == (8, ""), line
            assert "`git restore .memory/spaces/main.json` brings it back" in told.err
    else:
        git(folder, "sparse-checkout", "set", "--no-cone", "/*", "!/.memory/spaces/main.json")
    told = run(*MYSQL)
    assert (told.code, "space 'main' is tracked by git, but missing" in told.err) == (8, True)
    found = run("check", "store")
    assert (found.code, "spaces/main.json" in found.out) == (6, True)
    assert run("remember", "The wiki is gone.", "-s", "docs").code == 0


def test_what_memcli_deleted_or_never_was_is_begun(folder: Path, run: Run) -> None:
    assert run("space", "policy", "--set", "allow_delete=true").code == 0
    assert run("space", "delete", "main").code == 0
    assert absent(str(folder / ".memory")) == {}
    assert run(*MYSQL).code == 0
    assert run("remember", "New.", "-s", "other").code == 0


def test_a_branch_without_a_store_may_have_one(folder: Path, run: Run) -> None:
    git(folder, "checkout", "-q", "--orphan", "empty")
    git(folder, "rm", "-rqf", "--cached", ".")
    shutil.rmtree(folder / ".memory")
    assert run(*MYSQL).code == 0
    assert os.path.exists(folder / ".memory" / "spaces" / "main.json")


def test_what_head_had_is_asked_again_when_head_moves(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(tmp_path / "shop")
    root = str(folder / ".memory")
    monkeypatch.chdir(folder)
    assert absent(root) == {}
    assert run("remember", "We chose PostgreSQL.").code == 0
    commit(folder, "memory")
    git(folder, "rm", "-rqf", ".memory")
    shutil.rmtree(root, ignore_errors=True)
    assert list(absent(root)) == ["main"]
    git(folder, "reset", "-q", "--soft", "HEAD~")
    assert absent(root) == {}


@pytest.mark.parametrize("is_alone", slow_but((False,), [False, True]))
@pytest.mark.parametrize("how", ["deleted", "sparse"])
@pytest.mark.parametrize("place", slow_but(("deep",), [".", "deep"]))
def test_a_store_above_does_not_stand_in_for_one_that_git_has(
    folder: Path, run: Run, how: str, place: str, is_alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    nested = folder / "src"
    assert run("init", "--root", "src").code == 0
    monkeypatch.chdir(nested)
    assert run("remember", "We chose Redis.", "--path", "cache/choice").code == 0
    commit(folder, "a store of src")
    (nested / "deep").mkdir()
    if is_alone:
        git(folder, "rm", "-rq", ".memory")
        git(folder, "commit", "-qm", "no store above")
        shutil.rmtree(folder / ".memory", ignore_errors=True)
    if how == "sparse":
        git(folder, "sparse-checkout", "set", "--no-cone", "/*", "!/src/.memory/")
    shutil.rmtree(nested / ".memory", ignore_errors=True)
    monkeypatch.chdir(nested / place)
    above = folder / ".memory" / "spaces" / "main.json"
    before = above.read_bytes() if above.exists() else b""
    for line in (MYSQL, ("recall", "which cache?"), ("init",)):
        told = run(*line)
        assert (told.code, "src/.memory is tracked by git, but missing" in told.err) == (8, True)
    assert "FAIL  store" in run("doctor").out
    assert (above.read_bytes() if above.exists() else b"") == before
    monkeypatch.chdir(folder)
    assert is_alone or run("recall", "postgresql").code == 0
