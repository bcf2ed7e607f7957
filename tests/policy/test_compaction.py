from __future__ import annotations

from memcli.policy.retention import surplus
from tests.conftest import NOW, memory

MEMORIES = [
    memory("decision", kind="decision", updated_at="2026-01-30T00:00:00Z"),
    memory("inferred", kind="inferred", updated_at="2026-01-30T00:00:00Z"),
    memory("old", kind="decision", updated_at="2025-01-30T00:00:00Z"),
    memory("older", kind="decision", updated_at="2020-01-30T00:00:00Z"),
    memory("forgotten", kind="decision", active=False, updated_at="2026-01-31T00:00:00Z"),
    memory("pinned", pinned=True, updated_at="2019-01-30T00:00:00Z"),
]


def names(how: str, excess: int, **options: object) -> list[str]:
    return [m.id.removeprefix("mem_") for m in surplus(MEMORIES[::-1], excess, how, NOW, **options)]  # type: ignore[arg-type]


def test_the_first_in_goes_first() -> None:
    assert names("fifo", 9) == ["older", "old", "decision", "inferred", "forgotten"]


def test_the_least_valuable_goes_first() -> None:
    for how in ("value", "llm"):  # a model decides before the write; here nobody is asked
        assert names(how, 9) == ["forgotten", "older", "old", "inferred", "decision"]


def test_what_is_spared_stays_and_nothing_needs_to_go() -> None:
    assert names("value", 2, spared={"mem_forgotten"}) == ["older", "old"]
    assert names("fifo", 0) == names("value", -3) == []
