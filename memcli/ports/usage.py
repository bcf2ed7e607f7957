"""The protocols of what is kept and seen of the use of a store: the usage log, the counters, the observer of a command."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from memcli.model.usage import Access, Use

if TYPE_CHECKING:
    from memcli.model.metrics import Totals
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


class Counters(Protocol):
    """How often what was done on this machine. Several processes add at once, and none is lost. What adds never raises:
    counters that cannot be written are done without."""

    def ran(self, command: str, space: str, backend: str, code: int, seconds: float) -> None:
        """Adds a command that ended with this exit code."""

    def count(self, event: str, *labels: str, amount: int = 1) -> None:
        """Adds an event that `model/usage.py` names, with its labels."""

    def hold(self) -> None:
        """Has what is noted of the use of the store until `ran` written together with it."""

    def read(self) -> Totals:
        """The sums. What cannot be read is left out."""


class NoCounters:
    """Counts nothing."""

    def ran(self, command: str, space: str, backend: str, code: int, seconds: float) -> None:
        del command, space, backend, code, seconds

    def count(self, event: str, *labels: str, amount: int = 1) -> None:
        del event, labels, amount

    def hold(self) -> None:
        pass

    def read(self) -> Totals:
        return {}


class Observer(Protocol):
    """Sees what a command does, through the ports that it uses: each method gives what is to be used in their place.
    `backend` is the name of the ranker that was asked last."""

    backend: str

    def ranker(self, name: str, ranker: Ranker, sign: Callable[[str], str]) -> Ranker:
        """The ranker of this name is asked; `sign` makes a keyed digest of a topic."""

    def usage(self, usage: Usage) -> Usage:
        """The log that is told what is shown."""

    def store(self, store: Store) -> Store:
        """The store that is written to."""

    def ended(self, space: str, code: int) -> None:
        """The command in this space has ended with this exit code."""


class Unobserved:
    """Sees the name of the ranker that was asked last, and leaves all as it is."""

    def __init__(self) -> None:
        self.backend = ""

    def ranker(self, name: str, ranker: Ranker, sign: Callable[[str], str]) -> Ranker:
        del sign
        self.backend = name
        return ranker

    def usage(self, usage: Usage) -> Usage:
        return usage

    def store(self, store: Store) -> Store:
        return store

    def ended(self, space: str, code: int) -> None:
        del space, code
