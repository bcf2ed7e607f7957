"""Dates in prose: `May 3, 2023`, `3rd of May`, `in May`, `2023-05-03`."""

from __future__ import annotations

import re

from memcli.clock import time_or_none
from memcli.record import Record
from memcli.text.words import MONTH_NUMBERS

_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_WRITTEN = re.compile(
    rf"\b(?:{_DAY}\s+(?:of\s+)?)?({'|'.join(sorted(MONTH_NUMBERS, key=len, reverse=True))})\b\.?(?:\s+{_DAY}(?!\d))?(?:,?\s+(?:of\s+)?(\d{{4}}))?",
    re.IGNORECASE,
)
_NUMERIC = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_AMBIGUOUS = ("may", "mar", "march", "dec", "sun", "jan")


class Date(Record):
    """A month that a text names, with the year and the day when it names them."""

    month: int
    year: int | None = None
    day: int | None = None

    def match(self, moment: str) -> float:
        """How well `moment` (RFC 3339) agrees: 1 on the day, 0.5 in the month, else 0."""
        if int(moment[5:7]) != self.month or (self.year is not None and int(moment[:4]) != self.year):
            return 0.0
        return 1.0 if self.day is not None and int(moment[8:10]) == self.day else 0.5

    @property
    def moment(self) -> str | None:
        """The beginning of the day in UTC, RFC 3339; None where the text names no day of a calendar."""
        if self.year is None or self.day is None:
            return None
        return time_or_none(f"{self.year:04d}-{self.month:02d}-{self.day:02d}")


def dates(text: str) -> list[Date]:
    """The dates in `text`, first those in numbers."""
    found = [
        Date(int(m[2]), int(m[1]), int(m[3]) if m[3] else None) for m in _NUMERIC.finditer(text) if 1 <= int(m[2]) <= 12
    ]
    for match in _WRITTEN.finditer(text):
        before, name, after, year = match.groups()
        alone = not (before or after or year)
        if alone and name.lower() in _AMBIGUOUS and not re.search(rf"\bin {name}\b", text, re.IGNORECASE):
            continue  # `may` is mostly the verb, `march` the walk
        day = before or after
        found.append(Date(MONTH_NUMBERS[name.lower()], int(year) if year else None, int(day) if day else None))
    return found
