"""What was read from the repository is as old as what it was read from."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.git import work_tree
from memcli.git.work_tree import dates_of
from memcli.ingest.files import FileSource
from tests.ingest.conftest import Repo, unchanged
from tests.ingest.conftest import repo as repo  # noqa: PLC0414 - a fixture is taken over by its name


def contents(repo: Repo) -> dict[str, bytes]:
    files = repo.git("ls-files", "-z").split("\0")
    return {name: (repo.root / name).read_bytes() for name in files if name and (repo.root / name).is_file()}


@pytest.mark.parametrize("few", [0, 20])
def test_the_date_of_the_last_commit(repo: Repo, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_tree, "_FEW", few)
    repo.commit("one", {"a.md": "a\n", "é b\n.md": "b\n", "c.md": "c\n", "[x]*.md": "x\n"})
    repo.commit("two", {"c.md": "c 2\n"})
    repo.commit("three", {"d.md": "d\n"})
    (repo.root / "d.md").write_text("edited\n")
    found = dates_of(str(repo.root), contents(repo))
    first, second = (repo.git("log", "-1", "--format=%aI", commit) for commit in ("HEAD~2", "HEAD~1"))
    assert found == {"a.md": first, "c.md": second, "[x]*.md": first}


def test_without_git(tmp_path: Path) -> None:
    assert dates_of(str(tmp_path), {"a.md": b"a"}) == {}


def test_a_file_has_the_date_of_its_commit(repo: Repo) -> None:
    repo.commit("one", {"a.md": "# A\n\nText.\n"})
    repo.write("b.md", "# B\n\nNot committed.\n")
    found = {
        str(one["path"]): one.get("created_at")
        for one in FileSource([str(repo.root)], str(repo.root), unchanged).candidates()
    }
    assert found == {"a.md": "2025-12-31T22:00:00Z", "b.md": None}


def test_a_section_of_a_changelog_has_the_date_of_its_release(repo: Repo) -> None:
    headings = ("1.3.0 (6th December, 2024)", "[1.2] - 2024-03-01", "v1.1.0", "1.0.0", "Unreleased")
    text = "\n".join(f"## {title}\n\n- {'A change. ' * 60}\n\n### Fixed\n\n- {'More. ' * 120}\n" for title in headings)
    repo.commit("one", {"a.md": "a\n"})
    repo.git("tag", "v1.1")
    tagged = repo.git("log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd")
    repo.commit("two", {"CHANGELOG.md": text, "notes.md": text})
    found = {
        str(one["path"]): one["created_at"]
        for one in FileSource([str(repo.root)], str(repo.root), unchanged).candidates()
    }
    of_file = found.pop("notes.md/v1-1-0")
    assert {moment for path, moment in found.items() if path.startswith("notes.md")} == {of_file}
    released = {
        "1-3-0-6th-december-2024": "2024-12-06T00:00:00Z", "1-2-2024-03-01": "2024-03-01T00:00:00Z", "v1-1-0": tagged,
        "1-0-0": of_file, "unreleased": of_file,
    }  # fmt: skip
    sections = {f"CHANGELOG.md/{name}{part}": at for name, at in released.items() for part in ("", "/fixed")}
    assert {path: moment for path, moment in found.items() if "CHANGE" in path} == sections
