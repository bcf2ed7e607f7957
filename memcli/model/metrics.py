"""Metrics as values: families of samples, whatever prints them.

Counting: the events that are counted, and what each adds to the totals. They have no text of a user but the name of a
space.

Gaps: questions that nothing answered.

What calls to language models cost, in tokens and money.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memcli.model.memory import Json
from memcli.model.usage import COMPACTION, INJECTION, PIN_TOGGLE, RUN, SESSION_END
from memcli.record import Record, replace

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"


class Sample(Record):
    """A number under `name`, which begins with that of its family, and labels in their order."""

    name: str
    labels: tuple[tuple[str, str], ...]
    value: float

    def to_json(self) -> dict[str, Json]:
        return {"name": self.name, "labels": dict(self.labels), "value": self.value}


class Family(Record):
    """What is measured under one name, as COUNTER, GAUGE or HISTOGRAM."""

    name: str
    kind: str
    help: str
    samples: Sequence[Sample] = ()

    def to_json(self) -> dict[str, Json]:
        return {
            "name": self.name, "type": self.kind, "help": self.help, "samples": [one.to_json() for one in self.samples],
        }  # fmt: skip


def families_from_json(data: Sequence[Json]) -> list[Family]:
    """The families that were given `to_json`, as by `memcli metrics --json`."""
    return [
        Family(one["name"], one["type"], one["help"], [
            Sample(sample["name"], tuple(sample["labels"].items()), sample["value"]) for sample in one["samples"]
        ])
        for one in data
    ]  # fmt: skip


Key = tuple[str, ...]
Totals = dict[Key, int]
"""How many of each, by name and labels: `("run", command, space, backend, exit code)`, `("le", command, bound)`,
`("micros", command)`, and the events of `EVENTS`."""

BUCKET, MICROS = "le", "micros"
EVENTS: Mapping[str, int] = {COMPACTION: 1, INJECTION: 2, PIN_TOGGLE: 1, SESSION_END: 1}
"""The events that are counted beside commands, with how many labels they have. The first label is the space."""
BOUNDS = (".005", ".01", ".025", ".05", ".1", ".25", ".5", "1", "2.5", "5", "10", "30", "inf")
"""The upper bounds of durations, in seconds."""
MAX_SPACES = 100
"""How many spaces are told apart; the others are counted together."""
OTHERS = "*"
_ENDLESS = frozenset(("browse", "mcp", "serve", "watch"))
"""Commands that run until they are stopped: how long says nothing."""
_LIMITS = [float(bound) for bound in BOUNDS]
_SPACE_AT = {RUN: 2, **dict.fromkeys(EVENTS, 1)}


def space_of(key: Key) -> str:
    """The space that an event or a total is of; empty for one of no space."""
    place = _SPACE_AT.get(key[0])
    return "" if place is None else key[place]


def parts_of(key: Key, amount: int) -> Totals:
    """What an event adds to the totals: `amount` is how many, or for a command how many microseconds it took."""
    if key[0] != RUN:
        return {key: amount}
    if key[1] in _ENDLESS:
        return {key: 1}
    return {key: 1, (BUCKET, key[1], BOUNDS[bisect_left(_LIMITS, amount / 1e6)]): 1, (MICROS, key[1]): amount}


MAX_GAPS = 200
"""How many are kept: those asked most often, and of these the latest."""
MAX_TOPIC = 200


class Gap(Record):
    """A topic that was asked of a space and found nothing, without secrets: how often, first and last when."""

    topic: str
    space: str
    count: int
    first_at: str
    last_at: str

    @property
    def key(self) -> tuple[str, str]:
        """Equal for topics that differ in case, spaces and punctuation at their ends."""
        return self.space, " ".join(self.topic.casefold().split()).strip(" ?!.,:;")


class GapTopic(Record):
    """What some gaps are about, the first of them first."""

    name: str
    gaps: tuple[Gap, ...]


def in_order(gaps: Iterable[Gap]) -> list[Gap]:
    """The most frequent first, then the latest, then by topic."""
    ordered = sorted(gaps, key=lambda gap: (gap.space, gap.topic))
    ordered.sort(key=lambda gap: gap.last_at, reverse=True)
    ordered.sort(key=lambda gap: -gap.count)
    return ordered


def with_gap(gaps: Sequence[Gap], new: Gap) -> list[Gap]:
    """The gaps with one more, in order. The new one is kept even if all others were asked more often."""
    old = next((gap for gap in gaps if gap.key == new.key), None)
    if old is not None:
        new = replace(old, count=old.count + new.count, last_at=max(old.last_at, new.last_at))
    rest = in_order(gap for gap in gaps if gap.key != new.key)[: MAX_GAPS - 1]
    return in_order([*rest, new])


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
