"""What is purged with no grace is in no file of the store when the command returns."""

from __future__ import annotations

import importlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memcli.errors import StoreError
from memcli.store import pending
from tests.conftest import Result, Run, open_at
from tests.store.conftest import commit, fail_to_read, git, killed_at

SECRET = "zebraquartz"
TEXT = f"The {SECRET} valve opens at noon."
NOW = ("--purge", "--yes", "--now")


class Filled:
    """A store whose index, vectors, audit log and trash know the text, and another memory that stays."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run, self.folder = run, folder
        self.store = folder / ".memory"
        self.index, self.log = self.store / "cache/main.index", self.store / "local/audit/main.jsonl"
        self.remember()
        assert run("remember", "Another memory that stays.", "--path", "other").code == 0
        assert ".memory/cache/main.index" in self.holding()

    def remember(self) -> None:
        assert self.run("remember", TEXT).code == 0
        assert SECRET in self.run("recall", f"which {SECRET} valve opens?").out

    @property
    def path(self) -> str:
        """The path of the memory, which quotes the text too."""
        return next(line for line in self.run("list").out.splitlines() if SECRET in line).split("\t")[3]

    @property
    def id(self) -> str:
        return str(self.run("get", self.path, "--json").json["id"])

    def purge(self, *options: str) -> Result:
        return self.run("forget", self.path, *(options or NOW))

    def holding(self, word: str = SECRET) -> list[str]:
        """The files of the store that hold the word, in any case."""
        files = (path for path in sorted(self.store.rglob("*")) if path.is_file())
        return [str(path.relative_to(self.folder)) for path in files if word.encode() in path.read_bytes().lower()]

    def is_gone(self) -> bool:
        return self.holding() == [] and self.run("store", "audit", "--verify").code == 0


@pytest.fixture
def filled(run: Run, tmp_path: Path) -> Filled:
    return Filled(run, tmp_path)


@contextmanager
def reading(index: Path) -> Iterator[sqlite3.Connection]:
    """A reader in the middle of a transaction on the index."""
    reader = sqlite3.connect(index, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memory").fetchone()
    yield reader
    reader.rollback()
    reader.close()


@pytest.mark.parametrize("how", ["now", "no grace"])
def test_no_byte_is_left(filled: Filled, how: str) -> None:
    if how == "no grace":
        filled.run("space", "policy", "main", "--set", "grace_days=0")
    done = filled.purge(*(NOW if how == "now" else NOW[:2]))
    assert (done.code, filled.is_gone(), filled.run("check", "store").code) == (0, True, 0), done.err
    assert "other" in filled.run("recall", "another memory that stays").out
    assert filled.holding() == []
    assert SECRET not in filled.run("restore", "--list").out
    assert filled.run("forget", "other", "--now").code == 2  # that is for purges alone


def test_what_is_out_of_its_grace_leaves_no_trace(filled: Filled) -> None:
    filled.purge("--purge", "--yes")
    assert any("trash" in name for name in filled.holding())
    assert filled.run("gc", "--freeze-clock", "2026-03-31T00:00:00Z").code == 0
    assert filled.is_gone()


def test_a_reader_of_an_earlier_state_brings_nothing_back(filled: Filled) -> None:
    workspace = open_at(filled.folder)
    snapshot = workspace.store.open("main")  # opened before the purge, indexed after it
    filled.purge()
    view = workspace.index.view(snapshot)
    assert view.size == 2
    view.close()
    snapshot.close()
    assert filled.holding() == []
    assert filled.run("recall", "another").code == 0
    assert filled.index.exists()


def test_a_reader_that_holds_the_index_is_waited_for(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    with reading(filled.index) as reader:
        timer = threading.Timer(0.3, reader.rollback)
        timer.start()
        assert filled.purge().code == 0
        timer.join()
    assert filled.holding() == []
    monkeypatch.setattr("memcli.index.erasing._WAIT_SECONDS", 0.1)
    filled.run("recall", "another")
    with reading(filled.index):
        late = filled.run("forget", "other", *NOW)
        assert (late.code, "memcli store index rebuild" in late.err) == (4, True)
    assert filled.run("get", "other").code == 3


def test_an_erasure_that_was_held_up_is_finished_later(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.index.erasing._WAIT_SECONDS", 0.1)
    monkeypatch.setattr("memcli.index.database._BUSY_SECONDS", 0.1)
    path = filled.path
    with reading(filled.index):
        assert filled.run("forget", path, *NOW).code == 4
        again = filled.run("remember", "Something else.")
        assert (again.code, "earlier erasure" in again.err) == (0, True)
        assert filled.run("forget", "other", *NOW).code == 4
    assert filled.run("remember", "One more thing.").code == 0
    assert filled.holding() == filled.holding("another memory") == []


def test_what_else_quotes_it_is_named(filled: Filled) -> None:
    path = filled.path
    filled.run("export")
    filled.run("remember", f"She said: {TEXT}", "--path", "quote")
    (filled.store / "tests").mkdir()
    (filled.store / "tests" / "a.toml").write_text(f'[[case]]\ntopic = "{TEXT}"\nempty = true\n')
    (filled.folder / ".git").rmdir()
    git(filled.folder, "init", "-q")
    commit(filled.folder / ".memory/spaces", "one", "-f")
    told = filled.run("forget", path, *NOW).err
    names = ("memory mem_", " quote of space main", "exports/main.json", "tests/a.toml", "1 commit of this repository")
    assert [place for place in names if place not in told] == []


PLACES = {
    "the log": "memcli.store.audit.AuditLog.erase", "the index": "memcli.index.erasing.erase",
    "the trash": "memcli.store.trash.FileTrash.erase", "the end": "memcli.store.pending.remove_file",
}  # fmt: skip


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("next_command", [("remember", "Something else."), ("check", "store", "--repair")])
def test_the_next_writer_finishes_what_a_killed_one_began(
    filled: Filled, where: str, next_command: tuple[str, ...]
) -> None:
    filled.purge("--purge", "--yes")
    filled.remember()
    killed_at(PLACES[where], filled.purge)
    marker = filled.store / "local/main.erasing"
    assert SECRET not in marker.read_text()
    assert (filled.holding() != []) == (where != "the end")
    found = filled.run("check", "store")
    assert (found.code, "main.erasing" in found.out) == (0, True)
    done = filled.run(*next_command)
    assert (done.code, filled.is_gone(), marker.exists()) == (0, True, False), done.err
    assert "no damage" in filled.run("check", "store").err


def test_a_purge_that_was_killed_before_its_write_erases_nothing(filled: Filled) -> None:
    killed_at("memcli.store.file.write_file", filled.purge)
    before = filled.log.read_bytes()
    assert filled.run("check", "store", "--repair").code == 0
    assert filled.log.read_bytes() == before
    assert not (filled.store / "local/main.erasing").exists()
    assert TEXT in filled.run("get", filled.path).out


def test_an_erasure_that_fails_behind_the_write_says_what_was_done(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pending.read_stored

    def fails_behind_the_write(path: str, hint: str, limit: int) -> bytes | None:
        if SECRET.encode() not in (filled.store / "spaces/main.json").read_bytes():
            raise StoreError(f"cannot read {path}: Input/output error", hint)
        return real(path, hint, limit)

    with monkeypatch.context() as patch:
        patch.setattr(pending, "read_stored", fails_behind_the_write)
        done = filled.purge()
    assert (done.code, "was removed" in done.err, "check store --repair" in done.err) == (8, True, True)
    assert filled.run("check", "store", "--repair").code == 0
    assert filled.holding() == []


def test_what_dead_writers_left_goes_too(filled: Filled) -> None:
    dead = [
        "local/trash/.20260101T000000Z-00000000.json.tmp-999999999", "audit/.main.jsonl.tmp-999999999",
        "exports/.main.json.tmp-999999999", "spaces/.other.json.tmp-", "local/inbox/spaces/.main.json.tmp-",
    ]  # fmt: skip
    alive = f"local/.x.json.tmp-{os.getpid()}"
    for name in (*dead, alive):
        (filled.store / name).parent.mkdir(parents=True, exist_ok=True)
        (filled.store / name).write_text(TEXT)
    filled.purge()
    assert filled.holding() == [f".memory/{alive}"]


def test_it_leaves_the_quarantine_where_the_others_stay(filled: Filled) -> None:
    quarantine = filled.store / "local/quarantine"
    whole = (filled.store / "spaces/main.json").read_bytes()
    name = filled.id
    planted = {
        "main-0123456789ab.json": whole.replace(b'"format"', b"<<"), "trash/run.json": whole,
        "main-torn.json": whole[: whole.find(b'"raw"', whole.rfind(b"\n    {\n")) + 60],
        "line.taken": b'{"changes": [{"id": "%s", "path": "%s"}]}' % (name.encode(), SECRET.encode()),
    }  # fmt: skip
    other = whole.replace(b'"space": "main"', b'"space": "team"')
    for old, new in ((SECRET, "another"), (SECRET.title(), "Another")):
        other = other.replace(old.encode(), new.encode())
    for file, data in {**planted, "team-0123456789ab.json": other}.items():
        (quarantine / file).parent.mkdir(parents=True, exist_ok=True)
        (quarantine / file).write_bytes(data)
    (quarantine / "link.json").symlink_to(filled.folder / "nowhere")
    done = filled.run("forget", name, *NOW)
    assert (done.code, filled.holding()) == (0, []), done.err
    assert "removed line.taken from the quarantine" in done.err
    assert "the text also appears" not in done.err
    for file in ("main-0123456789ab.json", "trash/run.json"):
        left = (quarantine / file).read_bytes()
        assert (b"Another memory that stays." in left, b'"policy"' in left, file) == (True, True, file)
    assert (quarantine / "team-0123456789ab.json").read_bytes() == other


def test_a_path_that_another_memory_took_over_leaves_the_log(filled: Filled) -> None:
    old = filled.id
    filled.run("remember", "The valve opens at nine.", "--supersedes", old, "--tag", "valve")
    filled.run("edit", filled.path, "--set", "path=valves/opening")
    assert ".memory/local/audit/main.jsonl" in filled.holding()
    filled.run("forget", old, *NOW)
    assert filled.is_gone()


@pytest.mark.parametrize("written_since", [False, True])
def test_a_torn_line_of_the_log_goes_too(filled: Filled, *, written_since: bool) -> None:
    filled.run("edit", filled.path, "--tag", "torn")
    filled.log.write_bytes(filled.log.read_bytes()[:-90])
    if written_since:
        filled.run("remember", "Something else.")
    assert SECRET in filled.log.read_text().splitlines()[2]
    filled.purge()
    assert filled.is_gone()


def test_damaged_vectors_are_removed_and_a_damaged_index_leaves_no_pages_beside_it(filled: Filled) -> None:
    cache = filled.store / "cache"
    places = next(cache.glob("*.places"))
    places.write_bytes(b"no database" * 100)
    done = filled.purge()
    assert (done.code, places.exists(), list(cache.glob("*.vectors"))) == (0, False, []), done.err
    assert filled.run("recall", "another memory that stays").code == 0
    filled.index.write_bytes(b"no database" * 100)
    side = cache / "main.index-journal"
    side.write_text(TEXT)
    filled.run("recall", "another")
    assert not side.exists() or SECRET not in side.read_text(errors="replace")


def unreadable(monkeypatch: pytest.MonkeyPatch, target: str, part: str) -> None:
    """Reads of files with `part` in their path fail."""
    module, name = target.rsplit(".", 1)
    real = getattr(importlib.import_module(module), name)

    def read(path: str, *rest: int) -> object:
        return fail_to_read() if part in path else real(path, *rest)

    monkeypatch.setattr(target, read)


def test_what_cannot_be_searched_for_copies_is_a_warning(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.run("remember", "In another space.", "-s", "team")
    (filled.store / "spaces/team.json").write_text("{")
    (filled.store / "exports").mkdir()
    (filled.store / "exports/bundle.json").write_text(TEXT)
    with monkeypatch.context() as patch:
        unreadable(patch, "memcli.wiring.records.read_blocks", "bundle.json")
        done = filled.purge()
    assert (done.code, "purged" in done.out) == (0, True)
    assert "cannot search space 'team' for other copies of the text: " in done.err
    assert "cannot search exports/bundle.json for other copies of the text: Input/output error" in done.err
    monkeypatch.setattr("memcli.wiring.records.find_quotes", fail_to_read)
    done = filled.run("forget", "other", *NOW)
    assert (done.code, "purged" in done.out) == (0, True)
    assert "saved, but the search for other copies of the text failed: Input/output error" in done.err


def test_a_copy_in_the_user_wide_store_is_named(filled: Filled) -> None:
    filled.run("remember", TEXT, "--scope", "global", "--path", "valves")
    assert " valves of space main of the user-wide store" in filled.purge().err


def test_a_trash_that_cannot_be_read_leaves_the_erasure_to_be_finished(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled.path
    filled.purge("--purge", "--yes")
    with monkeypatch.context() as patch:
        unreadable(patch, "memcli.store.trash.read_regular", "trash/")
        for command in (("restore", path), ("forget", path, *NOW)):  # what may be in it is not called unknown
            done = filled.run(*command)
            assert (done.code, done.err.count("\n"), "cannot read local/trash/" in done.err) == (8, 1, True)
        filled.remember()
        done = filled.purge()
        assert (done.code, done.err.count("\n")) == (8, 1)
        assert "it was removed from space 'main', but traces of it are left: cannot read local/trash/" in done.err
    assert filled.run("check", "store", "--repair").code == 0
    assert filled.holding() == []
