"""What is purged with no grace is in no file of the store when the command returns."""

from __future__ import annotations

import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Run, open_at

SECRET = "zebraquartz"
TEXT = f"The {SECRET} valve opens at noon."


def holding(folder: Path, word: str = SECRET) -> list[str]:
    """The files under the store that hold the word, in any case."""
    files = (path for path in sorted((folder / ".memory").rglob("*")) if path.is_file())
    return [str(path.relative_to(folder)) for path in files if word.encode() in path.read_bytes().lower()]


@pytest.fixture
def filled(run: Run, tmp_path: Path) -> Iterator[Run]:
    """A store whose index, vectors, audit log and trash know the text."""
    assert run("remember", TEXT).code == 0
    assert run("remember", "Another memory that stays.", "--path", "other").code == 0
    assert SECRET in run("recall", f"which {SECRET} valve opens?").out
    assert ".memory/cache/main.index" in holding(tmp_path)
    return run


def path_of(run: Run) -> str:
    return next(line for line in run("list").out.splitlines() if SECRET in line).split()[1]


@pytest.mark.parametrize("how", ["now", "no grace"])
def test_no_byte_is_left(filled: Run, tmp_path: Path, how: str) -> None:
    name = path_of(filled)
    assert SECRET in name  # the path quotes the text, in the audit log too
    if how == "no grace":
        filled("space", "policy", "main", "--set", "grace_days=0")
    done = filled("forget", name, "--purge", "--yes", *(["--now"] if how == "now" else []))
    assert done.code == 0, done.err
    assert holding(tmp_path) == []
    assert filled("audit", "--verify").code == 0
    assert filled("fsck").code == 0
    assert "other" in filled("recall", "another memory that stays").out
    assert holding(tmp_path) == []
    assert "nothing" not in filled("restore", "--list").out or SECRET not in filled("restore", "--list").out


def test_an_earlier_deletion_leaves_the_trash_too(filled: Run, tmp_path: Path) -> None:
    name = path_of(filled)
    filled("forget", name, "--purge", "--yes")
    filled("remember", TEXT)
    filled("forget", path_of(filled), "--purge", "--yes", "--now")
    assert holding(tmp_path) == []


def test_what_is_out_of_its_grace_leaves_no_trace(filled: Run, tmp_path: Path) -> None:
    filled("forget", path_of(filled), "--purge", "--yes")
    assert any("trash" in name for name in holding(tmp_path))
    assert filled("gc", "--freeze-clock", "2026-03-31T00:00:00Z").code == 0
    assert holding(tmp_path) == []
    assert filled("audit", "--verify").code == 0


def test_a_reader_of_an_earlier_state_brings_nothing_back(filled: Run, tmp_path: Path) -> None:
    workspace = open_at(tmp_path)
    snapshot = workspace.store.open("main")  # opened before the purge, indexed after it
    filled("forget", path_of(filled), "--purge", "--yes", "--now")
    view = workspace.index.view(snapshot)
    assert view.size == 2
    view.close()
    snapshot.close()
    assert holding(tmp_path) == []
    assert filled("recall", "another").code == 0
    assert (tmp_path / ".memory/cache/main.index").exists()


def test_a_reader_that_holds_the_index_is_waited_for(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = path_of(filled)
    index = tmp_path / ".memory/cache/main.index"
    reader = sqlite3.connect(index, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memory").fetchone()
    timer = threading.Timer(0.3, reader.rollback)
    timer.start()
    assert filled("forget", name, "--purge", "--yes", "--now").code == 0
    timer.join()
    reader.close()
    assert holding(tmp_path) == []
    monkeypatch.setattr("memcli.index.erasing._WAIT_SECONDS", 0.1)
    filled("recall", "another")
    with sqlite3.connect(index, isolation_level=None) as stuck:
        stuck.execute("BEGIN")
        stuck.execute("SELECT count(*) FROM memory").fetchone()
        late = filled("forget", "other", "--purge", "--yes", "--now")
        assert (late.code, "memcli index rebuild" in late.err) == (4, True)
        stuck.rollback()
    stuck.close()
    assert filled("get", "other").code == 3


def test_what_else_quotes_it_is_named(filled: Run, tmp_path: Path) -> None:
    name = path_of(filled)
    filled("export")
    filled("remember", f"She said: {TEXT}", "--path", "quote")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    (tmp_path / ".git").rmdir()
    for command in (["init", "-q"], ["add", "-f", ".memory/spaces"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    told = filled("forget", name, "--purge", "--yes", "--now").err
    assert "memory mem_" in told
    assert " quote of space main" in told
    assert "exports/main.json" in told
    assert "1 commit of this repository" in told


def test_now_is_for_purges_alone(filled: Run) -> None:
    assert filled("forget", "other", "--now").code == 2
