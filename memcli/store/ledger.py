"""The ledger of calls to language models in the local state.

A call is booked with the most that it may cost before it is made, and settled after. A call that was not settled, as when
its process was killed or the answer was lost, counts as booked for the rest of its day: the provider may have charged for
it. The last 400 days with calls are stored, of those before the sums: days are counted and not reckoned by the clock, so
that a wrong one removes no more than one day for each that it makes up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memcli.clock import system_clock
from memcli.model.usage import Charge, Day, TokenUsage
from memcli.record import Record, replace
from memcli.store.state import LOST, UNKNOWN, State, set_value

MOST_DAYS = 400
_READ = (
    "SELECT number, at, space, provider, model, task, tokens_in, tokens_out, nano_usd, is_settled FROM charge "
    "WHERE day = ? ORDER BY number"
)
_BY_PROVIDER = "SELECT provider, sum(tokens_in), sum(tokens_out), sum(ifnull(nano_usd, 0)) FROM"


_SUM_UP = (
    f"INSERT INTO spent {_BY_PROVIDER} charge WHERE day = ? GROUP BY provider ON CONFLICT DO UPDATE SET "
    "tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out, "
    "nano_usd = nano_usd + excluded.nano_usd"
)


class StoreLedger(Record):
    """The ledger of a store. See `ports.CallLedger`."""

    _state: State

    def reserve(self, charge: Charge, check: Callable[[Day], None]) -> Charge:
        """Books a call on the day of its time, once `check` has seen the calls of that day so far; what it raises is raised.

        Raises LockedError, StoreError.
        """
        day = charge.at[:10]
        if self._state.value(LOST) == UNKNOWN:
            with self._state.change() as connection:
                set_value(connection, LOST, day)
        with self._state.change() as connection:
            check(self.read(day))
            number = connection.execute(
                "SELECT 1 + ifnull(max(number), 0) FROM charge WHERE day = ?", (day,)
            ).fetchone()[0]
            usage = charge.usage
            connection.execute(
                "INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
                (day, number, charge.at, charge.space, charge.provider, charge.model, charge.task, usage.tokens_in,
                 usage.tokens_out, usage.nano_usd),
            )  # fmt: skip
            if number == 1:  # of a new day: the oldest goes, though not this one, which may be that by a wrong clock
                others = "SELECT DISTINCT day FROM charge WHERE day <> ? ORDER BY day"
                days = connection.execute(others, (day,)).fetchall()
                for old in days[: max(0, len(days) + 1 - MOST_DAYS)]:
                    connection.execute(_SUM_UP, old)
                    connection.execute("DELETE FROM charge WHERE day = ?", old)
        return replace(charge, number=number)

    def settle(self, booked: Charge, usage: TokenUsage) -> None:
        """Puts what a call has cost in the place of what was booked for it, unless its day has been removed.

        Raises LockedError, StoreError.
        """
        with self._state.change() as connection:
            connection.execute(
                "UPDATE charge SET tokens_in = ?, tokens_out = ?, nano_usd = ?, is_settled = 1 WHERE day = ? AND number = ?",
                (usage.tokens_in, usage.tokens_out, usage.nano_usd, booked.at[:10], booked.number),
            )

    def read(self, day: str) -> Day:
        """The calls of a day; on the day on which a damaged ledger was lost, that counts as damage. Raises StoreError."""
        charges = tuple(map(_charge, self._state.rows(_READ, day, strict=True)))
        return Day(charges, int(self._state.value(LOST) in (UNKNOWN, day)))

    def sums(self, today: str) -> dict[str, TokenUsage]:
        """What each provider has charged, also on days that are no longer stored: a call counts when it is settled, or when
        its day is over. What cannot be read is left out."""
        over = min(today, system_clock()[:10])
        found = self._state.rows(
            "SELECT provider, sum(tokens_in), sum(tokens_out), sum(nano_usd) FROM (SELECT * FROM spent UNION ALL "
            f"{_BY_PROVIDER} charge WHERE is_settled OR day < ? GROUP BY provider) GROUP BY provider ORDER BY provider",
            over,
        )
        return {provider: TokenUsage(*usage) for provider, *usage in found}

    def days(self) -> list[str]:
        """The days that have calls, in order."""
        return [day for (day,) in self._state.rows("SELECT DISTINCT day FROM charge ORDER BY day")]


def _charge(row: tuple[Any, ...]) -> Charge:
    number, at, space, provider, model, task, *usage, is_settled = row
    return Charge(
        number=number, at=at, space=space, provider=provider, model=model, task=task, usage=TokenUsage(*usage),
        is_settled=bool(is_settled),
    )  # fmt: skip
