"""Metrics as values: families of samples, whatever prints them."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.model.memory import Json
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
