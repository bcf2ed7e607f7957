"""Ingest and watch, through the command line, on real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.errors import StoreError
from tests.cli.conftest import DATE, commit, git
from tests.conftest import Run


def paths(run: Run, *options: str) -> list[str]:
    return [m["path"] for m in run("list", "--json", *options).json]


def test_commits_become_memories(run: Run, repository: Path) -> None:
    commit(repository, "src/a.py", "def retry():\n    pass\n", "Retry when the network fails")
    commit(repository, "src/b.py", "x = 1\n", "Add b")
    done = run("ingest", "--git", "HEAD", "--json").json
    assert (done["created"], done["skipped"]) == (2, {})
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


def test_a_dry_run_stores_nothing(run: Run, repository: Path) -> None:
    run("init")
    (repository / "a.md").write_text("Text.")
    assert run("ingest", "a.md", "--dry-run").out == "a.md\n1 would be ingested\n"
    assert paths(run) == []


def test_watch_forgets_commits_that_nothing_leads_to_any_more(run: Run, repository: Path) -> None:
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "exclude").write_text(".memory/\n")
    commit(repository, "a.md", "A.", "Begin")
    run("watch", "--once")
    commit(repository, "b.md", "B.", "Wrong mesage")
    run("watch", "--once")
    git(repository, "commit", "-q", "--amend", "-m", "Right message")
    run("watch", "--once")
    git(repository, "checkout", "-q", "-b", "side")
    commit(repository, "c.md", "C.", "On the side")
    run("watch", "--once")
    git(repository, "checkout", "-q", "-")
    run("watch", "--once")

    def subjects() -> set[str]:
        return {m["summary_micro"].split(" (")[0] for m in run("list", "--kind", "diff", "--json").json}

    assert subjects() == {"Right message", "On the side"}
    commit(repository, "d.md", "D.", "A mistake")
    run("watch", "--once")
    assert "A mistake" in subjects()
    git(repository, "reset", "-q", "--hard", "HEAD~1")
    run("watch", "--once")
    assert subjects() == {"Right message", "On the side"}


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
    paths = [m["path"] for m in run("list", "--json").json]
    assert [p for p in paths if p.startswith(("docs", "src"))] == ["docs/a.md/own", "docs/c.md", "src/x.py"]
    assert run("ingest", "docs", "--json").json["retired"] == 0


def test_an_ingest_that_stops_says_what_it_stored(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nThe first file.\n")
    run("init")

    def fail(*_: object) -> int:
        raise StoreError("cannot open the lock of space 'main': Input/output error", "nothing was changed")

    with monkeypatch.context() as patch:
        patch.setattr("memcli.app.ingest.retire_missing", fail)
        stopped = run("ingest", "docs")
    assert stopped.code == 8
    assert stopped.err == (
        "memcli: stopped after 1 created: cannot open the lock of space 'main': Input/output error "
        "(run the command again to do the rest)\n"
    )
    assert "0 created, 0 updated, 1 unchanged" in run("ingest", "docs").out
