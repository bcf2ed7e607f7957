"""The period that a topic names, against the clock and the versions of a repository."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.app.recall import may_have_period
from memcli.text.periods import Period, find_period

NOW = "2026-11-22T10:00:00Z"  # a Sunday
_MADE = {
    "8.1": "2026-03-01T12:00:00Z", "v8.2": "2026-05-01T12:00:00Z", "abc1234": "2026-07-01T12:00:00Z",
    "0.32rc1": "2026-01-03T12:00:00Z", "1.0.0-beta.2": "2026-01-04T12:00:00Z", "2.0a3": "2026-01-05T12:00:00Z",
    "1.0.dev3": "2026-01-06T12:00:00Z", "1.0-rc.1": "2026-01-07T12:00:00Z", "release-1.2": "2026-01-08T12:00:00Z",
    "@scope/pkg@1.2": "2026-01-09T12:00:00Z", "pkg-1.2": "2026-01-10T12:00:00Z", "v2": "2026-01-11T12:00:00Z",
    "nightly": "2026-01-12T12:00:00Z",
}  # fmt: skip


def made(name: str) -> tuple[str, str] | None:
    return (name, _MADE[name]) if name in _MADE else None


ALWAYS, NEVER = "0001-01-01", "9999-12-31"


def test_a_period_is_resolved() -> None:
    cases = [
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
        ("what changed since 0.32rc1?", "2026-01-03", NEVER, "what changed ?"),
        ("since 1.0.0-beta.2", "2026-01-04", NEVER, ""),
        ("since 2.0a3, in auth", "2026-01-05", NEVER, ", in auth"),
        ("since 1.0.dev3", "2026-01-06", NEVER, ""),
        ("since 1.0-rc.1", "2026-01-07", NEVER, ""),
        ("after release-1.2", "2026-01-08", NEVER, ""),
        ("since @scope/pkg@1.2", "2026-01-09", NEVER, ""),
        ("since pkg-1.2", "2026-01-10", NEVER, ""),
        ("What changed since V2", "2026-01-11", NEVER, "What changed"),
        ("since tag nightly in auth", "2026-01-12", NEVER, "in auth"),
        ("since 8.1.", "2026-03-01", NEVER, "."),
        ("changes in 8.1..v8.2", "2026-03-01", "2026-05-01", "changes in"),
        ("since the 8.1 release", "2026-03-01", NEVER, "release"),
        ("commits of the last 24 hours", "2026-11-21", "2026-11-22", "commits of"),
        ("ten days ago", "2026-11-12", "2026-11-13", ""),
        ("last week", "2026-11-09", "2026-11-16", ""),
        ("in the last week", "2026-11-15", "2026-11-23", ""),
        ("over the past month", "2026-10-22", "2026-11-23", ""),
        ("since March 5", "2026-03-05", NEVER, ""),
        ("since 5 December", "2025-12-05", NEVER, ""),
        ("on March 5", "2026-03-05", "2026-03-06", ""),
        ("on 2024/03/05", "2024-03-05", "2024-03-06", ""),
        ("since 2024-03-05T10:00:00Z", "2024-03-05", NEVER, ""),
        ("between January and March 2024", "2024-01-01", "2024-04-01", ""),
        ("from March 2024 on", "2024-03-01", NEVER, ""),
        ("last March", "2026-03-01", "2026-04-01", ""),
    ]
    for topic, since, until, rest in cases:
        assert may_have_period(topic)
        period = find_period(topic, NOW, made)
        assert period is not None
        assert (period.since[:10], period.until[:10], period.rest) == (since, until, rest)


def test_a_file_is_no_period() -> None:
    for name in ("today_view.py", "yesterday-report.sql", "today/index.ts"):
        assert not may_have_period(f"why does {name} crash?")


def test_a_period_says_what_was_understood() -> None:
    cases = [
        ("what changed since 0.32rc1?", "since 0.32rc1 (2026-01-03)"),
        ("before 8.1", "before 8.1 (2026-03-01)"),
        ("between 8.1 and v8.2", "8.1 to v8.2 (2026-03-01 to 2026-05-01)"),
        ("Commits of the last  3 months", "the last 3 months (2026-08-22 to 2026-11-22)"),
        ("yesterday's commits", "yesterday (2026-11-21)"),
        ("since March", "since March (from 2026-03-01)"),
        ("after 2024-05-03", "after 2024-05-03 (from 2024-05-04)"),
        ("until yesterday", "until yesterday (to 2026-11-21)"),
        ("from March 2024 onwards", "since March 2024 (from 2024-03-01)"),
    ]
    for topic, name in cases:
        period = find_period(topic, NOW, made)
        assert period is not None
        assert period.name == name


def test_what_names_no_period() -> None:
    cases = [
        "", "timeout in 2000 ms", "port 2020", "least recently used", "since 3.11 of python", "in 2024-13", "error 1999",
        "the last item", "before the deploy", "after login", "on 31 February 2024", "in May", "since when", "2024",
        "since release notes exist", "before utf-8", "after 2-3 retries", "this may break", "the last may fail",
    ]  # fmt: skip
    assert [topic for topic in cases if find_period(topic, NOW, made) is not None] == []


def test_nearness_decays_beyond_the_ends() -> None:
    week = Period("2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z", "")
    days = ["2026-10-01", "2026-11-08", "2026-11-09", "2026-11-15", "2026-11-17", "2026-12-30"]
    values = [week.nearness(f"{day}T00:00:00Z") for day in days]
    assert values[2] == values[3] == 1.0
    assert 0 <= values[0] < 0.01 < values[1] < 1
    assert 0 <= values[5] < 0.01 < values[4] < 1


@given(st.text(), st.sampled_from(["last {} days", "in {}", "since {}", "{} weeks ago", "between {} and {}", "{}"]))
def test_any_topic_is_read(text: str, form: str) -> None:
    topic = form.replace("{}", text)
    period = find_period(topic, NOW, lambda name: ("1.0", NOW))
    assert period is None or may_have_period(topic)
    period = find_period(topic, NOW, lambda _: None)
    assert period is None or period.since < period.until


@given(st.integers(0, 999), st.sampled_from(["day", "week", "month", "quarter", "year"]))
def test_any_count_of_units_is_resolved_or_refused(count: int, unit: str) -> None:
    period = find_period(f"{count} {unit}s ago", NOW, lambda _: None)
    assert period is None or ("0000" < period.since < period.until <= "2028")
