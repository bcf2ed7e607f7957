"""`memcli store copy`: whole spaces, between folders and servers, without loss."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memcli.codec.run import run_bytes
from memcli.extras.postgres.opening import close_servers
from tests.conftest import NOW, Run, memory, open_at, rewrite
from tests.servers import new_schema

ANOTHER = "remember", "We never deploy on Fridays.", "--path", "ops/friday"


@pytest.fixture(params=["folder", "server"])
def there(request: pytest.FixtureRequest, tmp_path: Path):  # type: ignore[no-untyped-def]
    """What names another store: a folder, or a schema of a server."""
    if request.param == "folder":
        yield str(tmp_path / "there")
        return
    url = request.getfixturevalue("postgres")
    with new_schema(url) as schema:
        yield f"{url}{'&' if '?' in url else '?'}schema={schema}"
        close_servers()


@pytest.fixture
def stored(run: Run) -> Run:
    """A store with two spaces, a policy, a link, a trash and a log."""
    run("remember", "We chose PostgreSQL.", "--path", "db/choice", "--kind", "decision")
    run("remember", "Never push to main.", "--path", "git/never")
    run("remember", "A leak.", "--path", "old/leak")
    run("remember", "Of the team.", "--path", "x/y", "-s", "team")
    run("space", "policy", "team", "--set", "ttl_days=30")
    run("link", "db/choice", "git/never")
    run("forget", "git/never", "--purge", "--yes")
    run("forget", "old/leak", "--purge", "--now", "--yes")
    return run


def _spaces(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / ".memory" / "spaces").glob("*.json")}


def _trash(folder: Path) -> dict[str, bytes]:
    runs = open_at(folder).trash.runs()
    return {run.name: run_bytes(run) for run in runs}


def test_there_and_back_nothing_is_lost(stored: Run, tmp_path: Path, there: str) -> None:
    ours = _spaces(tmp_path)
    log = (tmp_path / ".memory" / "local" / "audit" / "main.jsonl").read_bytes()
    done = stored("store", "copy", ".", there, "--json").json
    assert [(one["space"], one["written"], one["runs"]) for one in done] == [("main", 1, 1), ("team", 1, 0)]
    second = stored("store", "copy", ".", there, "--json").json
    assert [one["hash"] for one in second] == [one["hash"] for one in done]
    assert {(one["written"], one["removed"], one["runs"], one["entries"]) for one in second} == {(0, 0, 0, 0)}
    assert stored("store", "copy", there, str(tmp_path / "back")).code == 0
    assert _spaces(tmp_path / "back") == ours
    assert _trash(tmp_path / "back") == _trash(tmp_path) != {}
    copied = (tmp_path / "back" / ".memory" / "local" / "audit" / "main.jsonl").read_bytes()
    assert copied.startswith(log)
    assert stored("store", "audit", "--verify", "--root", str(tmp_path / "back")).code == 0
    assert b"old/leak" not in copied
    assert stored("export", "--out", "-").out == stored("export", "--out", "-", "--root", str(tmp_path / "back")).out


def test_a_copy_that_was_interrupted_goes_on(
    stored: Run, tmp_path: Path, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite(open_at(tmp_path).store, lambda space: space.put([memory(f"m{n}") for n in range(5)], NOW))
    monkeypatch.setattr("memcli.extras.stores.copying.BATCH", 2)
    monkeypatch.setattr("memcli.extras.stores.command.ProgressBar", lambda *_: _Stops())
    assert stored("store", "copy", ".", there).code != 0
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    done = stored("store", "copy", ".", there, "--json").json[0]
    assert done["objects"] == 6
    assert done["written"] == (4 if "://" in there else 0)
    assert stored("store", "copy", there, str(tmp_path / "back")).code == 0
    assert _spaces(tmp_path / "back") == _spaces(tmp_path)


class _Stops:
    def __call__(self, done: int, total: int) -> None:
        raise KeyboardInterrupt

    def close(self) -> None:
        pass


def test_what_differs_is_refused_unless_a_mode_is_given(stored: Run, tmp_path: Path, there: str) -> None:
    stored("store", "copy", ".", there)
    stored("edit", "db/choice", "--set", "kind=fact", "--freeze-clock", "2026-02-01T00:00:00Z")
    refused = stored("store", "copy", ".", there)
    assert (refused.code, "differ" in refused.err) == (5, True)
    assert stored("store", "copy", ".", there, "--mode", "merge").code == 0
    assert stored("store", "copy", there, str(tmp_path / "back")).code == 0
    back = open_at(tmp_path / "back").store.open("main").load()
    assert [m.kind for m in back.objects] == ["fact"]


def test_a_newer_format_is_refused_before_anything_is_copied(stored: Run, tmp_path: Path, there: str) -> None:
    file = tmp_path / ".memory" / "spaces" / "team.json"
    file.write_text(file.read_text().replace('"version": 2', '"version": 99'))
    refused = stored("store", "copy", ".", there)
    assert (refused.code, "space 'team': written by a newer memcli (format version 99" in refused.err) == (6, True)
    if there.startswith("postgresql"):
        assert stored("store", "copy", there, str(tmp_path / "back")).out == "nothing to copy\n"
    else:
        assert not (Path(there) / ".memory").exists()


def test_replace_removes_what_the_source_does_not_have_and_needs_consent(
    stored: Run, tmp_path: Path, there: str
) -> None:
    stored(*ANOTHER)
    stored("store", "copy", ".", there)
    stored("space", "policy", "main", "--set", "allow_delete=true")
    stored("forget", "ops/friday", "--purge", "--yes")
    refused = stored("store", "copy", ".", there, "--mode", "replace")
    assert (refused.code, "allow_delete" in refused.err) == (5, True)
    assert stored("store", "copy", there, str(tmp_path / "back")).code == 0
    assert len(open_at(tmp_path / "back").store.open("main").load().objects) == 2


def test_what_is_of_this_machine_alone_is_not_copied(stored: Run, tmp_path: Path) -> None:
    stored("remember", "Read from a file.", "-s", "repo", "--path", "read/one")
    stored("session", "start")
    stored("store", "copy", ".", str(tmp_path / "there"))
    assert sorted(_spaces(tmp_path / "there")) == ["main.json", "team.json"]
    assert not (tmp_path / "there" / ".memory" / "local" / "sessions").exists()


def test_a_private_space_does_not_go_to_a_server(stored: Run, tmp_path: Path, there: str) -> None:
    stored("space", "policy", "team", "--set", "visibility=private")
    done = stored("store", "copy", ".", there)
    if "://" in there:
        assert (done.code, "private" in done.err) == (5, True)
    else:
        assert "team.json" in (tmp_path / "there" / ".memory" / ".gitignore").read_text()


def test_an_untrusted_clone_is_refused(stored: Run, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / ".memory" / "spaces", tmp_path / "clone" / ".memory" / "spaces")
    for step in (("store", "copy", "clone", "new"), ("store", "copy", ".", "clone")):
        refused = stored(*step)
        assert (refused.code, "not trusted" in refused.err) == (5, True)
    assert not (tmp_path / "new" / ".memory").exists()


def test_what_is_wrong_is_said_without_a_password(stored: Run) -> None:
    for arguments, code in (
        ((".", "."), 2), ((".", "mysql://ann:hunter2@db/x"), 2), (("missing", "there"), 3), ((".", "x", "--mode", "y"), 2),
        ((".", "postgresql://ann:hunter2@localhost:1/x?connect_timeout=1"), 8), ((".", "postgresql://ann:hunter2@[x"), 2),
    ):  # fmt: skip
        done = stored("store", "copy", *arguments)
        found = done.code, "hunter2" in done.err + done.out, done.err.count("\n")
        assert (arguments, *found) == (arguments, code, False, 1)


@pytest.mark.parametrize("there", ["server"], indirect=True)
def test_a_sync_after_a_copy_knows_what_both_had(stored: Run, tmp_path: Path, there: str) -> None:
    stored("store", "copy", ".", there)
    stored("edit", "x/y", "-s", "team", "--set", "summary_micro=Changed here alone")
    stored("remember", "Gone soon.", "--path", "x/z", "-s", "team")
    done = stored("store", "sync", "team", "--with", there, "--json").json
    assert (done["received"], done["sent"], done["conflicts"]) == (0, 2, [])
    stored("forget", "x/y", "-s", "team", "--purge", "--now", "--yes")
    assert not any(b"Of the team" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
