"""The period that a topic names, against the clock and the versions of a repository."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.model.periods import Period, find_period

NOW = "2026-11-22T10:00:00Z"  # a Sunday
MADE = {"8.1": "2026-03-01T12:00:00Z", "v8.2": "2026-05-01T12:00:00Z", "abc1234": "2026-07-01T12:00:00Z"}
ALWAYS, NEVER = "0001-01-01", "9999-12-31"


@pytest.mark.parametrize(
    ("topic", "since", "until", "rest"),
    [
        ("yesterday's commits", "2026-11-21", "2026-11-22", "commits"),
        ("what did we fix the day before yesterday?", "2026-11-20", "2026-11-21", "what did we fix ?"),
        ("what did we decide last week?", "2026-11-09", "2026-11-16", "what did we decide ?"),
        ("this month in auth", "2026-11-01", "2026-12-01", "in auth"),
        ("what broke last Tuesday", "2026-11-17", "2026-11-18", "what broke"),
        ("what broke last sunday", "2026-11-15", "2026-11-16", "what broke"),
        ("plans of last year", "2025-01-01", "2026-01-01", "plans of"),
        ("in the last 3 months", "2026-08-22", "2026-11-23", ""),
        ("5 days ago", "2026-11-17", "2026-11-18", ""),
        ("two weeks ago we chose a queue", "2026-11-02", "2026-11-09", "we chose a queue"),
        ("what changed in March 2024", "2024-03-01", "2024-04-01", "what changed"),
        ("on 3rd of March 2024", "2024-03-03", "2024-03-04", ""),
        ("on March 3, 2024", "2024-03-03", "2024-03-04", ""),
        ("Q3 2025 plans", "2025-07-01", "2025-10-01", "plans"),
        ("timeouts in 2024", "2024-01-01", "2025-01-01", "timeouts"),
        ("before 2024-05", ALWAYS, "2024-05-01", ""),
        ("after 2024-05-03", "2024-05-04", NEVER, ""),
        ("until yesterday", ALWAYS, "2026-11-22", ""),
        ("since March", "2026-03-01", NEVER, ""),
        ("since December", "2025-12-01", NEVER, ""),
        ("what changed since 8.1?", "2026-03-01", NEVER, "what changed ?"),
        ("between 8.1 and v8.2", "2026-03-01", "2026-05-01", ""),
        ("since commit abc1234", "2026-07-01", NEVER, ""),
        ("two weeks before May 3, 2024", "2024-05-03", "2024-05-04", "two weeks before"),
    ],
)
def test_a_period_is_resolved(topic: str, since: str, until: str, rest: str) -> None:
    period = find_period(topic, NOW, MADE.get)
    assert period is not None
    assert (period.since[:10], period.until[:10], period.rest) == (since, until, rest)


@pytest.mark.parametrize(
    "topic",
    [
        "", "timeout in 2000 ms", "port 2020", "least recently used", "since 3.11 of python", "in 2024-13", "error 1999",
        "the last item", "before the deploy", "after login", "on 31 February 2024", "in May", "since when", "2024",
    ],
)  # fmt: skip
def test_what_names_no_period(topic: str) -> None:
    assert find_period(topic, NOW, MADE.get) is None


def test_nearness_decays_beyond_the_ends() -> None:
    week = Period("2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z", "")
    days = ["2026-10-01", "2026-11-08", "2026-11-09", "2026-11-15", "2026-11-17", "2026-12-30"]
    values = [week.nearness(f"{day}T00:00:00Z") for day in days]
    assert values[2] == values[3] == 1.0
    assert 0 <= values[0] < 0.01 < values[1] < 1
    assert 0 <= values[5] < 0.01 < values[4] < 1


@given(st.text(), st.sampled_from(["last {} days", "in {}", "since {}", "{} weeks ago", "between {} and {}", "{}"]))
def test_any_topic_is_read(text: str, form: str) -> None:
    period = find_period(form.replace("{}", text), NOW, lambda _: None)
    assert period is None or period.since < period.until


@given(st.integers(0, 999), st.sampled_from(["day", "week", "month", "quarter", "year"]))
def test_any_count_of_units_is_resolved_or_refused(count: int, unit: str) -> None:
    period = find_period(f"{count} {unit}s ago", NOW, lambda _: None)
    assert period is None or ("0000" < period.since < period.until <= "2028")
