"""What time and use do to a score."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.model.recall import Entry, Query
from memcli.ranking.lexical import CONFIDENCE_SHARE, DECAY_SHARE, GUESS_SHARE, add_ageing
from tests.conftest import NOW, memory
from tests.ranking.asking import ranked

OLD = "2025-06-01T00:00:00Z"


def entry(kind: str, since: str, season: str = "", confidence: float = 1.0) -> Entry:
    return Entry(0, "mem_a", "a", kind, (), "medium", False, since, NOW, 0.5, confidence, "", "", "", since, season)


def aged(one: Entry, **query: object) -> dict[str, float]:
    parts = {0: {"words": 1.0}}
    add_ageing(parts, {0: one}, Query(topic="x", now=NOW, **query))  # type: ignore[arg-type]
    return parts[0]


def test_what_does_not_decay_is_left_alone() -> None:
    assert aged(entry("decision", OLD)) == {"words": 1.0}
    assert aged(entry("fact", NOW)) == {"words": 1.0}
    assert "decay" not in aged(entry("fact", "2026-01-31T09:00:00Z")), "it was told this hour"


def test_a_stale_memory_loses_a_share_at_most_and_a_guess_more() -> None:
    assert aged(entry("inferred", OLD))["decay"] == pytest.approx(-GUESS_SHARE)
    assert -DECAY_SHARE < aged(entry("correction", OLD))["decay"] < 0


def test_doubt_takes_a_share() -> None:
    assert aged(entry("decision", NOW, confidence=0.5)) == {"words": 1.0, "confidence": -CONFIDENCE_SHARE / 2}
    least = aged(entry("inferred", OLD, confidence=0.0))
    assert sum(least.values()) == pytest.approx(1 - CONFIDENCE_SHARE)


def test_a_season_gives_a_share_in_its_time() -> None:
    assert "season" in aged(entry("decision", NOW, "01-01..02-01"))
    assert "season" not in aged(entry("decision", NOW, "02-01..03-01"))
    assert "season" in aged(entry("decision", NOW, "release"), seasons={"release": "01-31..01-31"})


def test_accesses_count_only_if_they_are_weighed() -> None:
    assert "access" not in aged(entry("decision", NOW), accesses={"mem_a": 9})
    assert aged(entry("decision", NOW), accesses={"mem_a": 9}, weights={"access": 1.0})["access"] > 0
    assert aged(entry("decision", NOW), weights={"access": 1.0})["access"] == 0


@pytest.mark.parametrize(("since", "first"), [(NOW, "guess"), (OLD, "fact")])
def test_a_stale_guess_loses_to_a_fresh_fact_that_matches_about_equally(tmp_path: Path, since: str, first: str) -> None:
    notes = [
        memory("guess", kind="inferred", raw="Billing keeps orders in the MySQL database.", created_at=since),
        memory("fact", kind="custom", raw="Billing keeps the orders of clients in a PostgreSQL database."),
    ]
    assert next(iter(ranked(tmp_path, "fusion", "which database has the orders of billing?", notes))) == first
