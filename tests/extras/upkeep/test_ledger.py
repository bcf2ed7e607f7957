"""The ledger of upkeep."""

from __future__ import annotations

import pytest

from memcli.extras.upkeep import step as ledgers
from memcli.extras.upkeep.step import Ledger, Pending, ledger_from_json, ledger_to_json
from memcli.model.usage import RECALL, Use

PENDING = Pending({"mem_a": "old", "mem_b": "was"}, {"mem_a": "new", "mem_b": "is"}, frozenset(["mem_b"]))


def test_a_write_was_made_when_one_memory_is_as_it_made_it_and_else_not_done() -> None:
    assert PENDING.is_written({"mem_a": "other", "mem_b": "is"})
    assert not PENDING.is_written({"mem_a": "old", "mem_b": "was"})
    assert not PENDING.is_written({})
    ledger = Ledger().begin("main", PENDING).finish("main", is_written=False)
    assert not ledger.pending
    assert not ledger.done


def test_what_is_again_as_it_was_was_undone_unless_it_was_feedback() -> None:
    ledger = Ledger().begin("main", PENDING).finish("main")
    assert not ledger.pending
    assert ledger.undone("main", {"mem_a": "old"}) == {"mem_a"}
    assert ledger.undone("main", {"mem_a": "new"}) == frozenset()
    assert ledger.undone("other", {"mem_a": "old"}) == frozenset()
    assert ledger.undone("main", {"mem_b": "was"}) == frozenset()
    ledger = Ledger().with_done("main", {"mem_a": "one"}).with_done("main", {"mem_a": "two"})
    assert ledger.undone("main", {"mem_a": "two"}) == {"mem_a"}
    assert ledger.undone("main", {"mem_a": "one"}) == frozenset()


def test_only_the_last_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "MOST_DONE", 2)
    ledger = Ledger()
    for name in "abca":
        ledger = ledger.with_done("main", {name: "old"})
    assert list(ledger.done["main"]) == ["c", "a"]


def test_a_ledger_is_read_as_it_was_written() -> None:
    uses = [Use("2026-01-31T09:30:00Z", RECALL, "main", ("mem_a",))]
    ledger = Ledger().begin("main", PENDING).finish("main").begin("main", PENDING).seen("main", uses).seen("main", [])
    assert ledger_from_json(ledger_to_json(ledger)) == ledger
    assert ledger.since == {"main": "2026-01-31T09:30:00Z"}


@pytest.mark.parametrize("data", [None, [], 1, {}, {"pending": {"main": 1}, "done": {}, "since": {}}, {"pending": []}])
def test_a_ledger_that_makes_no_sense_is_empty(data: object) -> None:
    assert ledger_from_json(data) == Ledger()
