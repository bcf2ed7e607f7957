"""A short year of the simulation in `bench/`: upkeep takes outdated memories out of the way, and no others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from tests.conftest import ROOT


@pytest.fixture
def year(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import year as module  # type: ignore[import-not-found]

    yield module
    for name in ("year", "statements", "processes"):
        sys.modules.pop(name, None)


@pytest.mark.slow
def test_outdated_memories_are_shown_less_and_what_holds_as_much(year: ModuleType) -> None:
    live: Callable[..., object] = year.live
    none, kept = (live(60, 12, 480, 1, upkeep=upkeep) for upkeep in (False, True))
    before, after = year._sum(none.months), year._sum(kept.months)
    assert (before.recalls, after.recalls) == (480, 480)
    assert after.bad / after.places < 0.7 * before.bad / before.places
    assert after.found >= 0.99 * before.found
    assert {name: kept.lost[name] for name in list(kept.lost)[:3]} == {
        "not in the store": 0, "pinned, archived": 0, "a reason, archived": 0,
    }  # fmt: skip


def test_a_year_is_the_same_for_the_same_seed(year: ModuleType) -> None:
    assert year.make(60, 12, 3) == year.make(60, 12, 3)
    _, statements = year.make(60, 12, 3)
    assert len(statements) == 60
    assert sum(one.wrong or one.until < year.DAYS for one in statements) == 12
