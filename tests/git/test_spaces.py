"""A day of git with hooks installed and the store tracked: the tree stays clean, and the derived space follows."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from memcli.app import ingest as ingesting
from memcli.cli.main import main
from tests.conftest import ROOT
from tests.ingest.conftest import Repo, new_repo
from tests.local_state import rows


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@example.org")
    monkeypatch.setenv("GIT_EDITOR", "true")


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository that tracks its store, with hooks."""
    made = new_repo(tmp_path / "team")
    monkeypatch.chdir(made.root)
    made.write("app.py", "def fetch():\n    return 1\n")
    for line in (["init", "--git"], ["remember", "We chose PostgreSQL.", "--path", "db/choice"]):
        assert main([*line, "-q"]) == 0
    commit(made, "Begin")
    assert main(["hook", "install", "-q"]) == 0
    return made


def commit(repo: Repo, message: str, name: str = "", text: str = "") -> str:
    if name:
        repo.write(name, text)
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "-m", message)
    return git(repo.root, "rev-parse", "HEAD")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def is_clean(folder: Path) -> bool:
    return git(folder, "status", "--porcelain") == ""


def commits(folder: Path) -> set[str]:
    """The commits in the derived space."""
    file = folder / ".memory" / "spaces" / "repo.json"
    objects = json.loads(file.read_text())["objects"] if file.exists() else []
    return {one["provenance"]["commit"] for one in objects if one["kind"] == "diff"}


def told(folder: Path) -> list[str]:
    """The paths in the tracked space."""
    objects = json.loads((folder / ".memory" / "spaces" / "main.json").read_text())["objects"]
    return sorted(one["path"] for one in objects)


@pytest.mark.slow
def test_a_day_leaves_a_clean_tree(team: Repo, tmp_path: Path) -> None:
    root = team.root
    first = git(root, "rev-parse", "HEAD")
    assert is_clean(root)
    second = commit(team, "Add push", "push.py", "def push():\n    return 2\n")
    assert is_clean(root)
    assert commits(root) == {first, second}

    git(root, "switch", "-q", "-c", "feature")
    feature = [commit(team, f"Step {n}", "feature.py", f"def step():\n    return {n}\n") for n in range(3)]
    assert main(["remember", "The feature is behind a flag.", "--path", "feature/flag", "-q"]) == 0
    feature.append(commit(team, "Tell of the flag"))
    git(root, "switch", "-q", "main")
    assert is_clean(root)
    third = commit(team, "Add pull", "pull.py", "def pull():\n    return 3\n")
    git(root, "stash", "-u")
    team.write("push.py", "def push():\n    return 4\n")
    git(root, "stash", "-u")
    git(root, "stash", "pop")
    git(root, "checkout", "-q", "--", "push.py")
    assert is_clean(root)

    git(root, "switch", "-q", "feature")
    git(root, "rebase", "-q", "main")
    assert is_clean(root)
    rebased = set(git(root, "rev-list", "HEAD").split())
    assert commits(root) <= rebased
    assert not commits(root).intersection(feature)
    git(root, "commit", "-q", "--amend", "-m", "Tell of the flag, amended")
    git(root, "switch", "-q", "main")
    git(root, "merge", "-q", "--no-ff", "-m", "Merge the feature", "feature")
    assert is_clean(root)
    assert told(root) == ["db/choice", "feature/flag"]
    assert {first, second, third} < commits(root)

    git(root, "worktree", "add", "-q", str(tmp_path / "beside"), "-b", "beside")
    assert is_clean(root)
    assert is_clean(tmp_path / "beside")
    assert commits(tmp_path / "beside") == commits(root)

    git(root, "checkout", "-q", "HEAD~1")
    git(root, "checkout", "-q", "main")
    git(root, "reset", "-q", "--hard", "HEAD~1")
    assert is_clean(root)


