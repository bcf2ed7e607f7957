"""What is purged with no grace is in no file of the store when the command returns."""

from __future__ import annotations

import errno
import importlib
import json
import os
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.errors import StoreError
from memcli.store import pending
from tests.conftest import Run, open_at

SECRET = "zebraquartz"
TEXT = f"The {SECRET} valve opens at noon."


def holding(folder: Path, word: str = SECRET) -> list[str]:
    """The files under the store that hold the word, in any case."""
    files = (path for path in sorted((folder / ".memory").rglob("*")) if path.is_file())
    return [str(path.relative_to(folder)) for path in files if word.encode() in path.read_bytes().lower()]


@pytest.fixture
def filled(run: Run, tmp_path: Path) -> Iterator[Run]:
    """A store whose index, vectors, audit log and trash know the text."""
    assert run("remember", TEXT).code == 0
    assert run("remember", "Another memory that stays.", "--path", "other").code == 0
    assert SECRET in run("recall", f"which {SECRET} valve opens?").out
    assert ".memory/cache/main.index" in holding(tmp_path)
    return run


def path_of(run: Run) -> str:
    return next(line for line in run("list").out.splitlines() if SECRET in line).split()[1]


@pytest.mark.parametrize("how", ["now", "no grace"])
def test_no_byte_is_left(filled: Run, tmp_path: Path, how: str) -> None:
    name = path_of(filled)
    assert SECRET in name  # the path quotes the text, in the audit log too
    if how == "no grace":
        filled("space", "policy", "main", "--set", "grace_days=0")
    done = filled("forget", name, "--purge", "--yes", *(["--now"] if how == "now" else []))
    assert done.code == 0, done.err
    assert holding(tmp_path) == []
    assert filled("store", "audit", "--verify").code == 0
    assert filled("check", "store").code == 0
    assert "other" in filled("recall", "another memory that stays").out
    assert holding(tmp_path) == []
    assert "nothing" not in filled("restore", "--list").out or SECRET not in filled("restore", "--list").out


def test_an_earlier_deletion_leaves_the_trash_too(filled: Run, tmp_path: Path) -> None:
    name = path_of(filled)
    filled("forget", name, "--purge", "--yes")
    filled("remember", TEXT)
    filled("forget", path_of(filled), "--purge", "--yes", "--now")
    assert holding(tmp_path) == []


def test_what_is_out_of_its_grace_leaves_no_trace(filled: Run, tmp_path: Path) -> None:
    filled("forget", path_of(filled), "--purge", "--yes")
    assert any("trash" in name for name in holding(tmp_path))
    assert filled("gc", "--freeze-clock", "2026-03-31T00:00:00Z").code == 0
    assert holding(tmp_path) == []
    assert filled("store", "audit", "--verify").code == 0


def test_a_reader_of_an_earlier_state_brings_nothing_back(filled: Run, tmp_path: Path) -> None:
    workspace = open_at(tmp_path)
    snapshot = workspace.store.open("main")  # opened before the purge, indexed after it
    filled("forget", path_of(filled), "--purge", "--yes", "--now")
    view = workspace.index.view(snapshot)
    assert view.size == 2
    view.close()
    snapshot.close()
    assert holding(tmp_path) == []
    assert filled("recall", "another").code == 0
    assert (tmp_path / ".memory/cache/main.index").exists()


