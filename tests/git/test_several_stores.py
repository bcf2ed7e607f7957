"""Several stores in one repository: git calls its hooks at the top, and each store gets the commits of its folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.ingest.commits import CommitSource
from tests.faults.scene import Ended
from tests.store.conftest import git, memcli, repository


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with stores in `pkg/a` and `pkg/b`, and the hooks."""
    folder = repository(tmp_path / "shop")
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    for name in ("a", "b"):
        (folder / "pkg" / name).mkdir(parents=True)
        done(folder, "init", "--root", f"pkg/{name}")
        done(folder / "pkg" / name, "remember", f"Package {name} has no dependencies.", "--path", "rules/plain")
    done(folder / "pkg" / "a", "hook", "install")
    return folder


def done(folder: Path, *arguments: str) -> Ended:
    ended = memcli(folder, *arguments)
    assert ended.code == 0, ended
    return ended


def commit(folder: Path, message: str, **files: str) -> None:
    for name, text in files.items():
        path = folder / "pkg" / name / "code.py"
        path.write_text(text)
        git(folder, "add", str(path))
    git(folder, "commit", "-qm", message)


def subjects(store: Path) -> set[str]:
    listed = json.loads(memcli(store, "list", "-s", "repo", "--json").out or "[]")
    return {one["summary_micro"] for one in listed if one["kind"] == "diff"}


def test_each_store_gets_the_commits_of_its_folder_and_a_rebuild_makes_the_same(stores: Path) -> None:
    commit(stores, "Count the visitors", a="def count(visitors):\n    return len(visitors)\n")
    commit(stores, "Print the bill", b="def print_bill(bill):\n    print(bill.total)\n")
    tally = "def tally(visitors):\n    return len(visitors)\n"
    commit(stores, "Rename both", a=tally, b="def show_bill(bill):\n    pass\n")
    first, second = subjects(stores / "pkg" / "a"), subjects(stores / "pkg" / "b")
    assert {name.partition(" (")[0] for name in first} == {"Count the visitors", "Rename both"}
    assert {name.partition(" (")[0] for name in second} == {"Print the bill", "Rename both"}
    assert all("pkg/a" in name for name in first if "(" in name)
    assert not any("pkg/a" in name for name in second)
    (stores / "pkg" / "a" / ".memory" / "spaces" / "repo.json").unlink()
    done(stores / "pkg" / "a", "ingest", "--git", "HEAD")
    assert subjects(stores / "pkg" / "a") == first


def test_who_removes_the_hooks_hears_of_the_other_stores(stores: Path) -> None:
    a, b = (stores / "pkg" / name for name in "ab")
    assert f"the hooks also worked for {b / '.memory'}, as git" in memcli(a, "hook", "uninstall").err
    assert "also worked" not in memcli(a, "hook", "uninstall").err
    done(b, "hook", "install")
    told = memcli(stores, "hook", "uninstall", "--root", "pkg/b").err
    assert f"the hooks also worked for {a / '.memory'}, as git" in told


def test_a_store_outside_of_the_work_tree_takes_all(stores: Path, tmp_path: Path) -> None:
    commit(stores, "Print the bill", b="def print_bill(bill):\n    print(bill.total)\n")
    source = CommitSource(str(stores), "HEAD", within=str(tmp_path / "elsewhere"))
    assert source.total() == CommitSource(str(stores), "HEAD").total() == 2
    assert CommitSource(str(stores), "HEAD", within=str(stores / "pkg" / "a")).total() == 0
