"""What calls to language models cost, in tokens and money."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from memcli.record import Record

NANO = 1_000_000_000


class TokenUsage(Record):
    """Tokens sent and received, and their price in billionths of a dollar; None when no price is known."""

    tokens_in: int
    tokens_out: int
    nano_usd: int | None = None

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Charge(Record, kw_only=True):
    """One call in the ledger. `number` is its place in the day; until `is_settled`, the usage is the most it may be."""

    number: int = 0
    at: str
    space: str
    provider: str
    model: str
    task: str
    usage: TokenUsage
    is_settled: bool = False


class Total(Record, kw_only=True):
    """The sum of several calls. `pending` were not settled; `unpriced` have no known price."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    nano_usd: int = 0
    pending: int = 0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Booked(NamedTuple):
    """A call that was booked, by its day, its number, and its space where calls are numbered by space."""

    day: str
    number: int
    space: str = ""


class Day(NamedTuple):
    """The calls of a day, in order, and how many lines cannot be read."""

    charges: tuple[Charge, ...]
    damaged: int = 0


def total(charges: Iterable[Charge]) -> Total:
    """The sum of `charges`."""
    found = list(charges)
    return Total(
        calls=len(found),
        tokens_in=sum(c.usage.tokens_in for c in found),
        tokens_out=sum(c.usage.tokens_out for c in found),
        nano_usd=sum(c.usage.nano_usd or 0 for c in found),
        pending=sum(not c.is_settled for c in found),
        unpriced=sum(c.usage.nano_usd is None for c in found),
    )
