"""Counts: what became of the many memories of one source."""

from __future__ import annotations

from collections import Counter

from memcli.model.memory import Json
from memcli.record import Record, field


class Counts(Record, frozen=False):
    """How many memories were stored, by what became of each. `skipped` counts what gave no memory, by reason;
    `redactions` what was taken out, by kind."""

    created: int = 0
    updated: int = 0
    deduplicated: int = 0
    proposed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)

    def count(self, status: str) -> None:
        """Counts one memory of this status."""
        setattr(self, status, getattr(self, status) + 1)

    def told(self, *names: str) -> dict[str, Json]:
        """These counters, sorted."""
        return {name: dict(sorted(getattr(self, name).items())) for name in names}

    def merge_counts(self, other: Counts) -> None:
        """Adds the counts of another."""
        for name in ("created", "updated", "deduplicated", "proposed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.skipped.update(other.skipped)
        self.redactions.update(other.redactions)
