"""Confidence: what is left of it by kind and age, and what accesses add."""

from __future__ import annotations

import math
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import UsageError
from memcli.policy.ageing import (
    HALF_LIVES,
    check_period,
    check_season,
    confirmed_at,
    effective_confidence,
    is_in_season,
    remaining,
)
from tests.conftest import NOW, memory
from tests.policy.test_fields import CASES

AGO_30 = "2026-01-01T09:30:00Z"


def test_after_its_half_life_a_kind_has_a_third_left_and_a_decision_does_not_decay() -> None:
    dates = {7: "2026-01-24", 30: "2026-01-01", 60: "2025-12-02", 90: "2025-11-02", 365: "2025-01-31"}
    for kind, life in HALF_LIVES.items():
        assert remaining(kind, f"{dates[life]}T09:30:00Z", NOW) == pytest.approx(math.exp(-1)), kind
    assert remaining("decision", "1999-01-01T00:00:00Z", NOW) == 1


def test_the_formula() -> None:
    told = memory(created_at=AGO_30, confidence=0.8, trust=0.5)
    assert effective_confidence(told, NOW) == pytest.approx(0.4 * math.exp(-1))
    assert effective_confidence(told, NOW, 9) == pytest.approx(0.4 * math.exp(-1) * (1 + 0.1 * math.log(10)))
    assert effective_confidence(memory(), NOW, 10_000) == 1


@pytest.mark.parametrize("renewed", [{"version": 2}, {"strength": 2}])
def test_an_edit_or_a_confirmation_renews(renewed: dict[str, int]) -> None:
    assert confirmed_at(memory(created_at=AGO_30)) == AGO_30
    assert confirmed_at(memory(created_at=AGO_30, **renewed)) == NOW


@given(st.sampled_from([*HALF_LIVES, "decision"]), st.floats(0, 1), st.integers(0, 10**6), st.integers(2000, 2030))
def test_it_is_a_share(kind: str, confidence: float, accesses: int, year: int) -> None:
    told = memory(kind=kind, confidence=confidence, created_at=f"{year}-06-01T00:00:00Z")
    assert 0 <= effective_confidence(told, NOW, accesses) <= 1


YEAR = [date(2026, 1, 1) + timedelta(n) for n in range(365)]


def days(season: str, **named: str) -> list[str]:
    """The days of 2026 that the season holds on."""
    return [f"{day:%m-%d}" for day in YEAR if is_in_season(named.get(season, season), f"{day}")]


def test_the_days_of_a_season() -> None:
    for season, found in CASES["seasons"]:
        check_season(season)
        assert days(season) == found.split(), season
    found = days("last 3 days of month")
    assert (len(found), found[:6]) == (36, ["01-29", "01-30", "01-31", "02-26", "02-27", "02-28"])
    assert days("release-week", **{"release-week": "06-01..06-01"}) == ["06-01"]  # a name has the period of the policy
    assert days("02-28..02-29") == ["02-28"]


NO_SEASONS = (
    "", "Some day", "13-01..13-02", "02-30..03-01", "2026-03-03..2026-03-02", "last 0 days of month", "last 3 days of week",
    "first 2 days of 0 weeks from 2026-01-05", "12-01", "01-01..01-02,", "2026-02-30..2026-03-01",
)  # fmt: skip


def test_what_is_no_season_is_refused_and_never_holds() -> None:
    for wrong in NO_SEASONS:
        with pytest.raises(UsageError, match="not a season"):
            check_season(wrong)
        assert days(wrong) == [], wrong
    with pytest.raises(UsageError, match=r"policy\.seasons\.x: not a season"):
        check_period("release-week", "policy.seasons.x")


@given(st.text(max_size=40))
def test_any_text_is_refused_or_read(text: str) -> None:
    try:
        check_season(text)
    except UsageError:
        assert not is_in_season(text, "2026-01-31")
