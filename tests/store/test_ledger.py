"""The ledger of model calls: exact whoever writes at once, what a crash, a full disk or a hand leaves of it, and its sums,
which only grow, whatever the ledger removes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from memcli.errors import StoreError
from memcli.model.usage import Charge, TokenUsage, total
from memcli.record import replace
from memcli.store import state
from memcli.store.layout import Layout
from memcli.store.ledger import MOST_DAYS, Day, StoreLedger
from memcli.store.state import State
from tests.conftest import NOW, ROOT

DAY = NOW[:10]
CHARGE = Charge(at=NOW, space="main", provider="openai", model="m", task="t/1", usage=TokenUsage(100, 50, 7))
WRITER = """
import sys
from memcli.errors import RefusedError
from memcli.model.usage import Charge, TokenUsage, total
from memcli.store import state
from memcli.store.layout import Layout
from memcli.store.ledger import StoreLedger
from memcli.store.state import State

ledger, limit = StoreLedger(State(Layout(sys.argv[1]))), int(sys.argv[2])
charge = Charge(at=sys.argv[3], space="main", provider="openai", model="m", task="t/1", usage=TokenUsage(100, 50))

def check(day):
    if total(day.charges).tokens + 150 > limit:
        raise RefusedError("enough")

made = 0
for n in range(25):
    try:
        booked = ledger.reserve(charge, check)
    except RefusedError:
        break
    made += 1
    ledger.settle(booked, TokenUsage(60, 40))
