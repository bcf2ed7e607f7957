"""The ledger of calls to language models on a server: one row a call, numbered within its space and day."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from psycopg import Connection

from memcli.codec.canonical import encode_line
from memcli.extras.postgres.server import Server
from memcli.model.memory import Json
from memcli.model.usage import Charge, Day, TokenUsage
from memcli.record import Record, replace

# A mutex of its own: calls are booked while a writer holds the memories of the space.
_LOCK = "SELECT seize(%s, 'charges', true)"
_ROWS = "SELECT number, booked, settled FROM charge WHERE space = %s AND day = %s ORDER BY number"
_DAY = "SELECT space, number, booked, settled FROM charge WHERE day = %s ORDER BY space, number"
_ALL = "SELECT day, space, number, booked, settled FROM charge ORDER BY day, space, number"
_ADD = "INSERT INTO charge (space, day, number, booked) VALUES (%s, %s, %s, %s)"
_SETTLE = "UPDATE charge SET settled = %s WHERE space = %s AND day = %s AND number = %s"

_DAMAGES = (ValueError, KeyError, TypeError, RecursionError)


class ServerLedger(Record):
    """The ledger of the spaces on a server. See `ports.CallLedger` for the promises."""

    _server: Server

    def reserve(self, charge: Charge, check: Callable[[Day], None]) -> Charge:
        day = charge.at[:10]

        def work(connection: Connection) -> tuple[int, bytes]:
            connection.execute(_LOCK, [charge.space])
            rows = connection.execute(_ROWS, [charge.space, day]).fetchall()
            check(_day(rows))
            number = len(rows) + 1
            called = {name: getattr(charge, name) for name in ("at", "space", "provider", "model", "task")}
            booked = encode_line({"number": number, **called, **_cost(charge.usage)})
            connection.execute(_ADD, [charge.space, day, number, booked])
            return number, booked

        def is_done(connection: Connection, made: tuple[int, bytes]) -> bool:
            connection.execute(_LOCK, [charge.space])
            return any((number, booked) == made for number, booked, _ in connection.execute(_ROWS, [charge.space, day]))

        number, _ = self._server.transact(work, is_done, "book a call")
        return replace(charge, number=number)

    def settle(self, booked: Charge, usage: TokenUsage) -> None:
        line = encode_line({"settles": booked.number, **_cost(usage)})
        with self._server.connected("book the cost of a call") as connection:
            connection.execute(_SETTLE, [line, booked.space, booked.at[:10], booked.number])

    def read(self, day: str) -> Day:
        with self._server.connected("read the ledger of model calls") as connection:
            rows = connection.execute(_DAY, [day]).fetchall()
        found = [_day([row for _, *row in group]) for _, group in groupby(rows, key=lambda row: row[0])]
        charges = tuple(charge for one in found for charge in one.charges)
        return Day(charges, sum(one.damaged for one in found))

    def days(self) -> list[str]:
        with self._server.connected("read the ledger of model calls") as connection:
            return [day for (day,) in connection.execute("SELECT DISTINCT day FROM charge ORDER BY day")]

    def sums(self, today: str) -> dict[str, TokenUsage]:
        with self._server.connected("read the ledger of model calls") as connection:
            rows = connection.execute(_ALL).fetchall()
        sums: dict[str, TokenUsage] = {}
        for (day, _), group in groupby(rows, key=lambda row: (row[0], row[1])):
            for charge in _day([row for _, _, *row in group]).charges:
                if day < today or charge.is_settled:
                    one, more = sums.get(charge.provider, TokenUsage(0, 0, 0)), charge.usage
                    nano = (one.nano_usd or 0) + (more.nano_usd or 0)
                    tokens = one.tokens_in + more.tokens_in, one.tokens_out + more.tokens_out
                    sums[charge.provider] = TokenUsage(*tokens, nano)
        return sums


def _day(rows: Sequence[Sequence[Any]]) -> Day:
    """The calls of one space on one day, from rows with a number, the line that booked the call, and the one that settled it
    or None. Lines that cannot be decoded, or have another number, count as damaged."""
    charges: dict[int, Charge] = {}
    damaged = 0
    for number, (_, booked, settled) in enumerate(rows, 1):
        try:
            entry = json.loads(booked)
            usage = _usage(entry)
            texts = {name: entry[name] for name in ("at", "space", "provider", "model", "task")}
            # A row that was removed or put in between shows by its number.
            if entry["number"] != number or not all(isinstance(text, str) for text in texts.values()):
                raise ValueError("not a line of this place")
            charges[number] = Charge(number=number, **texts, usage=usage)
        except _DAMAGES:
            damaged += 1
        try:
            if settled is not None:
                entry = json.loads(settled)
                usage = _usage(entry)
                charges[entry["settles"]] = replace(charges[entry["settles"]], usage=usage, is_settled=True)
        except _DAMAGES:
            damaged += 1
    return Day(tuple(charges.values()), damaged)


def _cost(usage: TokenUsage) -> dict[str, Json]:
    """The fields of a line for the usage of a call; without `nano_usd` if the price is unknown."""
    known = {} if usage.nano_usd is None else {"nano_usd": usage.nano_usd}
    return {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, **known}


def _usage(entry: Json) -> TokenUsage:
    """The inverse of `_cost`. Raises ValueError, KeyError, TypeError."""
    values = [entry["tokens_in"], entry["tokens_out"], entry.get("nano_usd", 0)]
    if not all(isinstance(value, int) and not isinstance(value, bool) and value >= 0 for value in values):
        raise ValueError("not a count")
    return TokenUsage(*values) if "nano_usd" in entry else TokenUsage(*values[:2])
