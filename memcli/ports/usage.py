"""The seams for traces of commands: the usage log and the observer of a command."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from memcli.model.usage import Access, Use

if TYPE_CHECKING:
    from memcli.ports import Ranker, Store


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


class Observer:
    """Sees what a command does, through the ports that it uses: each method returns what is to be used in their place. This
    one changes nothing; a trace does (see `extras/telemetry/tracing.py`).

    `backend` is the name of the ranker that was asked last.
    """

    def __init__(self) -> None:
        self.backend = ""

    def ranker(self, name: str, ranker: Ranker, sign: Callable[[str], str]) -> Ranker:
        """The ranker of this name is asked; `sign` makes a keyed digest of a topic."""
        del sign
        self.backend = name
        return ranker

    def usage(self, usage: Usage) -> Usage:
        """What is shown is noted in this log."""
        return usage

    def store(self, store: Store) -> Store:
        """This store is written to."""
        return store

    def ended(self, space: str, code: int) -> None:
        """The command in this space has ended with this exit code."""
        del space, code