def test_a_reader_that_holds_the_index_is_waited_for(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = path_of(filled)
    index = tmp_path / ".memory/cache/main.index"
    reader = sqlite3.connect(index, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memory").fetchone()
    timer = threading.Timer(0.3, reader.rollback)
    timer.start()
    assert filled("forget", name, "--purge", "--yes", "--now").code == 0
    timer.join()
    reader.close()
    assert holding(tmp_path) == []
    monkeypatch.setattr("memcli.index.erasing._WAIT_SECONDS", 0.1)
    filled("recall", "another")
    with sqlite3.connect(index, isolation_level=None) as stuck:
        stuck.execute("BEGIN")
        stuck.execute("SELECT count(*) FROM memory").fetchone()
        late = filled("forget", "other", "--purge", "--yes", "--now")
        assert (late.code, "memcli store index rebuild" in late.err) == (4, True)
        stuck.rollback()
    stuck.close()
    assert filled("get", "other").code == 3


def test_what_else_quotes_it_is_named(filled: Run, tmp_path: Path) -> None:
    name = path_of(filled)
    filled("export")
    filled("remember", f"She said: {TEXT}", "--path", "quote")
    (tmp_path / ".memory" / "tests").mkdir()
    (tmp_path / ".memory" / "tests" / "a.toml").write_text(f'[[case]]\ntopic = "{TEXT}"\nempty = true\n')
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    (tmp_path / ".git").rmdir()
    for command in (["init", "-q"], ["add", "-f", ".memory/spaces"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    told = filled("forget", name, "--purge", "--yes", "--now").err
    assert "memory mem_" in told
    assert " quote of space main" in told
    assert "exports/main.json" in told
    assert "tests/a.toml" in told
    assert "1 commit of this repository" in told


def test_now_is_for_purges_alone(filled: Run) -> None:
    assert filled("forget", "other", "--now").code == 2


class Killed(BaseException):
    """The process is gone."""


def die(*_: object, **__: object) -> None:
    raise Killed


@pytest.mark.parametrize("where", ["the log", "the index", "the trash", "the end"])
@pytest.mark.parametrize("next_command", [("remember", "Something else."), ("check", "store", "--repair")])
def test_the_next_writer_finishes_what_a_killed_one_began(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, next_command: tuple[str, ...]
) -> None:
    filled("forget", path_of(filled), "--purge", "--yes")
    filled("remember", TEXT)
    filled("recall", f"which {SECRET} valve opens?")
    places = {
        "the log": "memcli.store.audit.AuditLog.erase", "the index": "memcli.index.erasing.erase",
        "the trash": "memcli.store.trash.FileTrash.erase", "the end": "memcli.store.pending.remove_file",
    }  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(places[where], die)
        with pytest.raises(Killed):
            filled("forget", path_of(filled), "--purge", "--yes", "--now")
    marker = tmp_path / ".memory/local/main.erasing"
    assert SECRET not in marker.read_text()
    assert (holding(tmp_path) != []) == (where != "the end")
    found = filled("check", "store")
    assert (found.code, "main.erasing" in found.out) == (0, True)
    done = filled(*next_command)
    assert done.code == 0, done.err
    assert holding(tmp_path) == []
    assert not marker.exists()
    assert filled("store", "audit", "--verify").code == 0
    assert "no damage" in filled("check", "store").err


def test_a_purge_that_was_killed_before_its_write_erases_nothing(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("memcli.store.file.write_file", die)
        with pytest.raises(Killed):
            filled("forget", path_of(filled), "--purge", "--yes", "--now")
    before = (tmp_path / ".memory/local/audit/main.jsonl").read_bytes()
    assert filled("check", "store", "--repair").code == 0
    assert (tmp_path / ".memory/local/audit/main.jsonl").read_bytes() == before
    assert not (tmp_path / ".memory/local/main.erasing").exists()
    assert TEXT in filled("get", path_of(filled)).out


def test_an_erasure_that_was_held_up_is_finished_later(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = path_of(filled)
    monkeypatch.setattr("memcli.index.erasing._WAIT_SECONDS", 0.1)
    monkeypatch.setattr("memcli.index.database._BUSY_SECONDS", 0.1)
    with sqlite3.connect(tmp_path / ".memory/cache/main.index", isolation_level=None) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory").fetchone()
        assert filled("forget", name, "--purge", "--yes", "--now").code == 4
        again = filled("remember", "Something else.")
        assert (again.code, "earlier erasure" in again.err) == (0, True)
        assert filled("forget", "other", "--purge", "--yes", "--now").code == 4
        reader.rollback()
    reader.close()
    assert filled("remember", "One more thing.").code == 0
    assert holding(tmp_path) == []
    assert holding(tmp_path, "another memory") == []


def test_an_erasure_that_fails_behind_the_write_says_what_was_done(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pending.read_stored

    def fails_behind_the_write(path: str, hint: str, limit: int) -> bytes | None:
        if SECRET.encode() not in (tmp_path / ".memory/spaces/main.json").read_bytes():
            raise StoreError(f"cannot read {path}: Input/output error", hint)
        return real(path, hint, limit)

    name = path_of(filled)
    with monkeypatch.context() as patch:
        patch.setattr(pending, "read_stored", fails_behind_the_write)
        done = filled("forget", name, "--purge", "--yes", "--now")
    assert (done.code, "was removed" in done.err, "check store --repair" in done.err) == (8, True, True)
    assert filled("check", "store", "--repair").code == 0
    assert holding(tmp_path) == []


def test_what_dead_writers_left_goes_too(filled: Run, tmp_path: Path) -> None:
    store = tmp_path / ".memory"
    dead = [
        "local/trash/.20260101T000000Z-00000000.json.tmp-999999999", "audit/.main.jsonl.tmp-999999999",
        "exports/.main.json.tmp-999999999", "spaces/.other.json.tmp-", "local/inbox/spaces/.main.json.tmp-",
    ]  # fmt: skip
    alive = f"local/.x.json.tmp-{os.getpid()}"
    for name in (*dead, alive):
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_text(TEXT)
    filled("forget", path_of(filled), "--purge", "--yes", "--now")
    assert holding(tmp_path) == [f".memory/{alive}"]


def test_it_leaves_the_quarantine_where_the_others_stay(filled: Run, tmp_path: Path) -> None:
    quarantine = tmp_path / ".memory/local/quarantine"
    whole = (tmp_path / ".memory/spaces/main.json").read_bytes()
    name = json.loads(filled("get", path_of(filled), "--json").out)["id"]
    last = whole.rfind(b"\n    {\n")
    planted = {
        "main-0123456789ab.json": whole.replace(b'"format"', b"<<"), "trash/run.json": whole,
        "main-torn.json": whole[: whole.find(b'"raw"', last) + 60],
        "line.taken": b'{"changes": [{"id": "%s", "path": "%s"}]}' % (name.encode(), SECRET.encode()),
    }  # fmt: skip
    for file, data in planted.items():
        (quarantine / file).parent.mkdir(parents=True, exist_ok=True)
        (quarantine / file).write_bytes(data)
    other = (
        whole.replace(b'"space": "main"', b'"space": "team"')
        .replace(SECRET.encode(), b"another")
        .replace(SECRET.title().encode(), b"Another")
    )
    (quarantine / "team-0123456789ab.json").write_bytes(other)
    (quarantine / "link.json").symlink_to(tmp_path / "nowhere")
    done = filled("forget", name, "--purge", "--yes", "--now")
    assert done.code == 0, done.err
    assert holding(tmp_path) == []
    assert "removed line.taken from the quarantine" in done.err
    assert "the text also appears" not in done.err
    for file in ("main-0123456789ab.json", "trash/run.json"):
        assert (b"Another memory that stays." in (quarantine / file).read_bytes(), file) == (True, file)
        assert b'"policy"' in (quarantine / file).read_bytes()
    assert (quarantine / "team-0123456789ab.json").read_bytes() == other


def test_a_path_that_another_memory_took_over_leaves_the_log(filled: Run, tmp_path: Path) -> None:
    old = json.loads(filled("get", path_of(filled), "--json").out)["id"]
    filled("remember", "The valve opens at nine.", "--supersedes", old, "--tag", "valve")
    filled("edit", path_of(filled), "--set", "path=valves/opening")
    assert ".memory/local/audit/main.jsonl" in holding(tmp_path)
    filled("forget", old, "--purge", "--yes", "--now")
    assert holding(tmp_path) == []
    assert filled("store", "audit", "--verify").code == 0


@pytest.mark.parametrize("told", [False, True])
def test_a_torn_line_of_the_log_goes_too(filled: Run, tmp_path: Path, *, told: bool) -> None:
    filled("edit", path_of(filled), "--tag", "torn")
    log = tmp_path / ".memory/local/audit/main.jsonl"
    log.write_bytes(log.read_bytes()[:-90])
    if told:
        filled("remember", "Something else.")
    assert SECRET in log.read_text().splitlines()[2]
    filled("forget", path_of(filled), "--purge", "--yes", "--now")
    assert holding(tmp_path) == []
    assert filled("store", "audit", "--verify").code == 0


def test_damaged_vectors_are_removed(filled: Run, tmp_path: Path) -> None:
    places = next((tmp_path / ".memory/cache").glob("*.places"))
    places.write_bytes(b"no database" * 100)
    done = filled("forget", path_of(filled), "--purge", "--yes", "--now")
    assert done.code == 0, done.err
    assert not places.exists()
    assert not list((tmp_path / ".memory/cache").glob("*.vectors"))
    assert filled("recall", "another memory that stays").code == 0


def test_a_damaged_index_leaves_no_pages_beside_it(filled: Run, tmp_path: Path) -> None:
    index = tmp_path / ".memory/cache/main.index"
    index.write_bytes(b"no database" * 100)
    side = tmp_path / ".memory/cache/main.index-journal"
    side.write_text(TEXT)
    filled("recall", "another")
    assert not side.exists() or SECRET not in side.read_text(errors="replace")


def unreadable(monkeypatch: pytest.MonkeyPatch, target: str, part: str) -> None:
    """Reads of files with `part` in their path fail."""
    module, name = target.rsplit(".", 1)
    real = getattr(importlib.import_module(module), name)

    def read(path: str, *rest: int) -> object:
        if part in path:
            raise OSError(errno.EIO, "Input/output error")
        return real(path, *rest)

    monkeypatch.setattr(target, read)


def test_what_cannot_be_searched_for_copies_is_named(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled("remember", "In another space.", "-s", "team")
    (tmp_path / ".memory" / "spaces" / "team.json").write_text("{")
    (tmp_path / ".memory" / "exports").mkdir()
    (tmp_path / ".memory" / "exports" / "bundle.json").write_text(TEXT)
    unreadable(monkeypatch, "memcli.wiring.records.read_blocks", "bundle.json")
    done = filled("forget", path_of(filled), "--purge", "--yes", "--now")
    assert (done.code, "purged" in done.out) == (0, True)
    assert "cannot search space 'team' for other copies of the text: " in done.err
    assert "cannot search exports/bundle.json for other copies of the text: Input/output error" in done.err


def test_a_search_for_copies_that_fails_is_a_warning(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> list[str]:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("memcli.wiring.records.find_quotes", fail)
    done = filled("forget", path_of(filled), "--purge", "--yes", "--now")
    assert (done.code, "purged" in done.out) == (0, True)
    assert "saved, but the search for other copies of the text failed: Input/output error" in done.err


def test_a_trash_that_cannot_be_read_leaves_the_erasure_to_be_finished(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = path_of(filled)
    filled("forget", name, "--purge", "--yes")
    filled("remember", TEXT)
    with monkeypatch.context() as patch:
        unreadable(patch, "memcli.store.trash.read_regular", "trash/")
        done = filled("forget", path_of(filled), "--purge", "--yes", "--now")
        assert (done.code, done.err.count("\n")) == (8, 1)
        assert "it was removed from space 'main', but traces of it are left: cannot read local/trash/" in done.err
    assert filled("check", "store", "--repair").code == 0
    assert holding(tmp_path) == []


@pytest.mark.parametrize("command", [("restore",), ("forget", "--purge", "--now", "--yes")])
def test_what_may_be_in_an_unreadable_trash_is_not_called_unknown(
    filled: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    name = path_of(filled)
    filled("forget", name, "--purge", "--yes")
    unreadable(monkeypatch, "memcli.store.trash.read_regular", "trash/")
    done = filled(*command, name)
    assert (done.code, done.err.count("\n")) == (8, 1), done.err
    assert "cannot read local/trash/" in done.err
