"""The protocol of what upkeep keeps on this machine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from memcli.model.memory import Json


class UpkeepLog(Protocol):
    """The ledger of upkeep, and the turn of whoever is at it."""

    def turn(self, now: str) -> AbstractContextManager[None]:
        """Around a run: no two at a time. Raises LockedError, StoreError."""

    def load(self) -> Json:
        """The ledger as it was saved; None when there is none."""

    def count(self) -> int:
        """Counts one more recall; how many there were, as far as other processes have noted theirs. Never raises."""

    def tried(self) -> str:
        """When upkeep was last begun in the background; "" when it never was."""

    def try_at(self, now: str) -> None:
        """Notes that upkeep is begun in the background. Raises StoreError."""

    def save(self, ledger: Json) -> None:
        """Saves the ledger; it is on disk when this returns. Raises StoreError."""
