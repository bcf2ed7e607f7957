"""Time: the only module that reads the clock of the system, and the one format of times."""

from __future__ import annotations

import time
from collections.abc import Callable

from memcli.errors import UsageError
from memcli.regex import regex

Clock = Callable[[], str]
"""Returns now as RFC 3339 in UTC with whole seconds, such as `2026-01-31T09:30:00Z`."""

_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
_NORMAL = regex(
    r"(?!0000)[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z\Z"
)
"""A time in that format, but for a leap day."""
_SECONDS_PER_DAY = 86_400


def system_clock() -> str:
    """Now, by the machine's clock."""
    return time.strftime(_FORMAT, time.gmtime())


def frozen_clock(at: str) -> Clock:
    """A clock that always returns `at`. Raises UsageError when `at` is not a time."""
    moment = normalize_time(at)
    return lambda: moment


def normalize_time(text: str) -> str:
    """`text` (RFC 3339, or a date alone) as UTC with whole seconds, so that times compare as strings.

    A time without an offset is taken as UTC. Raises UsageError when `text` is not a time.
    """
    if _NORMAL.match(text):
        return text
    from datetime import UTC, datetime  # takes as long to import as ten modules, and most times are normal

    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"not a time: {text[:40]!r}", "write it as 2026-01-31T09:30:00Z or 2026-01-31") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        raise UsageError(f"not a time: {text[:40]!r}", "the year must be between 1 and 9999") from None
    # glibc writes years below 1000 without zeros (`%Y`), and such times would not compare as strings.
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%SZ}"


def time_or_none(value: object) -> str | None:
    """`value` as `normalize_time` gives it; None where it is not a text or not a time."""
    try:
        return normalize_time(value) if isinstance(value, str) else None
    except UsageError:
        return None


def days_between(earlier: str, later: str) -> float:
    """Days from `earlier` to `later` (both normalized); never below 0."""
    return max(0.0, (_seconds(later) - _seconds(earlier)) / _SECONDS_PER_DAY)


_MOST_KNOWN = 20_000
_known: dict[str, int] = {}
"""The seconds of times that were asked for."""


def _seconds(moment: str) -> int:
    """The seconds from March 1, year 0, to a normalized time."""
    # By hand: the ranking asks this of every hit, and `datetime` takes longer to import than the ranking needs.
    if moment in _known:
        return _known[moment]
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    year, month = int(moment[:4]), int(moment[5:7])
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)  # so that a leap day ends a year
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + int(moment[8:10]) - 1
    found = ((24 * days + int(moment[11:13])) * 60 + int(moment[14:16])) * 60 + int(moment[17:19])
    _known[moment] = found
    return found
