"""Bytes that are read as they are asked for, of which a small window at a time is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

WINDOW = 1 << 18
HELD = 1 << 24
"""So many bytes are in memory as a whole once one of them is asked for."""


class ByteRange:
    """A range of bytes that are read when it is gone through, in pieces."""

    def __init__(self, read: Callable[[int, int], bytes], start: int, end: int) -> None:
        self._read = read
        self.start = start
        self._end = end

    def __len__(self) -> int:
        return self._end - self.start

    def __iter__(self) -> Iterator[bytes]:
        for at in range(self.start, self._end, WINDOW):
            yield self._read(at, min(WINDOW, self._end - at))


Piece = bytes | memoryview | ByteRange
"""What a file is written in."""


class ByteWindow:
    """`size` bytes, searched and sliced as `bytes` are. `read` gives so many from an offset on, and no fewer."""

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        self._read = read
        self._size = size
        self._base = 0
        self._held = b""

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, key: slice) -> bytes:
        start, end, _ = key.indices(self._size)
        if start >= end:
            return b""
        if not (self._base <= start and end <= self._base + len(self._held)):
            if end - start > max(WINDOW, HELD):
                return self._read(start, end - start)
            self._move(start, max(end, start + WINDOW))
        return self._held[start - self._base : end - self._base]

    def part(self, start: int, end: int) -> ByteRange:
        """These bytes, to be read later."""
        return ByteRange(self._read, start, end)

    def find(self, text: bytes, start: int = 0, end: int | None = None) -> int:
        """As `bytes.find`, for bounds that are not negative."""
        end = self._size if end is None else min(end, self._size)
        while end - start >= len(text):
            if not self._base <= start <= self._base + len(self._held) - len(text):
                self._move(start, start + max(WINDOW, 2 * len(text)))
            found = self._held.find(text, start - self._base, end - self._base)
            if found >= 0:
                return self._base + found
            start = self._base + len(self._held) - len(text) + 1
        return -1

    def rfind(self, text: bytes, start: int = 0, end: int | None = None) -> int:
        """As `bytes.rfind`, for bounds that are not negative."""
        end = self._size if end is None else min(end, self._size)
        while end - start >= len(text):
            if not self._base + len(text) <= end <= self._base + len(self._held):
                self._move(max(0, end - max(WINDOW, 2 * len(text))), end)
            found = self._held.rfind(text, max(0, start - self._base), end - self._base)
            if found >= 0:
                return self._base + found
            end = self._base + len(text) - 1
        return -1

    def index(self, text: bytes, start: int = 0) -> int:
        """As `bytes.index`. Raises ValueError."""
        found = self.find(text, start)
        if found < 0:
            raise ValueError(text)
        return found

    def count(self, text: bytes, start: int, end: int) -> int:
        """As `bytes.count`, for a text that does not overlap itself."""
        count = 0
        while (start := self.find(text, start, end)) >= 0:
            stop = min(end, self._base + len(self._held))
            here = self._held.count(text, start - self._base, stop - self._base)
            count += here
            start = self._base + self._held.rfind(text, 0, stop - self._base) + len(text)
        return count

    def _move(self, start: int, end: int) -> None:
        """Holds what is from `start` on, up to `end` or to where the bytes end; all of them if they are few."""
        if self._size <= HELD:
            start, end = 0, self._size
        self._held = self._read(start, min(end, self._size) - start)
        self._base = start
