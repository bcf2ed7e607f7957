"""A commit that was ingested is not read again, unless something of it is gone or it would become something else now."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli.app import repo as repo_space
from memcli.git.repository import Repository
from memcli.ingest import commits as reading
from tests.cli.conftest import commit, git
from tests.conftest import Run


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The subjects of the commits that are read."""
    found: list[str] = []
    real = reading.read_log

    def noted(blocks: Any) -> Any:
        for one, diffs in real(blocks):
            found.append(one.message.partition("\n")[0])
            yield one, diffs

    monkeypatch.setattr(reading, "read_log", noted)
    return found


@pytest.fixture
def history(repository: Path, run: Run, read: list[str]) -> Path:
    """Four commits, two of them without memories, all of them ingested."""
    (repository / ".git/info/exclude").write_text(".memory/\n")
    commit(repository, "a.py", "a = 1\n", "One")
    commit(repository, "poetry.lock", "x = 1\n", "Lock")
    commit(repository, "b.py", "b = 1\n", "Two")
    assert run("ingest", "--git", "HEAD", "--json").json["created"] == 2
    assert read == ["Two", "Lock", "One"]
    read.clear()
    return repository


def counts(run: Run, *options: str) -> tuple[int, int, int, int]:
    done = run("ingest", *(options or ("--git", "HEAD")), "--json").json
    return done["created"], done["updated"], done["deduplicated"], done["retired"]


def test_nothing_is_read_twice(history: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Repository, "stream", lambda *_, **__: pytest.fail("a log was read"))
    monkeypatch.setattr(repo_space, "sync", lambda *_: pytest.fail("the spaces were compared"))
    before = (history / ".memory/spaces/repo.json").read_bytes()
    assert counts(run) == (0, 0, 2, 0)
    assert counts(run, "--since", "HEAD~1") == (0, 0, 1, 0)
    assert (history / ".memory/spaces/repo.json").read_bytes() == before


def test_only_what_is_new_is_read(history: Path, run: Run, read: list[str]) -> None:
    commit(history, "c.py", "c = 1\n", "Three")
    assert counts(run, "--git", "HEAD~2..") == (1, 0, 1, 0)
    commit(history, "d.py", "d = 1\n", "Four")
    assert counts(run) == (1, 0, 3, 0)
    assert read == ["Three", "Four"]


def test_what_a_hook_has_ingested_is_known(
    history: Path, run: Run, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    commit(history, "c.py", "c = 1\n", "Three")
    assert run("hook", "run", "post-commit").code == 0
    assert counts(run) == (0, 0, 3, 0)
    assert read == ["Three"]


def _cache(folder: Path, _: Run) -> None:
    shutil.rmtree(folder / ".memory/cache")


def _note(folder: Path, _: Run) -> None:
    (folder / ".memory/cache/repo.commits").write_bytes(b"\xff\x00 1 2 3\n4\n")


def _rules(folder: Path, _: Run) -> None:
    (folder / ".secretsignore").write_text("nothing\n")


def _policy(_: Path, run: Run) -> None:
    assert run("space", "policy", "main", "--set", "ttl_days=90").code == 0


@pytest.mark.parametrize("lose", [_cache, _note, _rules, _policy])
def test_without_a_note_that_holds_all_is_read_again(
    history: Path, run: Run, read: list[str], lose: Callable[[Path, Run], None]
) -> None:
    lose(history, run)
    assert counts(run) == (0, 0, 2, 0)
    assert read == ["Two", "Lock", "One"]
    assert counts(run) == (0, 0, 2, 0)
    assert len(read) == 3


def test_a_space_that_was_deleted_is_read_again(history: Path, run: Run, read: list[str]) -> None:
    (history / ".memory/spaces/repo.json").unlink()
    assert counts(run) == (2, 0, 0, 0)
    assert read == ["Two", "One"]  # that the other has nothing to tell is known


def test_one_memory_that_is_gone_comes_back(history: Path, run: Run, read: list[str]) -> None:
    file = history / ".memory/spaces/repo.json"
    space = json.loads(file.read_text())
    space["objects"] = [one for one in space["objects"] if one["metadata"]["subject"] != "One"]
    file.write_text(json.dumps(space, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    assert counts(run) == (1, 0, 1, 0)
    assert read == ["One"]


def test_a_commit_that_is_lost_leaves_and_comes_back(history: Path, run: Run, read: list[str]) -> None:
    git(history, "branch", "kept")
    git(history, "reset", "-q", "--hard", "HEAD~1")
    assert counts(run) == (0, 0, 1, 0)  # a branch leads to it
    git(history, "branch", "-D", "kept")
    assert counts(run) == (0, 0, 1, 1)
    git(history, "reset", "-q", "--hard", "HEAD@{1}")
    assert counts(run) == (1, 0, 1, 0)
    assert read == ["Two"]


def test_another_space_knows_nothing_of_it(history: Path, run: Run, read: list[str]) -> None:
    assert counts(run, "--git", "HEAD", "--space", "notes") == (2, 0, 0, 0)
    assert counts(run, "--git", "HEAD", "--space", "notes") == (0, 0, 2, 0)
    assert len(read) == 3


def test_a_dry_run_and_a_proposal_read_all(history: Path, run: Run, read: list[str]) -> None:
    assert len(run("ingest", "--git", "HEAD", "--dry-run", "--json").json["paths"]) == 2
    assert run("ingest", "--git", "HEAD", "--propose", "--json").json["proposed"] == 2
    assert len(read) == 6
    assert counts(run) == (0, 0, 2, 0)
