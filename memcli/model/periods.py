"""The period that a topic names: `last week`, `in March 2024`, `since 8.1`, `yesterday's commits`.

Days, weeks (from Monday on) and months are those of the calendar, in UTC.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from memcli.clock import days_between
from memcli.model.calendar import DAY_NUMBERS, MONTH_NUMBERS
from memcli.record import Record

Resolve = Callable[[str], "str | None"]
"""When the version, tag or commit of a name was made, RFC 3339 in UTC; None for a name that is none."""

_BEGINNING, _END = "0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z"
_DECAY_SHARE, _LEAST_DECAY_DAYS = 0.25, 3.0
"""Beyond its ends a period still counts for a while, a long one for longer: `exp(-distance / (share of its length))`."""
_YEARS_OPEN = 365.0

_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_WEEKDAY = "|".join(DAY_NUMBERS)
_UNITS = r"(?:day|week|month|quarter|year)"
_NO_UNIT = r"(?![\w.:-]|\s*(?:%|(?:ms|s|px|bytes?|lines?|items?|tokens?|rows?|files?|requests?|times|chars?|characters|words)\b))"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_SPAN = (
    r"(?:the day before yesterday|yesterday|today|\d{4}-(?:0[1-9]|1[0-2])(?:-\d{2})?(?![\w-])"
    rf"|(?:this|last|past|previous)\s+(?:{_UNITS}|{_WEEKDAY})\b"
    rf"|(?:the\s+)?(?:last|past|previous)\s+(?:\d{{1,3}}|few|couple of|two|three|four|five|six)\s+{_UNITS}s?\b"
    rf"|(?:\d{{1,3}}|a|an|one|two|three|four|five|six)\s+{_UNITS}s?\s+ago"
    rf"|{_DAY}\s+(?:of\s+)?(?:{_MONTH})\.?,?\s+\d{{4}}\b|(?:{_MONTH})\.?\s+{_DAY},?\s+\d{{4}}\b"
    rf"|(?:{_MONTH})\.?,?\s+(?:of\s+)?\d{{4}}\b|q[1-4]\s+(?:of\s+)?\d{{4}}\b|(?:19|20)\d{{2}}{_NO_UNIT})"
)
_NAME = r"(?:(?:version|release|tag|commit)\s+)?(?:v?\d+(?:\.\d+)+(?:-?(?:a|b|rc|alpha|beta|dev|post)\.?\d*)?|[0-9a-f]{7,40})(?![\w.])"
_FORMS = (
    ("between", rf"\b(?:between|from)\s+({_SPAN}|{_NAME})\s+(?:and|to|until)\s+({_SPAN}|{_NAME})"),
    ("open", rf"\b(since|as of|after|before|until|prior to)\s+(?:the\s+)?({_SPAN}|(?:{_MONTH})\b|{_WEEKDAY}|{_NAME})"),
    ("within", rf"\b(?:(?:in|on|during|over|from|within)\s+)?(?:the\s+)?({_SPAN})(?:'s\b|s'(?!\w))?"),
)
_ALONE = r"(?:19|20)\d{2}"
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6}


class Period(Record):
    """A stretch of time: from `since` on, and before `until`, RFC 3339 in UTC. `rest` is the topic without its words."""

    since: str
    until: str
    rest: str

    def nearness(self, moment: str) -> float:
        """1 for a moment within it, and less the farther a moment is from it; 0..1."""
        if self.since <= moment < self.until:
            return 1.0
        distance = days_between(moment, self.since) if moment < self.since else days_between(self.until, moment)
        is_open = self.since == _BEGINNING or self.until == _END
        length = _YEARS_OPEN / 4 if is_open else days_between(self.since, self.until)
        return math.exp(-distance / max(_LEAST_DECAY_DAYS, _DECAY_SHARE * length))


def find_period(topic: str, now: str, resolve: Resolve) -> Period | None:
    """The first period that the topic names, as seen from `now`; None where it names none."""
    low = topic.lower()
    for form, pattern in _FORMS:
        for match in re.finditer(pattern, low):
            ends = _ends(form, match, now, resolve)
            if ends and ends[0] < ends[1]:
                rest = f"{topic[: match.start()]} {topic[match.end() :]}" if len(low) == len(topic) else topic
                return Period(*ends, " ".join(rest.split()))
    return None


def _ends(form: str, match: re.Match[str], now: str, resolve: Resolve) -> tuple[str, str] | None:
    if form == "between":
        first, last = _stretch(match[1], now, resolve), _stretch(match[2], now, resolve)
        return (first[0], last[1]) if first and last else None
    if form == "within":
        if re.fullmatch(_ALONE, match[1]) and match.start() == match.start(1):
            return None  # a number alone is no year
        return _stretch(match[1], now, resolve)
    if re.search(rf"{_UNITS}s?\s+\Z|weekend\s+\Z", match.string[: match.start()]):
        return None  # `two weeks before May 3, 2024` is near that day, not any time before it
    found = _stretch(match[2], now, resolve)
    if found is None:
        return None
    return {
        "since": (found[0], _END), "as of": (found[0], _END), "after": (found[1], _END),
        "before": (_BEGINNING, found[0]), "prior to": (_BEGINNING, found[0]), "until": (_BEGINNING, found[1]),
    }[match[1]]  # fmt: skip


def _stretch(words: str, now: str, resolve: Resolve) -> tuple[str, str] | None:
    """The ends of what `words` name; None where they name nothing."""
    try:
        ends = _on_calendar(words, datetime.fromisoformat(now).replace(hour=0, minute=0, second=0))
    except (ValueError, OverflowError):
        return None
    if ends:
        return _written(ends[0]), _written(ends[1])
    at = resolve(words.rsplit(maxsplit=1)[-1])
    return (at, at) if at else None


def _written(moment: datetime) -> str:
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%SZ}"


def _on_calendar(words: str, today: datetime) -> tuple[datetime, datetime] | None:
    day = timedelta(days=1)
    near = {"the day before yesterday": 2, "yesterday": 1, "today": 0}.get(words)
    if near is not None:
        return today - near * day, today - (near - 1) * day
    if dated := re.fullmatch(r"(\d{4})-(\d{2})(?:-(\d{2}))?", words):
        year, month, on = int(dated[1]), int(dated[2]), dated[3]
        if on is None:
            return _months(year, month, 1)
        start = datetime(year, month, int(on), tzinfo=UTC)
        return start, start + day
    if quarter := re.fullmatch(r"q([1-4])\s+(?:of\s+)?(\d{4})", words):
        return _months(int(quarter[2]), 3 * int(quarter[1]) - 2, 3)
    if re.fullmatch(_ALONE, words):
        return _months(int(words), 1, 12)
    written = re.fullmatch(rf"(?:({_DAY})\s+(?:of\s+)?)?({_MONTH})\.?(?:\s+({_DAY}))?,?\s+(\d{{4}})", words)
    if written and (on := written[1] or written[3]):
        start = datetime(int(written[4]), MONTH_NUMBERS[written[2]], int(on.rstrip("stndrh")), tzinfo=UTC)
        return start, start + day
    if named := re.fullmatch(rf"({_MONTH})(?:\.?,?\s+(?:of\s+)?(\d{{4}}))?", words):
        month = MONTH_NUMBERS[named[1]]
        year = int(named[2]) if named[2] else today.year - (month > today.month)
        return _months(year, month, 1)
    return _relative(words, today)


def _relative(words: str, today: datetime) -> tuple[datetime, datetime] | None:
    day = timedelta(days=1)
    weekday = words.removeprefix("last ").removeprefix("past ").removeprefix("previous ").removeprefix("this ")
    if weekday in DAY_NUMBERS:
        back = (today.weekday() - DAY_NUMBERS[weekday]) % 7 or 7
        return today - back * day, today - (back - 1) * day
    if one := re.fullmatch(rf"(this|last|past|previous)\s+({_UNITS})", words):
        start, end = _current(one[2], today)
        return (start, end) if one[1] == "this" else (_current(one[2], start - day)[0], start)
    if several := re.fullmatch(rf"(?:the\s+)?(?:last|past|previous)\s+([\w ]+?)\s+({_UNITS})s?", words):
        return _back(several[1], several[2], today), today + day
    if ago := re.fullmatch(rf"(\w+)\s+({_UNITS})s?\s+ago", words):
        start = _back(ago[1], ago[2], today)
        return (start, start + day) if ago[2] == "day" else _current(ago[2], start)
    return None


def _current(unit: str, at: datetime) -> tuple[datetime, datetime]:
    """The day, week, month, quarter or year that holds a day."""
    if unit == "day":
        return at, at + timedelta(days=1)
    if unit == "week":
        start = at - timedelta(days=at.weekday())
        return start, start + timedelta(days=7)
    if unit == "month":
        return _months(at.year, at.month, 1)
    if unit == "quarter":
        return _months(at.year, at.month - (at.month - 1) % 3, 3)
    return _months(at.year, 1, 12)


def _back(count: str, unit: str, today: datetime) -> datetime:
    number = int(count) if count.isdigit() else _COUNTS[count]
    if unit in ("day", "week"):
        return today - timedelta(days=number * (7 if unit == "week" else 1))
    months = number * {"month": 1, "quarter": 3, "year": 12}[unit]
    first = _months(today.year, today.month - months, 1)
    return min(first[0] + timedelta(days=today.day - 1), first[1] - timedelta(days=1))


def _months(year: int, month: int, count: int) -> tuple[datetime, datetime]:
    """So many months from this one on, which may be counted from another year. Raises ValueError."""
    first, last = year * 12 + month - 1, year * 12 + month - 1 + count
    return tuple(datetime(n // 12, n % 12 + 1, 1, tzinfo=UTC) for n in (first, last))  # type: ignore[return-value]
