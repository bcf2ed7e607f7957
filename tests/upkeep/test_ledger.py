"""The ledger of upkeep."""

from __future__ import annotations

import pytest

from memcli.model.usage import RECALL, Use
from memcli.upkeep import ledger as ledgers
from memcli.upkeep.ledger import Ledger, Pending, ledger_from_json, ledger_to_json

PENDING = Pending(
    {"mem_a": "old", "mem_b": "was"}, {"mem_a": "new", "mem_b": "is"}, {"archive": ("mem_a",), "usage": ("mem_b",)}
)


def test_a_write_was_made_when_one_memory_is_as_it_made_it() -> None:
    assert PENDING.is_written({"mem_a": "other", "mem_b": "is"})
    assert not PENDING.is_written({"mem_a": "old", "mem_b": "was"})
    assert not PENDING.is_written({})


def test_what_is_again_as_it_was_was_undone() -> None:
    ledger = Ledger().begin("main", PENDING).finish("main")
    assert not ledger.pending
    assert ledger.undone("main", {"mem_a": "old"}) == {"archive": frozenset(["mem_a"])}
    assert ledger.undone("main", {"mem_a": "new"}) == {}
    assert ledger.undone("other", {"mem_a": "old"}) == {}


def test_feedback_is_always_new() -> None:
    ledger = Ledger().begin("main", PENDING).finish("main")
    assert ledger.undone("main", {"mem_b": "was"}) == {}


def test_what_was_not_written_is_not_done() -> None:
    ledger = Ledger().begin("main", PENDING).finish("main", is_written=False)
    assert not ledger.pending
    assert not ledger.done


def test_a_memory_that_changed_meanwhile_is_known_as_it_was_last() -> None:
    ledger = Ledger().with_done("main", {"mem_a": "one"}, {"archive": ["mem_a"]})
    more = ledger.with_done("main", {"mem_a": "one"}, {"tags": ["mem_a"]})
    assert more.undone("main", {"mem_a": "one"}) == {"archive": frozenset(["mem_a"]), "tags": frozenset(["mem_a"])}
    other = more.with_done("main", {"mem_a": "two"}, {"tags": ["mem_a"]})
    assert other.undone("main", {"mem_a": "one"}) == {}


def test_only_the_last_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "MOST_DONE", 2)
    ledger = Ledger()
    for name in "abc":
        ledger = ledger.with_done("main", {name: "old"}, {"tags": [name]})
    assert list(ledger.done["main"]) == ["b", "c"]


def test_a_ledger_is_read_as_it_was_written() -> None:
    uses = [Use("2026-01-31T09:30:00Z", RECALL, "main", ("mem_a",))]
    ledger = Ledger().begin("main", PENDING).finish("main").begin("main", PENDING).seen("main", uses).seen("main", [])
    assert ledger_from_json(ledger_to_json(ledger)) == ledger
    assert ledger.since == {"main": "2026-01-31T09:30:00Z"}


@pytest.mark.parametrize("data", [None, [], 1, {}, {"pending": {"main": 1}, "done": {}, "since": {}}, {"pending": []}])
def test_a_ledger_that_makes_no_sense_is_empty(data: object) -> None:
    assert ledger_from_json(data) == Ledger()
