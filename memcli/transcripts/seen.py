"""Which ids were met already, in eight bytes each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.digests import blake2b

if TYPE_CHECKING:
    import numpy

_MOST_RECENT = 1 << 16


def number_of(text: str) -> int:
    """A number for an id, never 0, that no other one is likely to have."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()) or 1


class Seen:
    """A set of ids. The recent ones are in a Python set, which takes ten times as much, the older ones in an array."""

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._older: numpy.ndarray[Any, Any] | None = None

    def add(self, text: str) -> bool:
        """Whether the id is new."""
        number = number_of(text)
        if number in self._recent or self._is_older(number):
            return False
        self._recent.add(number)
        if len(self._recent) > _MOST_RECENT:
            self._merge()
        return True

    def _is_older(self, number: int) -> bool:
        if self._older is None:
            return False
        place = int(self._older.searchsorted(self._older.dtype.type(number)))
        return place < len(self._older) and int(self._older[place]) == number

    def _merge(self) -> None:
        import numpy as np

        recent = np.fromiter(self._recent, np.uint64, len(self._recent))
        self._older = np.sort(recent if self._older is None else np.concatenate([self._older, recent]))
        self._recent = set()
