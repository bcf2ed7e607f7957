"""Ingest and watch, through the command line, on real repositories."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run

DATE = "2026-01-02T03:04:05Z"


@pytest.fixture
def repository(tmp_path: Path, run: Run) -> Path:
    (tmp_path / ".git").rmdir()
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    identity = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}
    subprocess.run(
        ["git", *arguments], cwd=folder, check=True, env={**os.environ, **identity, **dates}, capture_output=True
    )


def commit(folder: Path, name: str, text: str, message: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def paths(run: Run, *options: str) -> list[str]:
    return [m["path"] for m in json.loads(run("list", "--json", *options).out)]


def test_commits_become_memories(run: Run, repository: Path) -> None:
    commit(repository, "src/a.py", "def retry():\n    pass\n", "Retry when the network fails")
    commit(repository, "src/b.py", "x = 1\n", "Add b")
    done = json.loads(run("ingest", "--git", "HEAD", "--json").out)
    assert (done["created"], done["skipped"]) == (2, {})
    again = json.loads(run("ingest", "--git", "HEAD", "--json").out)
    assert (again["created"], again["updated"], again["deduplicated"]) == (0, 0, 2)
    found = json.loads(run("recall", "network retry", "--json", "--kind", "diff").out)["sections"][0]
    assert found["path"].startswith("code/src/a.py/")
    assert found["metadata"]["subject"] == "Retry when the network fails"
    assert json.loads(run("get", found["id"], "--json").out)["created_at"] == DATE
    assert paths(run, "--kind", "diff") == sorted(paths(run))


def test_a_range_and_since(run: Run, repository: Path) -> None:
    for n in range(3):
        commit(repository, f"f{n}.py", f"x = {n}\n", f"Commit {n}")
    assert json.loads(run("ingest", "--git", "HEAD~1..HEAD", "--json").out)["created"] == 1
    assert json.loads(run("ingest", "--since", "HEAD~2", "--json").out)["created"] == 1
    assert run("ingest", "--git", "nowhere..HEAD").code == 3
    assert run("ingest", "--git", "--output=x").code == 2


def test_files_become_memories(run: Run, repository: Path) -> None:
    (repository / "docs").mkdir()
    (repository / "docs" / "a.md").write_text("# Deploy\n\nRun make release.\n")
    (repository / "docs" / "bin").write_bytes(b"\0\1")
    (repository / ".env").write_text("TOKEN=secret")
    (repository / ".gitignore").write_text("ignored.md\n")
    (repository / "ignored.md").write_text("x")
    done = json.loads(run("ingest", "docs", ".env", "ignored.md", "--json").out)
    assert (done["paths"], done["skipped"]) == (["docs/a.md"], {"binary": 1, "ignored": 2})
    (repository / "docs" / "a.md").write_text("# Deploy\n\nRun make ship.\n")
    assert json.loads(run("ingest", "docs/a.md", "--json").out)["updated"] == 1
    assert "make ship" in run("recall", "deploy", "--include-raw").out
    assert run("ingest", "nowhere.md").code == 3
    assert run("ingest").code == 2


def test_a_dry_run_stores_nothing(run: Run, repository: Path) -> None:
    run("init")
    (repository / "a.md").write_text("Text.")
    assert run("ingest", "a.md", "--dry-run").out == "a.md\n1 would be remembered\n"
    assert paths(run) == []


def test_outside_a_repository(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".git").rmdir()
    run("init")
    result = run("ingest", "--git", "HEAD")
    assert result.code == 3
    assert result.err.count("\n") == 1


@pytest.fixture
def watching(repository: Path) -> Iterator[subprocess.Popen[str]]:
    """A watch that runs in the background; it has taken its first look once it says so."""
    commit(repository, "old.md", "Old.", "Begin")
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "memcli", "watch"],
        cwd=repository, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr
    for line in process.stderr:
        if "watching" in line:
            break
    yield process
    process.kill()
    process.wait()
    process.stderr.close()
    if process.stdout:
        process.stdout.close()


def until(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("waited for 30 s")


def test_watch_follows_files_and_commits(run: Run, repository: Path, watching: subprocess.Popen[str]) -> None:
    # The first look may still go on: what is written before it ends counts as known, so write until it is told.
    def told() -> bool:
        (repository / "new.md").write_text(f"We chose Rust. {time.monotonic()}")
        return "new.md" in paths(run)

    until(told)
    commit(repository, "code.py", "x = 1\n", "Add code")
    until(lambda: any(p.startswith("code/code.py/") for p in paths(run)))
    (repository / "new.md").unlink()
    until(lambda: "new.md" not in paths(run))
    assert "new.md" in paths(run, "--all")
    assert not [p for p in paths(run, "--all") if ".memory" in p]
    second = run("watch", "--once")
    assert (second.code, "the watch of this store is held by process" in second.err) == (4, True)
    watching.send_signal(signal.SIGTERM)
    assert watching.wait(timeout=30) == 0


def test_watch_catches_up(run: Run, repository: Path) -> None:
    commit(repository, "a.md", "A.", "Begin")
    assert run("watch", "--once").code == 0
    assert paths(run) == []
    commit(repository, "b.md", "B is new.", "Add b")
    result = run("watch", "--once")
    assert "created" in result.out
    assert "b.md" in paths(run)
    assert run("watch", "--once").out == ""
