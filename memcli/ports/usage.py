"""The protocol of the usage log."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from memcli.model.usage import Access, Use


class Usage(Protocol):
    """What was shown and judged on this machine; several processes append at once. What `maintain` has not folded yet is
    kept use by use, for as long as there is room; of the rest only the accesses are counted."""

    def note(self, uses: Sequence[Use], topic: str = "") -> None:
        """Appends what was shown for a topic, of which a digest is kept. Never raises: a log that cannot be written is done
        without."""

    def judge(self, uses: Sequence[Use]) -> None:
        """Appends judgements, which are on disk when it returns. Raises StoreError, LockedError."""

    def read(self) -> list[Use]:
        """All that is not folded yet, oldest first. What cannot be read is left out."""

    def counts(self, space: str) -> Mapping[str, Access]:
        """The accesses by id, folded or not."""

    def last(self) -> list[Use]:
        """The parts of the bundle that was shown last: in the current session, where it has one, else in any."""

    def fold(self, uses: Collection[Use]) -> None:
        """Takes uses, as `read` gave them, out of the log; their accesses stay counted. Folding them again changes nothing.

        Raises StoreError, LockedError."""

    def erase(self, space: str, ids: Collection[str]) -> None:
        """Takes memories out of all that is kept. Raises StoreError, LockedError."""


class NoUsage:
    """Keeps nothing: for a store as it was, and for what nobody is shown."""

    def note(self, uses: Sequence[Use], topic: str = "") -> None:
        del uses, topic

    def judge(self, uses: Sequence[Use]) -> None:
        del uses

    def read(self) -> list[Use]:
        return []

    def counts(self, space: str) -> Mapping[str, Access]:
        del space
        return {}

    def last(self) -> list[Use]:
        return []

    def fold(self, uses: Collection[Use]) -> None:
        del uses

    def erase(self, space: str, ids: Collection[str]) -> None:
        del space, ids
