from __future__ import annotations

import pytest

from memcli.ingest.commits import CommitSource, StagedSource
from tests.ingest.conftest import Repo, memories


def staged(repo: Repo) -> list[dict]:
    return memories(StagedSource(str(repo.root)).candidates())


def test_what_is_staged_and_nothing_else(repo: Repo):
    repo.commit("one", {"a.py": "def run():\n    a = 1\n    return a\n", "b.txt": "b\n"})
    repo.write("a.py", "def run():\n    a = 2\n    return a\n")
    repo.git("add", "a.py")
    repo.write("a.py", "def run():\n    a = 3\n    return a\n")
    repo.write("b.txt", "not staged\n")
    (found,) = staged(repo)
    assert (found["path"], found["kind"], found["summary_micro"]) == ("staged/a.py", "diff", "Staged (a.py: run)")
    assert found["raw"] == "a.py\n@@\n def run():\n-    a = 1\n+    a = 2\n     return a"
    assert found["metadata"]["group"] == "staged"
    assert "commit" not in found["provenance"]
    assert "created_at" not in found


def test_nothing_staged_still_says_that_it_is_nothing(repo: Repo):
    repo.commit("one", {"a.txt": "a\n"})
    assert list(StagedSource(str(repo.root)).candidates()) == [{"replaces": [{"under": "staged", "group": "staged"}]}]


def test_before_the_first_commit(repo: Repo):
    repo.write("a.txt", "a\n")
    repo.git("add", "a.txt")
    assert [f["metadata"]["status"] for f in staged(repo)] == ["added"]


def test_a_commit_replaces_what_was_staged_of_its_files(repo: Repo):
    repo.commit("one", {"d/a.txt": "a\n"})
    found, _ = CommitSource(str(repo.root), "HEAD").candidates()
    assert found["replaces"] == [{"under": "staged/d/a.txt", "group": "staged"}]


def test_renames_deletions_modes_links_binaries_and_secrets(repo: Repo):
    repo.commit("one", {"old.txt": "same\n" * 9, "gone.txt": "x\n", "run.sh": "echo\n"})
    repo.git("mv", "old.txt", "new.txt")
    repo.git("rm", "-q", "gone.txt")
    (repo.root / "run.sh").chmod(0o755)
    (repo.root / "link").symlink_to("nowhere")
    repo.write("bin", b"\0\1\2")
    repo.write(".env", "KEY=swordfish\n")
    repo.git("add", "-A", "-f")
    source = StagedSource(str(repo.root))
    found = {f["metadata"]["source"]: f["metadata"]["status"] for f in memories(source.candidates())}
    assert found == {"new.txt": "renamed", "gone.txt": "deleted"}
    assert source.skipped == {"mode": 1, "link": 1, "binary": 1, "ignored": 1}


def test_files_in_conflict_are_counted(repo: Repo):
    repo.commit("base", {"a.txt": "a\n", "z.txt": "z\n"})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("theirs", {"a.txt": "theirs\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("ours", {"a.txt": "ours\n"})
    with pytest.raises(AssertionError):
        repo.git("merge", "-q", "side")
    for name in ("A.txt", "z.txt"):
        repo.write(name, "changed\n")
        repo.git("add", name)
    source = StagedSource(str(repo.root))
    found = memories(source.candidates())
    changed = {f["metadata"]["source"]: f["raw"].splitlines()[-1] for f in found}
    assert changed == dict.fromkeys(("A.txt", "z.txt"), "+changed")
    assert source.skipped == {"conflict": 1}


def test_a_tiny_commit_is_one_memory(repo: Repo):
    files = {f"d/{name}.py": "a = 1\nversion = 1\n" for name in "abcd"}
    repo.commit("one", files)
    last = repo.commit("Version two", dict.fromkeys(list(files)[:3], "a = 1\nversion = 2\n"))
    repo.commit("four files", dict.fromkeys(files, "a = 1\nversion = 3\n"))
    found = memories(CommitSource(str(repo.root), "HEAD~2..").candidates())
    assert len(found) == 5
    tiny = found[-1]
    assert tiny["path"] == f"code/d/a.py/{last[:10]}"
    assert tiny["provenance"]["files"] == ["d/a.py", "d/b.py", "d/c.py"]
    assert (tiny["metadata"]["added"], tiny["metadata"]["removed"]) == (3, 3)
    assert tiny["summary_micro"] == "Version two (d/a.py, d/b.py, d/c.py)"
    assert tiny["raw"].count("+version = 2") == 3
