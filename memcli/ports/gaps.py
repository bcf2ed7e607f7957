"""The protocol of the questions that nothing answered."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from memcli.model.metrics import Gap


class Gaps(Protocol):
    """Questions that nothing answered, of the spaces whose policy keeps them."""

    def note(self, gap: Gap) -> None:
        """Counts a question. Never raises: what cannot be written is done without."""

    def read(self) -> list[Gap]:
        """All of them, in order. What cannot be read is left out."""

    def drop(self, gaps: Collection[Gap]) -> None:
        """Takes gaps out. Raises StoreError, LockedError."""


class NoGaps:
    """Keeps nothing."""

    def note(self, gap: Gap) -> None:
        del gap

    def read(self) -> list[Gap]:
        return []

    def drop(self, gaps: Collection[Gap]) -> None:
        del gaps
