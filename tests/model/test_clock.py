from __future__ import annotations

from datetime import datetime

import pytest

from memcli.clock import days_between, frozen_clock, normalize_time, system_clock
from memcli.errors import UsageError


def test_times_are_normalized_to_utc() -> None:
    cases = [
        ("2026-01-31T09:30:00Z", "2026-01-31T09:30:00Z"),
        ("2026-01-31", "2026-01-31T00:00:00Z"),
        ("2021-10-15T12:03:53+02:00", "2021-10-15T10:03:53Z"),
        ("2026-01-31T09:30:00.987Z", "2026-01-31T09:30:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
    ]
    assert [(text, normal) for text, normal in cases if normalize_time(text) != normal] == []


def test_every_time_in_the_one_format_is_taken_as_it_is_and_no_other() -> None:
    for year, month, day in [(2024, 2, 29), (2023, 2, 29), (1900, 2, 29), (2000, 2, 29), (2026, 4, 31), (2026, 12, 31)]:
        text = f"{year}-{month:02}-{day:02}T23:59:59Z"
        try:
            datetime(year, month, day)  # noqa: DTZ001
        except ValueError:
            with pytest.raises(UsageError):
                normalize_time(text)
        else:
            assert normalize_time(text) == text
    for clock in ["25:00:00", "23:60:00", "23:59:60"]:
        with pytest.raises(UsageError):
            normalize_time(f"2026-01-31T{clock}Z")


def test_what_is_no_time_is_refused() -> None:
    for text in ["", "yesterday", "2026-13-01", "9999-12-31T23:59:59-05:00", "x" * 1000]:
        with pytest.raises(UsageError):
            normalize_time(text)


def test_a_frozen_clock_stands_still() -> None:
    clock = frozen_clock("2026-01-31")
    assert clock() == clock() == "2026-01-31T00:00:00Z"


def test_the_system_clock_writes_the_one_format() -> None:
    assert normalize_time(system_clock()) == system_clock()


def test_days_never_run_backwards() -> None:
    assert days_between("2026-01-01T00:00:00Z", "2026-01-02T12:00:00Z") == 1.5
    assert days_between("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z") == 0
