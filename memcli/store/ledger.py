"""The ledger of calls to language models in the local state.

A call is booked with the most that it may cost before it is made, and settled afterwards. A call that was not settled, since
its process was killed or the answer was lost, counts as booked for the rest of its day: the provider may have charged for
it. The calls of the last 400 days with calls are stored, and of earlier days only the sums.
"""

from __future__ import annotations

from collections.abc import Callable

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
        """Books a call on the day of its time, after `check` has accepted the calls of that day so far.

        Raises LockedError, StoreError, and what `check` raises.
        """
        day = charge.at[:10]
        # A damaged ledger was moved away, and its calls are lost: until the end of that day a quota refuses calls, so the day
        # is recorded at the first call after it.
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
            # With a new day the oldest goes. Days are counted, not computed from the clock: a wrong clock then removes only
            # one day for each that it invents. The new day itself, which may look like the oldest, stays.
            if number == 1:
                others = "SELECT DISTINCT day FROM charge WHERE day <> ? ORDER BY day"
                days = connection.execute(others, (day,)).fetchall()
                for old in days[: max(0, len(days) + 1 - MOST_DAYS)]:
                    connection.execute(_SUM_UP, old)
                    connection.execute("DELETE FROM charge WHERE day = ?", old)
        return replace(charge, number=number)

    def settle(self, booked: Charge, usage: TokenUsage) -> None:
        """Replaces the booked cost of a call by its real cost, unless its day has been removed. Raises LockedError, StoreError."""
        with self._state.change() as connection:
            connection.execute(
                "UPDATE charge SET tokens_in = ?, tokens_out = ?, nano_usd = ?, is_settled = 1 WHERE day = ? AND number = ?",
                (usage.tokens_in, usage.tokens_out, usage.nano_usd, booked.at[:10], booked.number),
            )

    def read(self, day: str) -> Day:
        """The calls of a day, which counts as damaged if a damaged ledger was lost on it. Raises LockedError, StoreError."""
        charges = tuple(
            Charge(number=number, at=at, space=space, provider=provider, model=model, task=task, usage=TokenUsage(*usage),
                   is_settled=bool(is_settled))
            for number, at, space, provider, model, task, *usage, is_settled in self._state.rows(_READ, day, strict=True)
        )  # fmt: skip
        return Day(charges, int(self._state.value(LOST) in (UNKNOWN, day)))

    def sums(self, today: str) -> dict[str, TokenUsage]:
        """The usage of each provider, including days that are no longer stored: of calls that are settled, or whose day is
        over. Empty if the state cannot be read."""
        # By both clocks: one that is ahead must not end a day whose calls may still be settled.
        over = min(today, system_clock()[:10])
        found = self._state.rows(
            "SELECT provider, sum(tokens_in), sum(tokens_out), sum(nano_usd) FROM (SELECT * FROM spent UNION ALL "
            f"{_BY_PROVIDER} charge WHERE is_settled OR day < ? GROUP BY provider) GROUP BY provider ORDER BY provider",
            over,
        )
        return {provider: TokenUsage(*usage) for provider, *usage in found}

    def days(self) -> list[str]:
        """The stored days that have calls, in order."""
        return [day for (day,) in self._state.rows("SELECT DISTINCT day FROM charge ORDER BY day")]
