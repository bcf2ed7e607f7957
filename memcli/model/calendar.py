"""The names of months and days."""

from __future__ import annotations

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

MONTH_NUMBERS = (
    {month: n for n, month in enumerate(MONTHS, 1)} | {m[:3]: n for n, m in enumerate(MONTHS, 1)} | {"sept": 9}
)
"""From 1 on, by the whole name and by what it is cut to."""
DAY_NUMBERS = {day: n for n, day in enumerate(DAYS)}
"""From 0, which is Monday."""
