"""What changed since commits: asked at once as asked one by one; and files that were deleted."""

import pytest

from memcli.git.work_tree import changes_since, changes_since_each, deletions, existing_files
from tests.ingest.conftest import Repo

TEXT = "".join(f"line {n}\n" for n in range(20))


@pytest.fixture
def past(repo: Repo) -> list[str]:
    """The commits of a repository in which files are renamed, edited and deleted."""
    commits = [repo.commit("one", {"a.py": TEXT, "b.py": TEXT + "b\n", "é \n.py": "x\n"})]
    repo.git("mv", "a.py", "c.py")
    commits.append(repo.commit("two", {"b.py": "y\n"}))
    repo.git("mv", "c.py", "d.py")
    commits.append(repo.commit("three", {"new.py": TEXT.upper()}))
    repo.git("rm", "-q", "b.py")
    return [*commits, repo.commit("four"), repo.commit("five")]


def test_all_commits_at_once_tell_what_each_tells(repo: Repo, past: list[str]) -> None:
    each = changes_since_each(str(repo.root), past)
    assert each == {commit: changes_since(str(repo.root), commit) for commit in past}
    assert each[past[0]].renamed == {"a.py": "d.py"}
    assert each[past[-1]] == ({}, ())


def test_what_is_no_commit_is_left_out(repo: Repo, past: list[str]) -> None:
    blob = repo.git("rev-parse", "HEAD:d.py")
    asked = ["HEAD", "--all", "f" * 40, blob, "a\nb", past[0]]
    assert list(changes_since_each(str(repo.root), asked)) == [past[0]]


def test_nothing_is_told_at_once_where_something_is_staged(repo: Repo, past: list[str]) -> None:
    repo.write("d.py", "z\n")
    assert changes_since_each(str(repo.root), past) != {}
    repo.git("add", "d.py")
    assert changes_since_each(str(repo.root), past) == {}


def test_deletions_are_told_with_the_commit_that_had_the_file(repo: Repo, past: list[str]) -> None:
    (repo.root / "new.py").unlink()
    found = deletions(str(repo.root), "2000-01-01T00:00:00Z")
    assert [(file, commit) for file, commit, _ in found] == [
        ("new.py", "HEAD"), ("b.py", past[2]), ("c.py", past[1]), ("a.py", past[0]),
    ]  # fmt: skip
    assert [bool(time) for *_, time in found] == [False, True, True, True]
    assert sorted(existing_files(str(repo.root))) == ["d.py", "é \n.py"]
