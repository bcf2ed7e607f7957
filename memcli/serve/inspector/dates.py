"""Times for people: how long ago, and the date."""

from __future__ import annotations

from datetime import datetime

_STEPS = (
    (60, 1, "second"), (3_600, 60, "minute"), (86_400, 3_600, "hour"), (7 * 86_400, 86_400, "day"),
    (35 * 86_400, 7 * 86_400, "week"), (365 * 86_400, 2_629_800, "month"),
)  # fmt: skip
_YEAR = 31_557_600


def ago(at: str, now: str) -> str:
    """How long before `now` the time `at` was, such as `3 days ago` or `in 2 hours`; `at` itself if it is not a time."""
    then, today = moment(at), moment(now)
    if then is None or today is None:
        return at
    seconds = (today - then).total_seconds()
    if abs(seconds) < 1:
        return "now"
    span, unit = next(((size, name) for end, size, name in _STEPS if abs(seconds) < end), (_YEAR, "year"))
    count = max(1, int(abs(seconds) // span))
    told = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{told} ago" if seconds > 0 else f"in {told}"


def date(at: str) -> str:
    """The time in UTC to the minute, such as `2026-01-31 09:30 UTC`; `at` itself if it is not a time."""
    found = moment(at)
    return at if found is None else f"{found.year:04d}-{found:%m-%d %H:%M} UTC"


def moment(at: object) -> datetime | None:
    """The time that a stored value stands for; None if it is not one with an offset."""
    try:
        found = datetime.fromisoformat(str(at))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
