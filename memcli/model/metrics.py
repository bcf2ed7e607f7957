"""Metrics as values: families of samples, whatever prints them.

Counting: the events that are counted, and what each adds to the totals. They have no text of a user but the name of a
space.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from memcli.model.memory import Json
from memcli.model.usage import COMPACTION, INJECTION, PIN_TOGGLE, RUN, SESSION_END
from memcli.record import Record

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
