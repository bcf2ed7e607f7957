"""How age changes the rank of a memory: the decay of its confidence, computed at recall and never stored, and seasons, the
times in which it ranks higher.

    12-01..12-31                                 each year; 12-20..01-06 spans two of them
    2026-03-02..2026-03-06                       once
    last 3 days of month                         first or last days of each month, quarter or year
    last 2 days of 2 weeks from 2026-01-05       of each span of so many weeks, the first of which began on that day

Several periods are separated by commas. Both ends belong to a period; days are those of UTC.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

from memcli.clock import days_between
from memcli.errors import UsageError
from memcli.model.memory import Memory
from memcli.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date
    from typing import TypeAlias

# Without decay a fact of last year and a guess of last month ranked above what was confirmed today.
HALF_LIVES: Mapping[str, float] = {
    "fact": 30, "preference": 90, "procedure": 60, "correction": 365, "negative": 365, "inferred": 7,
}  # fmt: skip
"""Days in which the confidence in a memory of this kind falls to 1/e; other kinds do not decay."""
_ACCESS_SHARE = 0.1


def remaining(kind: str, since: str, now: str) -> float:
    """The share of the confidence that is left at `now` of a memory that was stored or confirmed at `since`; 0..1."""
    days = HALF_LIVES.get(kind)
    return 1.0 if days is None else math.exp(-days_between(since, now) / days)


def familiarity(accesses: int) -> float:
    """The increase of the confidence by accesses, as a share of it: .1 ln(accesses + 1)."""
    return _ACCESS_SHARE * math.log(accesses + 1)


def confirmed_at(memory: Memory) -> str:
    """The time from which confidence decays: that of the last edit or confirmation, else `created_at`."""
    is_renewed = memory.version > 1 or memory.strength > 1
    return max(memory.created_at, memory.updated_at) if is_renewed else memory.created_at


def effective_confidence(memory: Memory, now: str, accesses: int = 0) -> float:
    """`confidence * exp(-age / half_life) * (1 + .1 ln(accesses + 1)) * trust`, at most 1."""
    left = memory.confidence * memory.trust * remaining(memory.kind, confirmed_at(memory), now)
    return min(1.0, left * (1 + familiarity(accesses)))


_FORMS = "12-01..12-31, 2026-03-02..2026-03-06, last 3 days of month, or last 2 days of 2 weeks from 2026-01-05"
_YEARLY = regex(r"(\d\d-\d\d)\.\.(\d\d-\d\d)\Z")
_ONCE = regex(r"(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)\Z")
_PART = regex(r"(first|last) (\d{1,3}) days? of (month|quarter|year|(\d{1,2}) weeks? from (\d{4}-\d\d-\d\d))\Z")
_NAME = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_MONTHS: Mapping[str, int] = {"month": 1, "quarter": 3, "year": 12}
_LEAP = "2000-"  # a leap year, in which 02-29 is valid

_Holds: TypeAlias = "Callable[[date], bool]"


def check_season(text: str) -> None:
    """Raises UsageError when `text` is neither a valid period nor a name."""
    if _NAME.match(text) is None or text[:1].isdigit():
        _periods(text)


def check_period(text: str, at: str) -> None:
    """Raises UsageError naming the field `at` when `text` is not a valid period."""
    try:
        _periods(text)
    except UsageError as error:
        raise UsageError(f"{at}: {error.message}", error.hint) from None


@lru_cache(maxsize=1_000)
def is_in_season(season: str, day: str) -> bool:
    """Whether `day` (YYYY-MM-DD) is in the season. False for a name, and for an invalid period in a hand-edited file."""
    from datetime import date  # few memories have a season, and each command would import it

    try:
        today = date.fromisoformat(day)
        return any(holds(today) for holds in _periods(season))
    except (UsageError, ValueError, OverflowError):
        return False


def _periods(text: str) -> list[_Holds]:
    return [_period(part.strip().lower()) for part in text.split(",")]


def _period(text: str) -> _Holds:
    from datetime import date

    try:
        if found := _YEARLY.match(text):
            begin, end = found.groups()
            for bound in (begin, end):
                date.fromisoformat(_LEAP + bound)

            def is_of_season(day: date) -> bool:
                of_year = f"{day:%m-%d}"
                return begin <= of_year <= end if begin <= end else of_year >= begin or of_year <= end

            return is_of_season
        if found := _ONCE.match(text):
            first, last = map(date.fromisoformat, found.groups())
            if first <= last:
                return lambda day: first <= day <= last
        if (found := _PART.match(text)) and int(found[2]):
            return _part(*found.groups())
    except ValueError:
        pass
    raise UsageError(f"not a season: {text[:60]!a}", f"write it as {_FORMS}; or a name such as release-week")


def _part(side: str, days: str, span: str, weeks: str | None, start: str | None) -> _Holds:
    """A test for the first or last days of a month, quarter or year, or of each span of some weeks from a start date."""
    from datetime import date, timedelta

    length, anchor = 7 * int(weeks or 0), date.fromisoformat(start) if start else date.min
    if start and not length:
        raise ValueError(weeks)

    def holds(day: date) -> bool:
        if start:
            begin = anchor + timedelta((day - anchor).days // length * length)
            end = begin + timedelta(length)
        else:
            months = _MONTHS[span]
            first = (day.month - 1) // months * months
            begin, after = date(day.year, first + 1, 1), first + months
            end = date(day.year + after // 12, after % 12 + 1, 1)
        return (day - begin).days < int(days) if side == "first" else (end - day).days <= int(days)

    return holds
