"""The ledger of model calls: what each promises, in files and on a server; exact whoever writes at once; what a crash, a full
disk or a wrong clock leaves of it; and its sums, which only grow."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from memcli.errors import RefusedError, StoreError
from memcli.model.usage import Charge, Day, TokenUsage, total
from memcli.ports import CallLedger
from memcli.record import replace
from memcli.store import state
from memcli.store.layout import Layout
from memcli.store.ledger import MOST_DAYS, StoreLedger
from memcli.store.state import State
from tests.conftest import NOW
from tests.servers import new_schema
from tests.store.conftest import at_once

DAY = NOW[:10]
CHARGE = Charge(at=NOW, space="main", provider="openai", model="m", task="t/1", usage=TokenUsage(100, 50, 7))


def allow(_: Day) -> None:
    pass


def within(limit: int, ledger: CallLedger, times: int) -> list[int]:
    """Makes calls until one could exceed `limit` tokens; their numbers."""
    made: list[int] = []

    def check(day: Day) -> None:
        if total(day.charges).tokens + 150 > limit:
            raise RefusedError("enough")

    for _ in range(times):
        try:
            booked = ledger.reserve(CHARGE, check)
        except RefusedError:
            break
        made.append(booked.number)
        ledger.settle(booked, TokenUsage(60, 40))
    return made


def ledger_in(root: str) -> StoreLedger:
    return StoreLedger(State(Layout(root), note_seconds=60))


@pytest.fixture
def ledger(tmp_path: Path) -> StoreLedger:
    return ledger_in(str(tmp_path))


@pytest.fixture(params=["file", "postgres"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CallLedger]:
    if request.param == "file":
        yield ledger_in(str(tmp_path))
        return
    url = request.getfixturevalue("postgres")
    from memcli.extras.postgres.address import address_of
    from memcli.extras.postgres.ledger import ServerLedger
    from memcli.extras.postgres.server import Server

    with new_schema(url) as schema:
        server = Server(address_of(url, schema), 10)
        yield ServerLedger(server)
        server.close()


def test_a_call_counts_as_booked_until_it_is_settled(either: CallLedger) -> None:
    first, second = either.reserve(CHARGE, allow), either.reserve(CHARGE, allow)
    assert (first.number, second.number) == (1, 2)
    either.settle(first, TokenUsage(10, 5, 3))
    found = either.read(DAY).charges
    assert [(c.number, c.usage, c.is_settled) for c in found] == [
        (1, TokenUsage(10, 5, 3), True), (2, TokenUsage(100, 50, 7), False),
    ]  # fmt: skip
    assert (total(found).tokens, total(found).nano_usd, total(found).pending) == (165, 10, 1)
    assert either.days() == [DAY]


def test_a_call_belongs_to_the_day_on_which_it_was_booked_and_is_summed_when_settled_or_over(
    either: CallLedger,
) -> None:
    late = either.reserve(CHARGE, allow)
    either.reserve(replace(CHARGE, provider="anthropic"), allow)
    either.reserve(replace(CHARGE, at="2026-02-01T00:00:00Z"), allow)
    either.settle(late, TokenUsage(1, 1, 0))
    assert [total(either.read(day).charges).tokens for day in either.days()] == [152, 150]
    assert dict(either.sums(DAY)) == {"openai": TokenUsage(1, 1, 0)}
    assert dict(either.sums("2026-02-01")) == {"openai": TokenUsage(1, 1, 0), "anthropic": TokenUsage(100, 50, 7)}


def test_what_is_refused_is_not_booked_and_calls_at_once_are_counted_exactly(either: CallLedger) -> None:
    with pytest.raises(RefusedError):
        either.reserve(CHARGE, lambda _: (_ for _ in ()).throw(RefusedError("no")))
    assert either.read(DAY).charges == ()
    made: list[int] = []
    threads = [threading.Thread(target=lambda: made.extend(within(2000, either, 5))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = either.read(DAY).charges
    assert sorted(made) == [charge.number for charge in found]
    assert all(charge.is_settled for charge in found)
    assert 1850 <= total(found).tokens + 100 <= 2100


def _call(root: str, limit: int) -> None:
    within(limit, ledger_in(root), 25)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "made"), [(10_000_000, 400), (20_050, 200)])
def test_sixteen_processes_are_counted_exactly(tmp_path: Path, ledger: StoreLedger, limit: int, made: int) -> None:
    at_once(_call, [(str(tmp_path), limit)] * 16)
    found = ledger.read(DAY).charges
    assert [c.number for c in found] == sorted({c.number for c in found})
    assert all(c.is_settled for c in found)
    assert (len(found), total(found).tokens) == (made, 100 * made)


def days_before(tmp_path: Path, count: int) -> list[str]:
    """So many days with a call, which lie before DAY."""
    days = [str(date.fromisoformat(DAY) - timedelta(days=n)) for n in range(count, 0, -1)]
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
    at_once(_call, [(str(tmp_path), 10_000_000)] * 8)
    assert (total(ledger.read(DAY).charges).tokens, len(ledger.days())) == (200 * 100, MOST_DAYS)


def test_a_lost_ledger_is_damage_for_its_day(tmp_path: Path) -> None:
    told: list[str] = []
    ledger = StoreLedger(State(Layout(str(tmp_path)), told.append))
    ledger.reserve(CHARGE, allow)
    (tmp_path / "local/state.db").write_bytes(b"no database " * 1000)
    assert (ledger.read(DAY), len(told)) == (Day((), 1), 1)
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
ONE = TokenUsage(1, 2, 3)


def call(ledger: StoreLedger, *days: str, provider: str = "openai") -> None:
    for day in days:
        ledger.settle(ledger.reserve(replace(CHARGE, at=f"{day}T12:00:00Z", provider=provider), allow), ONE)


def test_sums_stay_when_days_are_removed(ledger: StoreLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (ledger.sums(TODAY), ledger.days(), ledger.read(DAY)) == ({}, [], Day((), 0))
    assert not (tmp_path / "local").exists()
    call(ledger, *DAYS)
    assert ledger.sums(TODAY) == ledger.sums(TODAY) == {"openai": TokenUsage(5, 10, 15)}
    monkeypatch.setattr("memcli.store.ledger.MOST_DAYS", len(DAYS) - 1)
    call(ledger, NEXT, provider="anthropic")
    assert ledger.sums(NEXT) == {"openai": TokenUsage(5, 10, 15), "anthropic": ONE}
    assert ledger.days() == [*DAYS[2:], NEXT]


def test_what_is_settled_after_midnight_counts_as_it_is_settled(ledger: StoreLedger) -> None:
    call(ledger, *DAYS[:3])
    booked = ledger.reserve(replace(CHARGE, at=f"{DAYS[3]}T23:59:59Z"), allow)
    call(ledger, TODAY)
    ledger.sums(TODAY)
    ledger.settle(booked, ONE)
    assert ledger.sums(TODAY) == {"openai": TokenUsage(5, 10, 15)}


def test_a_clock_in_the_future_closes_no_day_that_is_not_over(ledger: StoreLedger) -> None:
    call(ledger, *(f"2998-01-0{n}" for n in range(1, 5)))
    assert ledger.sums("2999-01-01") == {"openai": TokenUsage(4, 8, 12)}
    call(ledger, "2998-01-01")
    assert ledger.sums("2999-01-01") == {"openai": TokenUsage(5, 10, 15)}
