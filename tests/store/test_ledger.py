"""The ledger of model calls: exact whoever writes at once, and what a crash, a full disk or a hand leaves of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from memcli.errors import StoreError
from memcli.model.spending import Charge, TokenUsage, total
from memcli.record import replace
from memcli.store.layout import Layout
from memcli.store.ledger import MOST_DAYS, Day, StoreLedger
from tests.conftest import NOW, ROOT

DAY = NOW[:10]
CHARGE = Charge(at=NOW, space="main", provider="openai", model="m", task="t/1", usage=TokenUsage(100, 50, 7))
WRITER = """
import sys
from memcli.errors import RefusedError
from memcli.model.spending import Charge, TokenUsage, total
from memcli.store.layout import Layout
from memcli.store.ledger import StoreLedger

ledger, limit = StoreLedger(Layout(sys.argv[1])), int(sys.argv[2])
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
    return StoreLedger(Layout(str(tmp_path)))


def file(tmp_path: Path) -> Path:
    return tmp_path / "local" / "ledger" / f"{DAY}.jsonl"


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


def test_a_line_that_a_crash_tore_is_replaced(ledger: StoreLedger, tmp_path: Path) -> None:
    ledger.reserve(CHARGE, allow)
    whole = file(tmp_path).read_bytes()
    for end in range(1, len(whole)):
        file(tmp_path).write_bytes(whole + whole[:end])
        assert ledger.read(DAY) == Day(ledger.charges(DAY), 0)
        assert ledger.reserve(CHARGE, allow).number == 2
        assert len(ledger.charges(DAY)) == 2


@pytest.mark.parametrize(
    "line",
    [
        b"x", b"{}", b"[]", b"null", b"\xff", b"[" * 9000, b'{"settles": 9, "tokens_in": 1, "tokens_out": 1}',
        b'{"settles": 1, "tokens_in": -1, "tokens_out": 1}', b'{"settles": [], "tokens_in": 1, "tokens_out": 1}',
        b'{"settles": 1, "tokens_in": true, "tokens_out": 1}', b'{"settles": 1, "tokens_in": 1, "tokens_out": 1.5}',
    ],
)  # fmt: skip
def test_a_damaged_line_is_counted(ledger: StoreLedger, tmp_path: Path, line: bytes) -> None:
    ledger.reserve(CHARGE, allow)
    with file(tmp_path).open("ab") as stream:
        stream.write(line + b"\n")
    assert ledger.reserve(CHARGE, allow).number == 3
    day = ledger.read(DAY)
    assert ([c.number for c in day.charges], day.damaged) == ([1, 3], 1)
    assert not day.charges[0].is_settled


def test_a_copied_line_is_damage(ledger: StoreLedger, tmp_path: Path) -> None:
    ledger.reserve(CHARGE, allow)
    file(tmp_path).write_bytes(file(tmp_path).read_bytes() * 2)
    assert ledger.read(DAY).damaged == 1


def test_on_a_full_disk_nothing_is_booked(ledger: StoreLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.reserve(CHARGE, allow)
    before = file(tmp_path).read_bytes()

    def full(fd: int, data: bytes) -> int:
        if len(data) > 10:
            return real(fd, data[:10])
        raise OSError(28, "No space left on device")

    real: Callable[[int, bytes], int] = os.write
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreError, match="No space left"):
        ledger.reserve(CHARGE, allow)
    monkeypatch.undo()
    assert file(tmp_path).read_bytes() == before


def test_every_line_is_flushed(ledger: StoreLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (flushed.append(fd), real(fd))[1])
    booked = ledger.reserve(CHARGE, allow)
    assert len(flushed) == 1
    ledger.settle(booked, TokenUsage(1, 1))
    assert len(flushed) == 2


def test_no_ledger_is_an_empty_one(ledger: StoreLedger) -> None:
    assert ledger.days() == []
    assert ledger.read(DAY) == Day((), 0)


def days_before(tmp_path: Path, count: int) -> list[str]:
    """So many days with a call, which lie before DAY."""
    first = date.fromisoformat(DAY)
    days = [str(first - timedelta(days=n)) for n in range(count, 0, -1)]
    folder = tmp_path / "local" / "ledger"
    folder.mkdir(parents=True, exist_ok=True)
    for day in days:
        (folder / f"{day}.jsonl").write_text("{}\n")
    return days


def test_the_first_call_of_a_day_removes_the_oldest_days(ledger: StoreLedger, tmp_path: Path) -> None:
    days = days_before(tmp_path, MOST_DAYS + 5)
    (tmp_path / "local" / "ledger" / "notes.txt").write_text("mine")
    booked = ledger.reserve(CHARGE, allow)
    kept = [*days[6:], DAY]
    assert (ledger.days(), len(kept)) == (kept, MOST_DAYS)
    ledger.settle(booked, TokenUsage(1, 1))
    days_before(tmp_path, MOST_DAYS + 5)
    ledger.reserve(CHARGE, allow)
    assert len(ledger.days()) == MOST_DAYS + 6  # not the first of its day
    assert (tmp_path / "local" / "ledger" / "notes.txt").read_text() == "mine"


def test_a_clock_that_is_wrong_removes_one_day_and_not_its_own(ledger: StoreLedger, tmp_path: Path) -> None:
    days = days_before(tmp_path, MOST_DAYS)
    for at in ("1999-01-01T00:00:00Z", "2099-01-01T00:00:00Z"):
        ledger.reserve(replace(CHARGE, at=at), allow)
        assert len(ledger.days()) == MOST_DAYS
        assert at[:10] in ledger.days()
    assert ledger.days() == [*days[1:], "2099-01-01"]


def test_a_call_whose_day_was_removed_is_settled_nowhere(ledger: StoreLedger, tmp_path: Path) -> None:
    booked = ledger.reserve(CHARGE, allow)
    file(tmp_path).unlink()
    ledger.settle(booked, TokenUsage(1, 1))
    assert ledger.days() == []


def test_the_first_calls_of_a_day_at_once_lose_nothing(ledger: StoreLedger, tmp_path: Path) -> None:
    days_before(tmp_path, MOST_DAYS + 50)
    command = [sys.executable, "-P", "-c", WRITER, str(tmp_path), "10000000", NOW]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    writers = [subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    assert sum(int(writer.communicate()[0]) for writer in writers) == 200
    assert total(ledger.charges(DAY)).tokens == 200 * 100
    assert len(ledger.days()) == MOST_DAYS


def test_what_cannot_be_removed_keeps_no_call_from_being_booked(ledger: StoreLedger, tmp_path: Path) -> None:
    days = days_before(tmp_path, MOST_DAYS)
    stuck = tmp_path / "local" / "ledger" / f"{days[0]}.jsonl"
    stuck.unlink()
    stuck.mkdir()
    assert ledger.reserve(CHARGE, allow).number == 1
    assert stuck.is_dir()
