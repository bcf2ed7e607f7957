"""The local state: one file for its owner alone, of which no byte stays of what is erased, and that stops nobody."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.errors import LockedError, StoreError
from memcli.extras.agents.records import add_report, take_reports
from memcli.model.usage import RECALL, Access, Gap, Use
from memcli.store.layout import Layout, make_root
from memcli.store.notes import LocalAnswers, LocalGaps, LocalUsage
from memcli.store.quarantine import erase_quarantined
from memcli.store.state import TABLES, State, copy_state, merge_state, set_value
from tests.conftest import NOW
from tests.local_state import local_bytes


@pytest.fixture
def state(layout: Layout) -> State:
    return State(layout)


def file(folder: Path) -> Path:
    return folder / ".memory/local/state.db"


def put(state: State, value: str, name: str = "x") -> None:
    with state.change() as connection:
        set_value(connection, name, value)


def test_there_is_no_file_before_the_first_note(state: State, tmp_path: Path) -> None:
    assert (state.rows("SELECT * FROM usage"), state.value("x")) == ([], "")
    state.erase(lambda connection: connection.execute("DELETE FROM gap"))
    assert not file(tmp_path).exists()


def test_the_file_is_its_owners_alone_and_nothing_lies_beside_it(state: State, tmp_path: Path) -> None:
    put(state, "1")
    assert stat.S_IMODE(file(tmp_path).stat().st_mode) == 0o600
    with closing(sqlite3.connect(file(tmp_path))) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal"
        made = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'")
        assert {name for (name,) in made} >= {table.name for table in TABLES}
    assert not [other for other in file(tmp_path).parent.glob("state.db-*") if other.stat().st_size]


def test_no_byte_of_what_is_erased_stays(state: State, tmp_path: Path) -> None:
    gone = Gap("who has the tourmaline?", "main", 1, NOW, NOW)
    usage, gaps, answers = LocalUsage(state), LocalGaps(state), LocalAnswers(state)
    with state.change():
        for n in range(150):  # so that rows move from page to page
            usage.note([Use(NOW, RECALL, "main", ("mem_tourmaline", f"mem_{n}"), places=(1, 2))])
            answers.keep(f"k{n}", {"text": f"tourmaline {n}" * 20}, kind="text", since=0)
            add_report(state, {"text": f"tourmaline {n}" * 20})
            gaps.note(Gap(f"who has {n}?", "main", 1, NOW, NOW))
        gaps.note(gone)
    assert b"tourmaline" in local_bytes(tmp_path)
    usage.erase("main", {"mem_tourmaline"})
    answers.erase()
    gaps.drop([gone])
    with take_reports(state) as entries:
        assert len(entries) == 150
    assert b"tourmaline" not in local_bytes(tmp_path)
    assert usage.counts("main")["mem_7"] == Access(1, NOW)


def test_an_act_is_on_disk_when_it_is_acknowledged(state: State) -> None:
    with state.change() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    state.note(
        lambda connection: set_value(connection, "x", str(connection.execute("PRAGMA synchronous").fetchone()[0]))
    )
    assert state.value("x") == "1"


def test_what_fails_within_a_transaction_changes_nothing(state: State) -> None:
    put(state, "1")

    def interrupted() -> None:
        with state.change() as connection:
            set_value(connection, "x", "2")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert state.value("x") == "1"


def test_a_note_does_not_wait_for_long_and_an_act_says_why(tmp_path: Path, state: State) -> None:
    other = State(state.layout, note_seconds=0)
    put(state, "1")
    with state.change():
        other.note(lambda connection: set_value(connection, "x", "2"))
        with pytest.raises(LockedError, match="locked by another process"), other.change(0):
            pass
    assert state.value("x") == "1"
    assert not (tmp_path / ".memory/local/quarantine").exists()


def test_a_held_note_sees_the_one_before_it(state: State) -> None:
    gaps = LocalGaps(state)
    state.hold()
    for _ in range(2):
        gaps.note(Gap("which database?", "main", 1, NOW, NOW))
    put(state, "1")
    state.release()
    assert [gap.count for gap in gaps.read()] == [2]


@pytest.mark.parametrize("data", [b"not a database " * 300, None])
def test_a_damaged_file_is_put_aside_with_one_warning(tmp_path: Path, data: bytes | None) -> None:
    make_root(str(tmp_path / ".memory"))
    told: list[str] = []
    state = State(Layout(str(tmp_path / ".memory")), told.append)
    with state.change() as connection:
        for n in range(500):
            set_value(connection, f"x{n}", "y" * 100)
    whole = file(tmp_path).read_bytes()
    file(tmp_path).write_bytes(data or whole[:4096] + b"\xff" * (len(whole) - 4096))
    for _ in range(2):
        with suppress(StoreError), state.change() as connection:
            connection.execute("DELETE FROM value")
    put(state, "1")
    assert state.value("x") == "1"
    assert len(told) == 1
    assert "was damaged and is now" in told[0]
    assert len(list((tmp_path / ".memory/local/quarantine").iterdir())) == 1


def test_a_store_that_may_not_be_written_is_read(state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(state, "1")
    before = file(tmp_path).read_bytes()
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert state.value("x") == "1"
    state.note(lambda connection: set_value(connection, "x", "2"))
    with pytest.raises(StoreError, match="readonly"):
        put(state, "2")
    assert state.value("x") == "1"
    assert file(tmp_path).read_bytes() == before


def test_a_newer_file_is_left_alone(state: State, tmp_path: Path) -> None:
    with state.change() as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer memcli"), state.change():
        pass
    assert file(tmp_path).exists()


def test_a_file_with_another_name_becomes_one_of_its_own(state: State, tmp_path: Path) -> None:
    put(state, "1")
    os.link(file(tmp_path), tmp_path / "snapshot")
    put(state, "2", "y")
    assert (state.value("x"), state.value("y")) == ("1", "2")
    assert b"2" not in [value for _, value in sqlite3.connect(tmp_path / "snapshot").execute("SELECT * FROM value")]


ENTRIES = st.lists(st.sampled_from("abc"), max_size=3)


@settings(max_examples=8)
@given(base=ENTRIES, ours=ENTRIES, theirs=ENTRIES)
def test_what_two_copies_added_is_joined(
    base: list[str], ours: list[str], theirs: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("join")
    make_root(str(folder / "ours"))
    private = State(Layout(str(folder / "ours"), str(folder / "ours")))
    _report(private, base)
    paths = {name: str(folder / name) for name in ("base", "copy")}
    for path in paths.values():
        copy_state(str(folder / "ours/state.db"), path)
    _report(private, ours)
    os.mkdir(folder / "theirs")
    os.rename(paths["copy"], folder / "theirs/state.db")
    other = State(Layout(str(folder / "theirs"), str(folder / "theirs")))
    _report(other, theirs)
    merge_state(str(folder / "theirs/state.db"), str(folder / "ours/state.db"), paths["base"])
    found = [json.loads(entry)["text"] for (entry,) in private.rows("SELECT entry FROM spool ORDER BY id")]
    assert found == [*base, *ours, *theirs]
    counts = {name: one.count for name, one in LocalUsage(private).counts("main").items()}
    assert counts == {name: found.count(name) for name in found}


def _report(state: State, texts: list[str]) -> None:
    with state.change():
        for text in texts:
            add_report(state, {"text": text})
            LocalUsage(state).note([Use(NOW, RECALL, "main", (text,))])


def test_an_erasure_removes_state_that_was_put_aside(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path / ".memory"))
    aside = Path(layout.private("quarantine"))
    aside.mkdir(parents=True)
    for name in ("state.db", "state.db.1"):
        (aside / name).write_bytes(b"torn pages, " + b'"ids":["mem_zebra"]' + b", the zebra crosses")
    told: list[str] = []
    erase_quarantined(layout, "main", ["mem_zebra"], told.append)
    assert list(aside.iterdir()) == []
    assert len(told) == 2
