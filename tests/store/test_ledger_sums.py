"""The sums of the ledger: they only grow, whatever the ledger removes, and a call counts once."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.model.metrics import Charge, TokenUsage
from memcli.store.layout import make_root
from memcli.store.ledger import StoreLedger
from tests.local_state import state_of

DAYS = ("2026-01-01", "2026-01-02", "2026-01-05", "2026-01-06", "2026-01-07")
TODAY, NEXT = "2026-01-07", "2026-01-08"


@pytest.fixture
def ledger(tmp_path: Path) -> StoreLedger:
    make_root(str(tmp_path / ".memory"))
    return StoreLedger(state_of(tmp_path))


def call(ledger: StoreLedger, day: str, *, settled: bool = True, provider: str = "openai") -> None:
    charge = Charge(
        at=f"{day}T12:00:00Z", space="main", provider=provider, model="m", task="t/1", usage=TokenUsage(10, 20, 5)
    )
    booked = ledger.reserve(charge, lambda _: None)
    if settled:
        ledger.settle(booked, TokenUsage(1, 2, 3))


def test_nothing_was_charged(ledger: StoreLedger, tmp_path: Path) -> None:
    assert ledger.sums(TODAY) == {}
    assert not (tmp_path / ".memory/local").exists()


def test_sums_stay_when_days_are_removed(ledger: StoreLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in DAYS:
        call(ledger, day)
    assert ledger.sums(TODAY) == ledger.sums(TODAY) == {"openai": TokenUsage(5, 10, 15)}
    monkeypatch.setattr("memcli.store.ledger.MOST_DAYS", len(DAYS) - 1)
    call(ledger, NEXT, provider="anthropic")
    assert ledger.sums(NEXT) == {"openai": TokenUsage(5, 10, 15), "anthropic": TokenUsage(1, 2, 3)}
    assert ledger.days() == [*DAYS[2:], NEXT]


def test_a_call_that_is_not_settled_counts_when_its_day_is_over(ledger: StoreLedger) -> None:
    call(ledger, TODAY, settled=False)
    assert ledger.sums(TODAY) == {}
    assert ledger.sums("2026-01-08") == {"openai": TokenUsage(10, 20, 5)}


def test_what_is_settled_after_midnight_counts_as_it_is_settled(ledger: StoreLedger) -> None:
    for day in DAYS[:3]:
        call(ledger, day)
    booked = ledger.reserve(
        Charge(
            at=f"{DAYS[3]}T23:59:59Z",
            space="main",
            provider="openai",
            model="m",
            task="t/1",
            usage=TokenUsage(10, 20, 5),
        ),
        lambda _: None,
    )
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