def test_a_squashed_and_deleted_branch_leaves_with_the_next_commit(team: Repo) -> None:
    root = team.root
    git(root, "switch", "-q", "-c", "feature")
    steps = {commit(team, f"Step {n}", "feature.py", f"def step():\n    return {n}\n") for n in range(2)}
    kept = git(root, "rev-parse", "HEAD")
    assert main(["pin", f"code/feature.py/{kept[:10]}", "-q"]) == 0
    commit(team, "Pin")
    git(root, "switch", "-q", "main")
    git(root, "merge", "-q", "--squash", "feature")
    squashed = commit(team, "Add the feature")
    assert steps <= commits(root)
    git(root, "branch", "-q", "-D", "feature")
    last = commit(team, "Go on", "other.py", "other = 1\n")
    assert not steps & commits(root)
    assert {squashed, last} <= commits(root)
    assert told(root) == [f"code/feature.py/{kept[:10]}", "db/choice"]
    assert is_clean(root)


@pytest.mark.slow
def test_what_a_tag_or_a_remote_branch_still_has_stays(team: Repo, tmp_path: Path) -> None:
    root = team.root
    git(root, "init", "-q", "--bare", str(tmp_path / "origin.git"))
    git(root, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(root, "switch", "-q", "-c", "tagged")
    tagged = commit(team, "Tagged", "a.py", "a = 1\n")
    git(root, "tag", "v1")
    git(root, "switch", "-q", "-c", "pushed", "main")
    pushed = commit(team, "Pushed", "b.py", "b = 1\n")
    git(root, "push", "-q", "origin", "pushed")
    git(root, "switch", "-q", "main")
    git(root, "branch", "-q", "-D", "tagged", "pushed")
    commit(team, "Go on", "c.py", "c = 1\n")
    assert {tagged, pushed} <= commits(root)


def test_a_clone_builds_the_space_when_hooks_are_installed(
    team: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        commit(team, f"Change {n}", "app.py", f"def fetch():\n    return {n + 7}\n")
    git(tmp_path, "clone", "-q", str(team.root), "clone")
    clone = tmp_path / "clone"
    monkeypatch.chdir(clone)
    assert commits(clone) == set()
    assert main(["hook", "install", "-q"]) == 0
    assert commits(clone) == commits(team.root)
    objects = json.loads((clone / ".memory" / "spaces" / "repo.json").read_text())["objects"]
    assert "app.py" in {one["path"] for one in objects}
    assert rows(clone, "build") == []
    assert is_clean(clone)


@pytest.mark.slow
def test_an_interrupted_build_goes_on(team: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(5):
        commit(team, f"Change {n}", "app.py", f"def fetch():\n    return {n + 7}\n")
    git(tmp_path, "clone", "-q", str(team.root), "clone")
    monkeypatch.chdir(tmp_path / "clone")
    monkeypatch.setattr(ingesting, "_LEAST", 2)
    store, writes = ingesting.offer, list[object]()

    def fail_at_the_third(*given: object, **more: object) -> object:
        writes.append(given)
        if len(writes) == 3:
            raise OSError("killed")
        return store(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ingesting, "offer", fail_at_the_third)
    assert main(["hook", "install", "-q"]) == 0
    there = git(tmp_path / "clone", "rev-list", "--max-count=2", "HEAD").split()
    assert commits(tmp_path / "clone") == set(there)  # the newest first
    assert main(["hook", "run", "post-checkout", "-q"]) == 0
    assert commits(tmp_path / "clone") == commits(team.root)


def test_the_space_can_be_deleted_and_built_again(team: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    commit(team, "Add push", "push.py", "def push():\n    return 2\n")
    assert main(["ingest", ".", "-q"]) == 0
    file = team.root / ".memory" / "spaces" / "repo.json"
    before = {one["id"]: one["raw"] for one in json.loads(file.read_text())["objects"]}
    assert main(["space", "delete", "repo", "-q"]) == 0
    assert not file.exists()
    assert main(["ingest", "--git", "HEAD", "-q"]) == 0
    assert main(["ingest", ".", "-q"]) == 0
    assert {one["id"]: one["raw"] for one in json.loads(file.read_text())["objects"]} == before
    capsys.readouterr()
    assert main(["restore", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert not os.path.exists(team.root / ".memory" / "local" / "trash")
