"""What an index reads of a space: its snapshot, and its memories without what a hand wrote into the file past redaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from memcli.model.memory import Memory
from memcli.model.space import Policy, Space
from memcli.ports import Snapshot

Show = Callable[[Sequence[Memory], Policy], Sequence[Memory]]
"""Memories as they may be kept beside the space under its policy; those are the same in which nothing is secret."""


class CurrentSnapshot:
    """The snapshot that is open now, of several with the same content. See `ports.Snapshot` for the promises."""

    def __init__(self, now: Snapshot, show: Show) -> None:
        self.now = now
        self.space, self.fingerprint = now.space, now.fingerprint
        self._show = show

    def load(self) -> Space:
        return self.now.load()

    def header(self) -> Space:
        return self.now.header()

    def records(self, places: Iterable[tuple[int, int]] | None = None) -> Iterator[tuple[bytes, int]]:
        return self.now.records(places)

    def decode(self, data: bytes) -> Memory:
        return self.now.decode(data)

    def memories(self, *keys: str) -> Iterator[Memory]:
        return self.now.memories(*keys)

    def fetch(self, places: Sequence[tuple[str, int, int]]) -> list[Memory]:
        return self.now.fetch(places)

    def clean(self, memories: Sequence[Memory]) -> Sequence[Memory]:
        """The memories of the snapshot as they may be kept beside the space."""
        return self._show(memories, self.header().policy) if memories else memories

    def is_before(self, time: int) -> bool:
        return self.now.is_before(time)

    def close(self) -> None:
        self.now.close()


def cleaned(snapshot: Snapshot, memories: Sequence[Memory]) -> Sequence[Memory]:
    """The memories of a snapshot as an index may hold them."""
    return snapshot.clean(memories) if isinstance(snapshot, CurrentSnapshot) else memories
