"""Several stores in one repository: git calls its hooks at the top, and each store gets the commits of its folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.ingest.commits import CommitSource
from tests.store.test_place import git
from tests.store.test_private import memcli, repository


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with stores in `pkg/a` and `pkg/b`, and the hooks."""
    folder = repository(tmp_path / "shop")
    for name in ("a", "b"):
        (folder / "pkg" / name).mkdir(parents=True)
        assert memcli(folder, "init", "--root", f"pkg/{name}").returncode == 0
        told = memcli(
            folder / "pkg" / name, "remember", f"Package {name} has no dependencies.", "--path", "rules/plain"
        )
        assert told.returncode == 0
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    assert memcli(folder / "pkg" / "a", "hook", "install").returncode == 0
    return folder


def commit(folder: Path, message: str, **files: str) -> None:
    for name, text in files.items():
        path = folder / "pkg" / name / "code.py"
        path.write_text(text)
        git(folder, "add", str(path))
    git(folder, "commit", "-qm", message)


def subjects(store: Path) -> set[str]:
    listed = json.loads(memcli(store, "list", "-s", "repo", "--json").stdout or "[]")
    return {one["summary_micro"] for one in listed if one["kind"] == "diff"}


def test_each_store_gets_the_commits_of_its_folder(stores: Path) -> None:
    commit(stores, "Count the visitors", a="def count(visitors):\n    return len(visitors)\n")
    commit(stores, "Print the bill", b="def print_bill(bill):\n    print(bill.total)\n")
    commit(
        stores,
        "Rename both",
        a="def tally(visitors):\n    return len(visitors)\n",
        b="def show_bill(bill):\n    pass\n",
    )
    first, second = subjects(stores / "pkg" / "a"), subjects(stores / "pkg" / "b")
    assert {name.partition(" (")[0] for name in first} == {"Count the visitors", "Rename both"}
    assert {name.partition(" (")[0] for name in second} == {"Print the bill", "Rename both"}
    assert all("pkg/a" in name for name in first if "(" in name)
    assert not any("pkg/a" in name for name in second)


def test_a_rebuild_makes_the_same(stores: Path) -> None:
    commit(stores, "Count the visitors", a="def count(visitors):\n    return len(visitors)\n", b="b = 1\n")
    commit(stores, "Print the bill", b="def print_bill(bill):\n    print(bill.total)\n")
    store = stores / "pkg" / "a"
    before = subjects(store)
    (store / ".memory" / "spaces" / "repo.json").unlink()
    assert memcli(store, "ingest", "--git", "HEAD").returncode == 0
    assert subjects(store) == before


def test_who_removes_the_hooks_hears_of_the_other_stores(stores: Path) -> None:
    told = memcli(stores / "pkg" / "a", "hook", "uninstall")
    assert f"the hooks also worked for {stores / 'pkg' / 'b' / '.memory'}, as git" in told.stderr
    assert "also worked" not in memcli(stores / "pkg" / "a", "hook", "uninstall").stderr
    assert memcli(stores / "pkg" / "b", "hook", "install").returncode == 0
    told = memcli(stores, "hook", "uninstall", "--root", "pkg/b")
    assert f"the hooks also worked for {stores / 'pkg' / 'a' / '.memory'}, as git" in told.stderr


def test_a_store_outside_of_the_work_tree_takes_all(stores: Path, tmp_path: Path) -> None:
    commit(stores, "Print the bill", b="def print_bill(bill):\n    print(bill.total)\n")
    source = CommitSource(str(stores), "HEAD", within=str(tmp_path / "elsewhere"))
    assert source.total() == CommitSource(str(stores), "HEAD").total() == 2
    assert CommitSource(str(stores), "HEAD", within=str(stores / "pkg" / "a")).total() == 0
