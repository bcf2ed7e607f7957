"""Confidence: what is left of it by kind and age, and what accesses add."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.policy.ageing import HALF_LIVES, confirmed_at, effective_confidence, remaining
from tests.conftest import NOW, memory

AGO_30 = "2026-01-01T09:30:00Z"


@pytest.mark.parametrize("kind", sorted(HALF_LIVES))
def test_after_its_half_life_a_kind_has_a_third_left(kind: str) -> None:
    since = {7: "2026-01-24", 30: "2026-01-01", 60: "2025-12-02", 90: "2025-11-02", 365: "2025-01-31"}[HALF_LIVES[kind]]
    assert remaining(kind, f"{since}T09:30:00Z", NOW) == pytest.approx(math.exp(-1))


def test_a_decision_does_not_decay() -> None:
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
