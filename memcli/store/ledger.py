"""The ledger of calls to language models: one file for each day (UTC), in `ledger/`.

A call is booked with the most that it may cost before it is made, and settled after, by lines that are appended under a
lock and flushed:

    {"at": "2026-05-03T12:00:00Z", "model": "gpt-5-mini", "nano_usd": 4400000, "number": 7, "provider": "openai",
     "space": "main", "task": "semantic/1", "tokens_in": 812, "tokens_out": 2000}
    {"nano_usd": 614000, "settles": 7, "tokens_in": 656, "tokens_out": 225}

A call that was not settled, as when its process was killed or the answer was lost, counts as booked for the rest of its
day: the provider may have charged for it. The number of a call is its place among the lines. A line that a crash tore has
no end; it was not acknowledged, so nothing was sent for it, and the next line takes its place.

The last 400 days with calls are kept: the first call of a day removes those before, so that the folder does not grow for
ever. Days are counted and not reckoned by the clock, so that a wrong one removes no more than one day for each that it
makes up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress

from memcli.codec.canonical import encode_line
from memcli.codec.charges import charge_to_json, cost_to_json, day_of
from memcli.errors import StoreError
from memcli.model.memory import Json
from memcli.model.spending import Booked, Charge, Day, TokenUsage
from memcli.record import replace
from memcli.store.atomic import append_after, make_folder, remove_quietly
from memcli.store.layout import Layout
from memcli.store.lock import locked
from memcli.store.reading import read_regular

_FOLDER = "ledger"
_MAX_BYTES = 1 << 30
MOST_DAYS = 400
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)\.jsonl\Z")


class StoreLedger:
    """The ledger of the store at `layout`."""

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.private(_FOLDER)

    def reserve(self, charge: Charge, check: Callable[[Day], None]) -> Booked:
        """Books a call on the day of its time, once `check` has seen the calls of that day so far; what it raises is raised.

        Raises LockedError, StoreError.
        """
        day = charge.at[:10]
        make_folder(self._folder)
        with locked(os.path.join(self._folder, "lock"), "the ledger of model calls"):
            data = self._read(day)
            check(day_of(data))
            number = data.count(b"\n") + 1
            self._append(day, data, charge_to_json(replace(charge, number=number)))
            if number == 1:
                self._drop_days(day)
        return Booked(day, number)

    def settle(self, booked: Booked, usage: TokenUsage) -> None:
        """Puts what a call has cost in the place of what was booked for it, unless its day has been removed.

        Raises LockedError, StoreError.
        """
        with locked(os.path.join(self._folder, "lock"), "the ledger of model calls"):
            line = {"settles": booked.number, **cost_to_json(usage)}
            if data := self._read(booked.day):
                self._append(booked.day, data, line)

    def read(self, day: str) -> Day:
        """The calls of a day, and how many lines are damaged. Raises StoreError."""
        return day_of(self._read(day))

    def charges(self, day: str) -> tuple[Charge, ...]:
        """The calls of a day, such as `2026-05-03`. Raises StoreError."""
        return self.read(day).charges

    def sums(self, today: str) -> dict[str, TokenUsage]:
        """What each provider has charged, also on days that are no longer kept; it only grows. Raises StoreError."""
        from memcli.store.ledger_sums import sum_up

        return sum_up(self, os.path.join(self._folder, "sums.json"), today)

    def days(self) -> list[str]:
        """The days that have calls, in order."""
        with suppress(OSError):
            return sorted(match[1] for name in os.listdir(self._folder) if (match := _DAY.match(name)))
        return []

    def _drop_days(self, today: str) -> None:
        """Removes the oldest days but for `today`, which may be one of them by a wrong clock. What cannot be removed stays
        until the next day begins."""
        others = [day for day in self.days() if day != today]
        for day in others[: max(0, len(others) + 1 - MOST_DAYS)]:
            remove_quietly(self._path(day))

    def _path(self, day: str) -> str:
        return os.path.join(self._folder, f"{day}.jsonl")

    def _read(self, day: str) -> bytes:
        """The whole lines of a day."""
        try:
            data = read_regular(self._path(day), _MAX_BYTES) or b""
        except OSError as error:
            raise StoreError(
                f"cannot read {self._path(day)}: {error.strerror}", "replace it with a regular file"
            ) from None
        return data[: data.rfind(b"\n") + 1]

    def _append(self, day: str, data: bytes, line: dict[str, Json]) -> None:
        append_after(self._path(day), encode_line(line) + b"\n", len(data))
