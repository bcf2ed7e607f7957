"""Lineage: which store a space is in and how far its history has come, so that a store is known again, or not."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.model.space import Space
from memcli.record import Record, field


class Lineage(Record):
    """Where a space stands. `store` is the id of a server's schema, empty for a store in files; `version` counts the writes,
    and `epoch` is higher where the space was deleted and made again."""

    store: str = ""
    epoch: int = 0
    version: int = 0

    def follows(self, earlier: Lineage) -> bool:
        """Whether the same store may have come from there to here."""
        return self.store == earlier.store and (self.epoch, self.version) >= (earlier.epoch, earlier.version)


class SyncPoint(Record):
    """A space as two stores had it, and the other one's history until then: so many entries of its audit log, and the hash
    of the last of them. Where this store has not taken over all of it, `there` says what the other one had, by id and
    digest, empty for what it had not."""

    space: Space
    lineage: Lineage = Lineage()
    entries: int = 0
    head: str = ""
    there: Mapping[str, str] = field(default_factory=dict)
