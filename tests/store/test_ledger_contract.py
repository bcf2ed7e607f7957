"""What every ledger of model calls promises, in files and on a server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.errors import RefusedError
from memcli.model.usage import Charge, Day, TokenUsage, total
from memcli.ports.language_model import CallLedger
from memcli.record import replace
from memcli.store.layout import Layout
from memcli.store.ledger import StoreLedger as FileLedger
from memcli.store.state import State
from tests.conftest import NOW
from tests.servers import new_schema

DAY = NOW[:10]
CHARGE = Charge(at=NOW, space="main", provider="openai", model="m", task="t/1", usage=TokenUsage(100, 50, 7))


def allow(_: Day) -> None:
    pass


@pytest.fixture(params=["file", "postgres"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CallLedger]:
    if request.param == "file":
        yield FileLedger(State(Layout(str(tmp_path))))
        return
    url = request.getfixturevalue("postgres")
    from memcli.extras.postgres.address import address_of
    from memcli.extras.postgres.ledger import ServerLedger
    from memcli.extras.postgres.server import Server

    with new_schema(url) as schema:
        server = Server(address_of(url, schema), 10)
        yield ServerLedger(server)
        server.close()


def test_a_call_counts_as_booked_until_it_is_settled(ledger: CallLedger) -> None:
    first, second = ledger.reserve(CHARGE, allow), ledger.reserve(CHARGE, allow)
    assert (first.number, second.number) == (1, 2)
    ledger.settle(first, TokenUsage(10, 5, 3))
    found = ledger.charges(DAY)
    assert [(c.number, c.usage, c.is_settled) for c in found] == [
        (1, TokenUsage(10, 5, 3), True), (2, TokenUsage(100, 50, 7), False),
    ]  # fmt: skip
    assert (total(found).tokens, total(found).nano_usd, total(found).pending) == (165, 10, 1)
    assert ledger.days() == [DAY]


def test_a_call_belongs_to_the_day_on_which_it_was_booked(ledger: CallLedger) -> None:
    late = ledger.reserve(CHARGE, allow)
    ledger.reserve(replace(CHARGE, at="2026-02-01T00:00:00Z"), allow)
    ledger.settle(late, TokenUsage(1, 1))
    assert [total(ledger.charges(day)).tokens for day in ledger.days()] == [2, 150]


def test_what_is_settled_or_over_is_summed(ledger: CallLedger) -> None:
    ledger.settle(ledger.reserve(CHARGE, allow), TokenUsage(10, 5, 3))
    ledger.reserve(replace(CHARGE, provider="anthropic"), allow)
    assert dict(ledger.sums(DAY)) == {"openai": TokenUsage(10, 5, 3)}
    assert dict(ledger.sums("2026-02-01")) == {"openai": TokenUsage(10, 5, 3), "anthropic": TokenUsage(100, 50, 7)}


def test_what_is_refused_is_not_booked(ledger: CallLedger) -> None:
    def refuse(_: Day) -> None:
        raise RefusedError("no")

    with pytest.raises(RefusedError):
        ledger.reserve(CHARGE, refuse)
    assert ledger.charges(DAY) == ()


def test_calls_at_once_are_counted_exactly(ledger: CallLedger) -> None:
    made: list[int] = []

    def check(day: Day) -> None:
        if total(day.charges).tokens + 150 > 2000:
            raise RefusedError("enough")

    def work() -> None:
        for _ in range(5):
            try:
                booked = ledger.reserve(CHARGE, check)
            except RefusedError:
                return
            made.append(booked.number)
            ledger.settle(booked, TokenUsage(60, 40))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = ledger.charges(DAY)
    assert sorted(made) == [charge.number for charge in found]
    assert all(charge.is_settled for charge in found)
    assert 1850 <= total(found).tokens + 100 <= 2100
