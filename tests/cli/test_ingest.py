"""Ingest and watch on real repositories; a commit is not read again unless something of it is gone or would become something else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli.app import repo as repo_space
from memcli.errors import StoreError
from memcli.git.repository import Repository
from memcli.ingest import commits as reading
from tests.cli.conftest import DATE, commit, git
from tests.conftest import Run, raising


def paths(run: Run, *options: str) -> list[str]:
    return [m["path"] for m in run("list", "--json", *options).json]


def test_commits_become_memories(run: Run, repository: Path) -> None:
    commit(repository, "src/a.py", "def retry():\n    pass\n", "Retry when the network fails")
    commit(repository, "src/b.py", "x = 1\n", "Add b")
    done = run("ingest", "--git", "HEAD", "--json").json
    assert (done["created"], done["skipped"]) == (2, {})
    sizes = run("status", "--stats", "--json").json["bytes"]  # the index was made too
    assert (sizes["space"] > 0, sizes["cache"] > 0) == (True, True)
    again = run("ingest", "--git", "HEAD", "--json").json
    assert (again["created"], again["updated"], again["deduplicated"]) == (0, 0, 2)
    found = run("recall", "network retry", "--json", "--kind", "diff").json["sections"][0]
    assert found["path"].startswith("code/src/a.py/")
    assert found["metadata"]["subject"] == "Retry when the network fails"
    assert run("get", found["id"], "--json").json["created_at"] == DATE
    assert paths(run, "--kind", "diff") == sorted(paths(run))


def test_files_become_memories(run: Run, repository: Path) -> None:
    (repository / "docs").mkdir()
    (repository / "docs" / "a.md").write_text("# Deploy\n\nRun make release.\n")
    (repository / "docs" / "bin").write_bytes(b"\0\1")
    (repository / ".env").write_text("TOKEN=secret")
    (repository / ".gitignore").write_text("ignored.md\n")
    (repository / "ignored.md").write_text("x")
    done = run("ingest", "docs", ".env", "ignored.md", "--json").json
    assert (done["paths"], done["skipped"]) == (["docs/a.md"], {"binary": 1, "ignored": 2})
    (repository / "docs" / "a.md").write_text("# Deploy\n\nRun make ship.\n")
    assert run("ingest", "docs/a.md", "--json").json["updated"] == 1
    assert "make ship" in run("recall", "deploy", "--include-raw").out
    assert run("ingest", "nowhere.md").code == 3
    assert run("ingest").code == 2


SECTION = "\n## {}\n\n" + "What must be known of it. " * 40 + "\n"


def test_a_file_again_updates_its_sections_and_retires_those_that_are_gone(run: Run, repository: Path) -> None:
    guide = repository / "guide.md"
    guide.write_text("# Guide\n" + SECTION.format("Set up") + SECTION.format("Use"))
    assert run("ingest", "guide.md", "--json").json["created"] == 2
    guide.write_text("# Guide\n" + SECTION.format("Set up") + "More.\n" + SECTION.format("Remove"))
    done = run("ingest", "guide.md", "--json").json
    assert (done["created"], done["updated"], done["retired"]) == (1, 1, 1)
    assert paths(run) == ["guide.md/remove", "guide.md/set-up"]
    assert paths(run, "--all") == ["guide.md/remove", "guide.md/set-up"]
    assert run("ingest", "guide.md", "--json").json["deduplicated"] == 2
    guide.write_text("# Guide\n\nShort now.\n")
    assert run("ingest", "guide.md").out == "1 created, 0 updated, 2 retired, 0 unchanged\n"
    guide.write_text("# Guide\n" + SECTION.format("Set up") + SECTION.format("Use"))
    run("ingest", "guide.md")
    assert paths(run) == ["guide.md/set-up", "guide.md/use"]
    guide.write_text("")
    assert run("ingest", "guide.md", "--json").json["retired"] == 2
    assert not (repository / ".memory" / "local" / "trash").exists()


def test_what_is_staged_until_it_is_committed_or_unstaged(run: Run, repository: Path) -> None:
    commit(repository, "a.py", "x = 1\n", "Begin")
    for name in ("a.py", "b.py"):
        (repository / name).write_text("x = 2\n")
        git(repository, "add", name)
    assert run("ingest", "--staged", "--json").json["created"] == 2
    assert paths(run) == ["staged/a.py", "staged/b.py"]
    assert run("ingest", "--staged", "--json").json["deduplicated"] == 2
    git(repository, "reset", "-q", "b.py")
    assert run("ingest", "--staged", "--json").json["retired"] == 1
    git(repository, "commit", "-q", "-m", "Two")
    assert run("ingest", "--since", "HEAD~1", "--json").json["retired"] == 1
    assert [path.rpartition("/")[0] for path in paths(run)] == ["code/a.py"]


def test_a_list_of_files_on_standard_input(run: Run, repository: Path) -> None:
    for name in ("a.md", "line\nbreak.md"):
        (repository / name).write_text(f"About {name}.\n")
    given = b"a.md\0line\nbreak.md\0never.md\0"
    done = run("ingest", "--stdin0", "--json", stdin=given).json
    assert (done["created"], done["skipped"]) == (2, {"vanished": 1})
    (repository / "a.md").unlink()
    assert run("ingest", "--stdin0", "--json", stdin=given).json["retired"] == 1
    assert run("ingest", "--stdin0", "--json", stdin=b"").json["created"] == 0
    assert run("ingest", "--stdin0", "a.md", stdin=b"").code == 2


def test_the_order_of_ingests_makes_no_difference(run: Run, repository: Path) -> None:
    for n in range(4):
        commit(repository, "a.py", f"x = {n}\n", f"Set {n}")
    run("ingest", "--git", "HEAD~2..")
    run("ingest", "--git", "HEAD~2")
    stored = (repository / ".memory" / "spaces" / "repo.json").read_bytes()
    assert run("ingest", "--git", "HEAD", "--json").json["deduplicated"] == 4
    assert (repository / ".memory" / "spaces" / "repo.json").read_bytes() == stored


def test_watch_forgets_commits_that_nothing_leads_to_any_more(run: Run, repository: Path) -> None:
    (repository / ".git" / "info" / "exclude").write_text(".memory/\n")
    commit(repository, "a.md", "A.", "Begin")
    commit(repository, "b.md", "B.", "Wrong mesage")
    run("watch", "--once")
    git(repository, "commit", "-q", "--amend", "-m", "Right message")
    commit(repository, "d.md", "D.", "A mistake")
    run("watch", "--once")
    git(repository, "reset", "-q", "--hard", "HEAD~1")
    run("watch", "--once")
    found = run("list", "--kind", "diff", "--json").json
    assert {m["summary_micro"].split(" (")[0] for m in found} == {"Right message"}


def test_a_folder_again_retires_what_is_there_no_more(run: Run, repository: Path) -> None:
    for name in ("docs/a.md", "docs/b.md", "docs/c.md", "src/x.py"):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(f"Text of {name}.\n")
    run("ingest", "docs", "src")
    run("remember", "Somebody's own.", "--path", "docs/a.md/own", "--meta", "source=docs/other.md")
    (repository / "docs/a.md").unlink()
    (repository / "docs/b.md").unlink()
    (repository / "docs/b.md").symlink_to("/etc/hostname")
    (repository / "src/x.py").unlink()
    assert run("ingest", "docs", "--dry-run", "--json").json["retired"] == 0
    assert run("ingest", "docs", "--json").json["retired"] == 2
    assert paths(run) == ["docs/a.md/own"]
    assert sorted(paths(run, "-s", "repo")) == ["docs/c.md", "src/x.py"]
    assert run("ingest", "docs", "--json").json["retired"] == 0


def test_an_ingest_that_stops_says_what_it_stored(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nThe first file.\n")
    run("init")
    with monkeypatch.context() as patch:
        patch.setattr(
            "memcli.app.ingest.retire_missing",
            raising(StoreError("cannot open the lock of space 'main': Input/output error", "nothing was changed")),
        )
        stopped = run("ingest", "docs")
    assert stopped.code == 8
    assert stopped.err == (
        "memcli: stopped after 1 created: cannot open the lock of space 'main': Input/output error "
        "(run the command again to do the rest)\n"
    )
    assert "0 created, 0 updated, 1 unchanged" in run("ingest", "docs").out


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


def test_the_store_of_the_repository_around_is_not_that_of_a_nested_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").rmdir()
    for folder in (tmp_path, tmp_path / "sub"):
        folder.mkdir(exist_ok=True)
        git(folder, "init", "-q", "-b", "main")
        (folder / "README.md").write_text(f"The text of {folder.name}.\n")
        git(folder, "add", "README.md")
        git(folder, "commit", "-q", "-m", "one")
    run("init")
    run("ingest", "README.md")
    monkeypatch.chdir(tmp_path / "sub")
    for what in (["."], ["--git", "HEAD"], ["--staged"]):
        done = run("ingest", *what)
        assert (done.code, done.out) == (2, "")
        assert "this folder is in another repository than the store at" in done.err
    assert "sub" not in run("list", "-s", "repo", "--json").out
    assert run("ingest", "README.md", "--root", str(tmp_path / ".memory")).code == 0


def test_what_a_partial_clone_lacks_is_not_fetched_but_said(
    run: Run, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, "a.txt", "x\n", "one")
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", repository.as_uri(), "partial")
    monkeypatch.chdir(tmp_path / "partial")
    run("init")
    done = run("ingest", "--git", "HEAD")
    assert (done.code, done.out) == (7, "")
    assert "a partial clone lacks files, and memcli fetches nothing" in done.err
    git(tmp_path / "partial", "log", "-p")
    assert run("ingest", "--git", "HEAD", "--json").json["created"] == 1
