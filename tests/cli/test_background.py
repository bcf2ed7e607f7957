"""Vectors that are made behind a command: by one process, whoever asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli.cli import background
from memcli.cli.background import run_alone
from memcli.store.layout import Layout
from memcli.store.lock import locked
from tests.cli.test_ingest import commit, git
from tests.conftest import Run

_PATIENCE = 60.0


def is_done(run: Run) -> bool:
    found: dict[str, Any] = json.loads(run("index", "status", "--json").out)
    return 0 < found.get("chunks", 0) == found["vectors"]


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def lively(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work tree in which the clock goes and background work is allowed."""
    monkeypatch.delenv("MEMCLI_FREEZE_CLOCK")
    monkeypatch.delenv("MEMCLI_BACKGROUND")
    (tmp_path / "guide.md").write_text(
        "".join(f"# Part {n}\n\nThe engine of part {n} is cooled.\n\n" for n in range(30))
    )
    return tmp_path


def memcli(folder: Path, *args: str) -> None:
    subprocess.run([sys.executable, "-m", "memcli", *args], cwd=folder, check=True, capture_output=True)


def test_ingest_has_the_vectors_made(lively: Path, run: Run) -> None:
    memcli(lively, "ingest", "guide.md")
    wait_until(lambda: is_done(run))


def test_an_ingest_of_what_is_unchanged_goes_on_with_vectors(
    lively: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []
    monkeypatch.setattr("memcli.cli.background.start", lambda *given: begun.append(given))
    assert [run("ingest", "guide.md").code for _ in range(2)] == [0, 0]
    assert len(begun) == 2


def test_a_commit_has_them_made_too(lively: Path, run: Run) -> None:
    (lively / ".git").rmdir()
    git(lively, "init", "-q", "-b", "main")
    assert run("init").code == 0
    assert run("hook", "install").code == 0
    commit(lively, "a.py", "engine = 1\n", "Cool the engine")
    wait_until(lambda: is_done(run))


@pytest.mark.parametrize("name", ["MEMCLI_FREEZE_CLOCK", "MEMCLI_BACKGROUND", "MEMCLI_EMBEDDER"])
def test_nothing_is_begun_where_it_is_not_wanted(
    name: str, lively: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memcli.cli.background.start", lambda *_: pytest.fail("a process was started"))
    monkeypatch.setenv(name, "2026-01-01T00:00:00Z" if "CLOCK" in name else "off")
    assert run("ingest", "guide.md").code == 0


def test_a_dry_run_begins_nothing(lively: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.cli.background.start", lambda *_: pytest.fail("a process was started"))
    assert run("ingest", "guide.md", "--dry-run").code == 0


def test_what_is_asked_for_in_the_background_says_nothing(lively: Path, run: Run) -> None:
    assert run("ingest", "guide.md", "--quiet").code == 0
    done = subprocess.run(
        [sys.executable, "-m", "memcli", "index", "embed", "--background"], cwd=lively, capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_one_works_one_waits_and_no_more(tmp_path: Path) -> None:
    root = str(tmp_path / ".memory")
    os.makedirs(root)
    nice, done = os.nice, list[str]()
    os.nice = lambda _: 0  # type: ignore[assignment]
    try:
        folder = Layout(root).local("background")
        run_alone(root, lambda: done.append("first"))
        with locked(os.path.join(folder, "next.lock"), "a turn", 0):
            run_alone(root, lambda: done.append("third"))
        run_alone(root, lambda: done.append("fourth"))
    finally:
        os.nice = nice
    assert done == ["first", "fourth"]


def test_an_error_reaches_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memcli.errors import StoreError

    def fail() -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(os, "nice", lambda _: 0)
    run_alone(str(tmp_path), fail)


def test_a_store_without_an_embedder_has_no_vectors_made(
    lively: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []
    monkeypatch.setattr(background, "start", lambda *told: begun.append(told))
    monkeypatch.delenv("MEMCLI_EMBEDDER")
    run("init")
    (lively / ".memory/config.toml").write_text('embedder = "off"\n')
    run("ingest", "guide.md")
    assert begun == []
    monkeypatch.setenv("MEMCLI_EMBEDDER", "hashed")
    (lively / "guide.md").write_text("# Another\n\nThe engine is new.\n")
    run("ingest", "guide.md")
    assert len(begun) == 1