print(made)
"""


def allow(_: Day) -> None:
    pass


@pytest.fixture
def ledger(tmp_path: Path) -> StoreLedger:
    return StoreLedger(State(Layout(str(tmp_path)), note_seconds=60))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [10_000_000, 20_050])
def test_sixteen_processes_are_counted_exactly(tmp_path: Path, ledger: StoreLedger, limit: int) -> None:
    command = [sys.executable, "-P", "-c", WRITER, str(tmp_path), str(limit), NOW]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    writers = [subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) for _ in range(16)]
    made = sum(int(writer.communicate()[0]) for writer in writers)
    found = ledger.charges(DAY)
    assert [c.number for c in found] == sorted({c.number for c in found})
    assert len(found) == made
    assert all(c.is_settled for c in found)
    assert total(found).tokens == 100 * made <= limit
    assert made == (400 if limit > 1_000_000 else 200)


def test_no_ledger_is_an_empty_one(ledger: StoreLedger) -> None:
    assert ledger.days() == []
    assert ledger.read(DAY) == Day((), 0)


def days_before(tmp_path: Path, count: int) -> list[str]:
    """So many days with a call, which lie before DAY."""
    first = date.fromisoformat(DAY)
    days = [str(first - timedelta(days=n)) for n in range(count, 0, -1)]
    row = (1, NOW, "main", "openai", "m", "t/1", 1, 2, 3, 1)
    with State(Layout(str(tmp_path))).change() as connection:
        marks = ", ".join("?" * 11)
        connection.executemany(f"INSERT OR IGNORE INTO charge VALUES ({marks})", [(day, *row) for day in days])
    return days


def test_the_first_call_of_a_day_removes_the_oldest_days(ledger: StoreLedger, tmp_path: Path) -> None:
    days = days_before(tmp_path, MOST_DAYS + 5)
    booked = ledger.reserve(CHARGE, allow)
    kept = [*days[6:], DAY]
    assert (ledger.days(), len(kept)) == (kept, MOST_DAYS)
    ledger.settle(booked, TokenUsage(1, 1))
    days_before(tmp_path, MOST_DAYS + 5)
    ledger.reserve(CHARGE, allow)
    assert len(ledger.days()) == MOST_DAYS + 6  # not the first of its day


def test_a_clock_that_is_wrong_removes_one_day_and_not_its_own(ledger: StoreLedger, tmp_path: Path) -> None:
    days = days_before(tmp_path, MOST_DAYS)
    for at in ("1999-01-01T00:00:00Z", "2099-01-01T00:00:00Z"):
        ledger.reserve(replace(CHARGE, at=at), allow)
        assert len(ledger.days()) == MOST_DAYS
        assert at[:10] in ledger.days()
    assert ledger.days() == [*days[1:], "2099-01-01"]


def test_a_call_whose_day_was_removed_is_settled_nowhere(ledger: StoreLedger, tmp_path: Path) -> None:
    booked = ledger.reserve(CHARGE, allow)
    with State(Layout(str(tmp_path))).change() as connection:
        connection.execute("DELETE FROM charge")
    ledger.settle(booked, TokenUsage(1, 1))
    assert ledger.days() == []


@pytest.mark.slow
def test_the_first_calls_of_a_day_at_once_lose_nothing(ledger: StoreLedger, tmp_path: Path) -> None:
    days_before(tmp_path, MOST_DAYS + 50)
    command = [sys.executable, "-P", "-c", WRITER, str(tmp_path), "10000000", NOW]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    writers = [subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    assert sum(int(writer.communicate()[0]) for writer in writers) == 200
    assert total(ledger.charges(DAY)).tokens == 200 * 100
    assert len(ledger.days()) == MOST_DAYS


def test_a_lost_ledger_is_damage_for_its_day(tmp_path: Path) -> None:
    told: list[str] = []
    ledger = StoreLedger(State(Layout(str(tmp_path)), told.append))
    ledger.reserve(CHARGE, allow)
    (tmp_path / "local/state.db").write_bytes(b"no database " * 1000)
    assert ledger.read(DAY) == Day((), 1)
    assert len(told) == 1
    assert ledger.reserve(CHARGE, allow).number == 1
    assert (ledger.read(DAY).damaged, ledger.read("2099-01-01").damaged) == (1, 0)


def test_on_a_full_disk_nothing_is_booked(ledger: StoreLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.reserve(CHARGE, allow)
    before = (tmp_path / "local/state.db").read_bytes()
    real = state._open

    def full(path: str, wait: float) -> sqlite3.Connection:
        connection = real(path, wait)
        connection.execute("PRAGMA max_page_count = 1")  # which SQLite raises to what the file has
        return connection

    monkeypatch.setattr(state, "_open", full)
    with pytest.raises(StoreError, match="full"):
        ledger.reserve(replace(CHARGE, task="t" * 50_000), allow)
    assert (tmp_path / "local/state.db").read_bytes() == before


DAYS = ("2026-01-01", "2026-01-02", "2026-01-05", "2026-01-06", "2026-01-07")
TODAY, NEXT = "2026-01-07", "2026-01-08"


def charge(at: str, provider: str = "openai") -> Charge:
    return Charge(at=at, space="main", provider=provider, model="m", task="t/1", usage=TokenUsage(10, 20, 5))


def call(ledger: StoreLedger, day: str, *, settled: bool = True, provider: str = "openai") -> None:
    booked = ledger.reserve(charge(f"{day}T12:00:00Z", provider), lambda _: None)
    if settled:
        ledger.settle(booked, TokenUsage(1, 2, 3))


def test_nothing_was_charged(ledger: StoreLedger, tmp_path: Path) -> None:
    assert ledger.sums(TODAY) == {}
    assert not (tmp_path / "local").exists()


def test_sums_stay_when_days_are_removed(ledger: StoreLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in DAYS:
        call(ledger, day)
    assert ledger.sums(TODAY) == ledger.sums(TODAY) == {"openai": TokenUsage(5, 10, 15)}
    monkeypatch.setattr("memcli.store.ledger.MOST_DAYS", len(DAYS) - 1)
    call(ledger, NEXT, provider="anthropic")
    assert ledger.sums(NEXT) == {"openai": TokenUsage(5, 10, 15), "anthropic": TokenUsage(1, 2, 3)}
    assert ledger.days() == [*DAYS[2:], NEXT]


def test_what_is_settled_after_midnight_counts_as_it_is_settled(ledger: StoreLedger) -> None:
    for day in DAYS[:3]:
        call(ledger, day)
    booked = ledger.reserve(charge(f"{DAYS[3]}T23:59:59Z"), lambda _: None)
    call(ledger, TODAY)
    ledger.sums(TODAY)
    ledger.settle(booked, TokenUsage(1, 2, 3))
    assert ledger.sums(TODAY) == {"openai": TokenUsage(5, 10, 15)}


def test_a_clock_in_the_future_closes_no_day_that_is_not_over(ledger: StoreLedger) -> None:
    for day in ("2998-01-01", "2998-01-02", "2998-01-03", "2998-01-04"):
        call(ledger, day)
    assert ledger.sums("2999-01-01") == {"openai": TokenUsage(4, 8, 12)}
    call(ledger, "2998-01-01")
    assert ledger.sums("2999-01-01") == {"openai": TokenUsage(5, 10, 15)}
