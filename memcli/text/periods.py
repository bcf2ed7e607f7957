"""The period in a topic: `last week`, `in March 2024`, `since 8.1`, `yesterday's commits`.

Days, weeks (from Monday) and months are those of the calendar, in UTC.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from memcli.clock import days_between
from memcli.record import Record, replace
from memcli.text.words import DAY_NUMBERS, MONTH_NUMBERS

Resolve = Callable[[str], "tuple[str, str] | None"]
"""Looks up a version, tag or commit: its full name, and its time, RFC 3339 in UTC; None if there is none."""
# Without the suffix, `0.32rc1` would be read as a version that ends with 1.
PRE_RELEASE = r"[-._]?(?:alpha|beta|preview|pre|dev|post|rc|a|b|c)(?:[-._]?\d+)?"
"""The suffix of a pre-release after the numbers of a version, in lower case."""

_BEGINNING, _END = "0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z"
_DECAY_SHARE, _LEAST_DECAY_DAYS = 0.25, 3.0
"""Outside of a period its weight decays with the distance: `exp(-distance / (share of its length))`, in days."""
_YEARS_OPEN = 365.0

_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_WEEKDAY = "|".join(DAY_NUMBERS)
_UNITS = r"(?:hour|day|week|month|quarter|year)"
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "several": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_COUNT = rf"(?:\d{{1,3}}|{'|'.join(_COUNTS)})"
# `2000 ms` and `1999 files` are amounts, not years.
_NO_UNIT = r"(?![\w.:-]|\s*(?:%|(?:ms|s|px|bytes?|lines?|items?|tokens?|rows?|files?|requests?|times|chars?|characters|words)\b))"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = r"\d{4}-(?:0[1-9]|1[0-2])(?:-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:?\d{2})?)?)?|\d{4}/\d{2}/\d{2}"
_SPAN = (
    rf"(?:the day before yesterday|yesterday|today|(?:{_DATE})(?![\w/-])"
    rf"|(?:this|last|past|previous)\s+(?:{_WEEKDAY})\b|(?:last|past|previous)\s+(?!may\b)(?:{_MONTH})\b(?!\s+\d)"
    rf"|(?:the\s+)?(?:this|last|past|previous)\s+{_UNITS}\b"
    rf"|(?:the\s+)?(?:last|past|previous)\s+{_COUNT}\s+{_UNITS}s?\b"
    rf"|{_COUNT}\s+{_UNITS}s?\s+ago"
    rf"|{_DAY}\s+(?:of\s+)?(?:{_MONTH})\.?,?\s+\d{{4}}\b|(?:{_MONTH})\.?\s+{_DAY},?\s+\d{{4}}\b"
    rf"|(?:{_MONTH})\.?,?\s+(?:of\s+)?\d{{4}}\b|q[1-4]\s+(?:of\s+)?\d{{4}}\b|(?:19|20)\d{{2}}{_NO_UNIT})"
)
_OF_THE_YEAR = rf"(?:{_DAY}\s+(?:of\s+)?(?:{_MONTH})\b|(?:{_MONTH})\.?\s+{_DAY}\b|(?:{_MONTH})\b|{_WEEKDAY})"
"""Dates without a year, of this year or the one before; read only after a word such as `since`, as `May` alone is ambiguous."""
_NUMBERS = rf"(?:v?\d+(?:\.\d+)+|(?:[a-z@][\w@/.-]*[@/_-]v?|v)\d+(?:[._]\d+)*)(?:{PRE_RELEASE})*"
_NAME = (
    rf"(?:(?:version|release|tag|commit)\s+[^\s?!,;:]*[^\s?!,;:.]"
    rf"|(?:{_NUMBERS}|[0-9a-f]{{7,40}})(?!\w|[.@/-]\w))"
)
# Tried in this order, as `from March to May` contains a span of the last form. Compiling one takes milliseconds, so it is tried
# only on a topic with one of its words.
_FORMS = (
    ("between", ("between", "from"), rf"\b(?:between|from)\s+({_SPAN}|{_NAME})\s+(?:and|to|until)\s+({_SPAN}|{_NAME})"),
    (
        "between",
        ("between", "from"),
        rf"\b(?:between|from)\s+((?:{_MONTH})\b)\s+(?:and|to|until)\s+((?:{_MONTH})\.?\s+\d{{4}}\b)",
    ),
    ("between", ("..",), rf"(?<!\S)({_NAME})\.\.\.?({_NAME})"),
    ("onwards", ("from",), rf"\bfrom\s+({_SPAN}|{_NAME})\s+on(?:wards?)?(?=\W*\Z)"),
    (
        "open",
        ("since", "as of", "after", "before", "until", "prior to"),
        rf"\b(since|as of|after|before|until|prior to)\s+(?:the\s+)?({_SPAN}|{_OF_THE_YEAR}|{_NAME})",
    ),
    (
        "within",
        ("on",),
        rf"\bon\s+({_DAY}\s+(?:of\s+)?(?:{_MONTH})\b|(?:{_MONTH})\.?\s+{_DAY}\b)(?!\.?,?\s+(?:of\s+)?\d{{4}})",
    ),
    ("within", ("",), rf"\b(?:(?:in|on|during|over|from|within)\s+)?({_SPAN})(?:'s\b|s'(?!\w))?"),
)
_ALONE = r"(?:19|20)\d{2}"


class Period(Record):
    """A period: from `since` on and before `until`, RFC 3339 in UTC. `rest` is the topic without the words of the period, `name`
    shows how these were understood: `since v8.1 (2026-03-01)`. From `_stretch`, `name` is only that of a version or commit."""

    since: str
    until: str
    rest: str = ""
    name: str = ""

    @property
    def ends(self) -> dict[str, str]:
        """The ends of a period that are not open, by name."""
        ends = {"since": self.since, "until": self.until}
        return {name: end for name, end in ends.items() if end not in (_BEGINNING, _END)}

    @property
    def dates(self) -> str:
        """The first and last day, for messages."""
        if self.since == _BEGINNING:
            return f"until {_last_day(self.until)}"
        return f"since {self.since[:10]}" if self.until == _END else _days(self.since, self.until)

    def nearness(self, moment: str) -> float:
        """1 for a moment (RFC 3339 in UTC) within the period, decreasing towards 0 with the distance from it."""
        if self.since <= moment < self.until:
            return 1.0
        distance = days_between(moment, self.since) if moment < self.since else days_between(self.until, moment)
        is_open = self.since == _BEGINNING or self.until == _END
        length = _YEARS_OPEN / 4 if is_open else days_between(self.since, self.until)
        return math.exp(-distance / max(_LEAST_DECAY_DAYS, _DECAY_SHARE * length))


def find_period(topic: str, now: str, resolve: Resolve) -> Period | None:
    """The first period in the topic, relative to `now` (RFC 3339 in UTC); None if there is none."""
    low = topic.lower()
    if len(low) != len(topic):  # some capitals have two lowercase characters, which would shift the spans
        topic = low
    for form, words, pattern in _FORMS:
        for match in re.finditer(pattern, low) if any(word in low for word in words) else ():
            spelled = [topic[slice(*match.span(n))] for n in range((match.lastindex or 0) + 1)]
            ends = _ends(form, match, spelled, now, resolve)
            if ends and ends.since < ends.until:
                rest = f"{topic[: match.start()]} {topic[match.end() :]}"
                return replace(ends, rest=" ".join(rest.split()), name=" ".join(ends.name.split()))
    return None


def _ends(form: str, match: re.Match[str], spelled: Sequence[str], now: str, resolve: Resolve) -> Period | None:
    """The period of a match; None if it is none. `spelled` are the groups of the match as the topic spells them, for its name."""
    if form == "between":
        year = re.search(r"\d{4}\Z", match[2]) if match[1] in MONTH_NUMBERS else None
        first = _stretch(f"{match[1]} {year[0]}" if year else match[1], now, resolve)
        last = _stretch(match[2], now, resolve)
        if not first or not last:
            return None
        both = f"{first.name or spelled[1]} to {last.name or spelled[2]}"
        return Period(first.since, last.until, name=f"{both} ({_days(first.since, last.until)})")
    if form == "within":
        if re.fullmatch(_ALONE, match[1]) and match.start() == match.start(1):
            return None  # `2020` without `in` may be any number
        found = _stretch(match[1], now, resolve)
        return found and replace(found, name=f"{spelled[1]} ({_days(found.since, found.until)})")
    if re.search(rf"{_UNITS}s?\s+\Z|weekend\s+\Z", match.string[: match.start()]):
        return None  # `two weeks before May 3, 2024` is a time near that day, not all time before it
    side = "since" if form == "onwards" else match[1]
    words, found = spelled[-1], _stretch(match[len(spelled) - 1], now, resolve)
    if found is None:
        return None
    if side in ("since", "as of", "after"):
        since = found.until if side == "after" else found.since
        day = since[:10] if found.name else f"from {since[:10]}"
        return Period(since, _END, name=f"{side} {found.name or words} ({day})")
    until = found.until if side == "until" else found.since
    day = until[:10] if found.name else f"to {_last_day(until)}"
    return Period(_BEGINNING, until, name=f"{side} {found.name or words} ({day})")


def _days(since: str, until: str) -> str:
    first, last = since[:10], _last_day(until)
    return first if first == last else f"{first} to {last}"


def _last_day(until: str) -> str:
    """The last day before a moment."""
    return (datetime.fromisoformat(until) - timedelta(seconds=1)).date().isoformat()


def _stretch(words: str, now: str, resolve: Resolve) -> Period | None:
    """The period of a date or name alone; None if `words` are neither."""
    try:
        ends = _on_calendar(" ".join(words.split()), datetime.fromisoformat(now))
    except (ValueError, OverflowError):
        return None
    if ends:
        # `isoformat` pads years to four digits, which `strftime` does not do on every platform.
        return Period(*(end.replace(tzinfo=None).isoformat(timespec="seconds") + "Z" for end in ends))
    found = resolve(words.rsplit(maxsplit=1)[-1])
    return Period(found[1], found[1], name=found[0]) if found else None


def _on_calendar(words: str, now: datetime) -> tuple[datetime, datetime] | None:
    today, day = now.replace(hour=0, minute=0, second=0), timedelta(days=1)
    near = {"the day before yesterday": 2, "yesterday": 1, "today": 0}.get(words)
    if near is not None:
        return today - near * day, today - (near - 1) * day
    if dated := re.match(r"(\d{4})[-/](\d{2})(?:[-/](\d{2}))?(?:[t ].*)?\Z", words):
        year, month, on = int(dated[1]), int(dated[2]), dated[3]
        if on is None:
            return _months(year, month, 1)
        start = datetime(year, month, int(on), tzinfo=UTC)
        return start, start + day
    if quarter := re.fullmatch(r"q([1-4])\s+(?:of\s+)?(\d{4})", words):
        return _months(int(quarter[2]), 3 * int(quarter[1]) - 2, 3)
    if re.fullmatch(_ALONE, words):
        return _months(int(words), 1, 12)
    written = re.fullmatch(
        rf"(?:({_DAY})\s+(?:of\s+)?)?(?:(?:this|last|past|previous)\s+)?({_MONTH})\.?(?:\s+({_DAY}))?,?(?:\s+(?:of\s+)?(\d{{4}}))?",
        words,
    )
    if written and (on := written[1] or written[3]):
        month, number = MONTH_NUMBERS[written[2]], int(on.rstrip("stndrh"))
        year = int(written[4]) if written[4] else today.year - ((month, number) > (today.month, today.day))
        start = datetime(year, month, number, tzinfo=UTC)
        return start, start + day
    if written:
        month = MONTH_NUMBERS[written[2]]
        year = int(written[4]) if written[4] else today.year - (month > today.month)
        return _months(year - (words.startswith("last") and month == today.month), month, 1)
    return _relative(words, now, today)


def _relative(words: str, now: datetime, today: datetime) -> tuple[datetime, datetime] | None:
    day = timedelta(days=1)
    weekday = words.removeprefix("last ").removeprefix("past ").removeprefix("previous ").removeprefix("this ")
    if weekday in DAY_NUMBERS:
        back = (today.weekday() - DAY_NUMBERS[weekday]) % 7 or 7
        return today - back * day, today - (back - 1) * day
    if one := re.fullmatch(rf"(the )?(this|last|past|previous) ({_UNITS})", words):
        if one[3] != "hour" and not (one[2] == "past" or (one[1] and one[2] == "last")):
            start, end = _current(one[3], today)
            return (start, end) if one[2] == "this" else (_current(one[3], start - day)[0], start)
        words = f"last one {one[3]}"  # `the last week` means the last seven days, `last week` that of the calendar
    if several := re.fullmatch(rf"(?:the )?(?:last|past|previous) ({_COUNT}) ({_UNITS})s?", words):
        count = _COUNTS.get(several[1]) or int(several[1])
        if several[2] == "hour":
            return now - count * timedelta(hours=1), now
        return _back(count, several[2], today), today + day
    if ago := re.fullmatch(rf"({_COUNT}) ({_UNITS})s? ago", words):
        count = _COUNTS.get(ago[1]) or int(ago[1])
        if ago[2] == "hour":
            start = now.replace(minute=0, second=0) - count * timedelta(hours=1)
            return start, start + timedelta(hours=1)
        start = _back(count, ago[2], today)
        return (start, start + day) if ago[2] == "day" else _current(ago[2], start)
    return None


def _current(unit: str, at: datetime) -> tuple[datetime, datetime]:
    """The day, week, month, quarter or year that contains a day."""
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


def _back(count: int, unit: str, today: datetime) -> datetime:
    """The same day `count` units before; the last of its month, if the month is too short."""
    if unit in ("day", "week"):
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
    first = _months(today.year, today.month - months, 1)
    return min(first[0] + timedelta(days=today.day - 1), first[1] - timedelta(days=1))


def _months(year: int, month: int, count: int) -> tuple[datetime, datetime]:
    """The beginning and end of `count` months from this one on; `month` may be less than 1 or more than 12. Raises ValueError."""
    first, last = year * 12 + month - 1, year * 12 + month - 1 + count
    return tuple(datetime(n // 12, n % 12 + 1, 1, tzinfo=UTC) for n in (first, last))  # type: ignore[return-value]
