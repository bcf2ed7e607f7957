"""`memcli watch` as a command: who is at work, what it says of itself, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memcli.extras.watch.command import stoppable
from tests.cli.conftest import git, until
from tests.conftest import NOW, ROOT, Run

Begin = Callable[[], "subprocess.Popen[str]"]


@pytest.fixture
def tree(run: Run, tmp_path: Path) -> Path:
    (tmp_path / ".git").rmdir()
    (tmp_path / "a.md").write_text("# Deploy\n\nRun make release.\n")
    run("init")
    run("ingest", "a.md")
    run("watch", "--once")
    return tmp_path


@pytest.fixture
def begin(tree: Path) -> Iterator[Begin]:
    running: list[subprocess.Popen[str]] = []

    def start(*options: str) -> subprocess.Popen[str]:
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "memcli", "watch", *options], cwd=tree, env=environ, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


def status(run: Run, *options: str) -> dict[str, object]:
    return dict(run("watch", "--status", "--json", *options).json)


def paths(run: Run) -> list[str]:
    return [m["path"] for m in run("list", "--json").json]


def test_status(run: Run, tree: Path) -> None:
    assert run("watch", "--status").out == "not running\n1 files watched, into space repo\n"
    (tree / "b.md").write_text("B is new.")
    run("watch", "--once")
    told = status(run)
    assert (told["running"], told["pid"], told["files"], told["last_trouble"]) == (False, None, 2, None)
    assert told["last_batch"]["created"] == 1
    assert run("watch", "--status").out.endswith(f"last batch {NOW}: 1 created\n")
    assert run("watch", "--status", "--once").code == 2


def test_a_second_one_says_who_is_at_work(run: Run, begin: Begin) -> None:
    process = begin()
    until(lambda: status(run)["pid"] == process.pid)
    assert (status(run)["pid"], status(run)["since"]) == (process.pid, NOW)
    second = run("watch", "--once")
    assert second.code == 4
    assert f"held by process {process.pid}, since {NOW}" in second.err
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert not status(run)["running"]


@pytest.mark.slow
def test_killed_and_started_again_nothing_is_lost(run: Run, tree: Path, begin: Begin) -> None:
    for n in range(3):
        process = begin()
        until(lambda: status(run)["running"])
        (tree / f"{n}.md").write_text(f"Number {n}.")
        (tree / "a.md").write_text(f"Changed {n}.")
        until(lambda n=n: f"{n}.md" in paths(run))
        process.kill()
        process.wait()
        (tree / f"{n}.md").unlink()
    run("watch", "--once")
    assert paths(run) == ["a.md"]
    assert "Changed 2" in run("get", "a.md").out


@pytest.mark.slow
def test_a_store_that_goes_away_and_comes_back(run: Run, tree: Path, begin: Begin, tmp_path: Path) -> None:
    process = begin()
    until(lambda: status(run)["running"])
    away = tmp_path.parent / f"{tmp_path.name}-away"
    (tree / ".memory").rename(away)
    (tree / "b.md").write_text("B is new.")
    time.sleep(0.1)
    assert not (tree / ".memory").exists(), [str(p) for p in (tree / ".memory").rglob("*")]
    away.rename(tree / ".memory")
    until(lambda: "b.md" in paths(run))
    assert process.poll() is None


@pytest.mark.slow
def test_a_checkout_that_brings_an_older_store(run: Run, tree: Path, begin: Begin) -> None:
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "One")
    run("watch", "--once", "-s", "main")
    (tree / "b.md").write_text("B is never committed.")
    git(tree, "checkout", "-q", "-b", "side")
    begin("-s", "main")  # a space that git tracks, as older versions had
    until(lambda: "b.md" in paths(run))
    git(tree, "add", ".memory")
    git(tree, "commit", "-q", "-m", "The store knows of b")
    until(lambda: status(run, "-s", "main")["last_commit"] == git(tree, "rev-parse", "HEAD").strip())
    time.sleep(3)
    git(tree, "checkout", "-q", "main")
    until(lambda: "b.md" in paths(run))


def test_what_does_not_end_when_asked_is_broken_off() -> None:
    with stoppable() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(10), "what ends in time is left alone"
    handler = signal.getsignal(signal.SIGTERM)
    with stoppable() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        until(lambda: False)
    assert stop.is_set()
    assert signal.getsignal(signal.SIGTERM) == handler
