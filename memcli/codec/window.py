"""Large files read on access, with only a small window of their bytes in memory.

Moves: the offsets of unchanged bytes in a space file before and after a write, with which an index finds changed memories
without reading the whole file.

A writer appends them to a file beside the index, one line a write. They have offsets only, no text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from memcli.codec.canonical import decode, encode_line
from memcli.codec.space import INDENT, OPEN
from memcli.errors import CorruptError
from memcli.record import Record

# Held whole, a space of 100,000 memories took 210 MB for a write of one.
WINDOW = 1 << 18
HELD = 1 << 24
"""A file of up to so many bytes is read whole at the first access."""


class ByteRange:
    """A range of bytes of a file, read in pieces by iteration."""

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
"""One of the parts from which a file is written."""


class ByteWindow:
    """`size` bytes with the methods of `bytes` for slicing and search. `read(offset, length)` returns exactly `length` bytes."""

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
        """The range from `start` to `end`, not read yet."""
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
            # An occurrence may begin in this window and end after it.
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
            # An occurrence may begin before this window and end in it.
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
        """Reads the window from `start` to `end`, or to the end of the file; the whole file if it has at most HELD bytes."""
        if self._size <= HELD:
            start, end = 0, self._size
        self._held = self._read(start, min(end, self._size) - start)
        self._base = start


Move = tuple[int, int, int]
"""Unchanged bytes: their offset before the write, their offset after it, and their number."""
Place = tuple[int, int]
"""The offset of a memory and its length, in bytes."""
MOST = 200
"""The most moves and memories of a write to record: with more, reading the whole file costs little more."""


class MoveStep(Record):
    """The effect of one write: `before` and `after` are the fingerprints of the file, `moves` its unchanged bytes, `new` its new
    memories."""

    before: str
    after: str
    moves: Sequence[Move] = ()
    new: Sequence[Place] = ()


def step_of(before: str, after: str, pieces: Iterable[Piece]) -> MoveStep | None:
    """The step of a write of `pieces`; None when a piece does not have its offset in the file before."""
    moves: list[Move] = []
    new: list[Place] = []
    at = 0
    for piece in pieces:
        if isinstance(piece, ByteRange):
            moves.append((piece.start, at, len(piece)))
        elif isinstance(piece, memoryview):
            return None
        elif piece.startswith(OPEN):
            new.append((at + len(INDENT), len(piece) - len(INDENT)))
        at += len(piece)
    return MoveStep(before, after, moves, new) if len(moves) + len(new) <= MOST else None


def encode_step(step: MoveStep) -> bytes:
    """The step as a line of JSON."""
    return encode_line(
        {
            "before": step.before, "after": step.after,
            "moves": [list(move) for move in step.moves], "new": [list(place) for place in step.new],
        }
    )  # fmt: skip


def steps_between(data: bytes, before: str, after: str) -> list[MoveStep] | None:
    """The steps in the lines `data` that lead from the fingerprint `before` to `after`; None when there is no such chain, or a
    line cannot be read."""
    steps: list[MoveStep] = []
    for line in reversed(data.splitlines()):
        try:
            tree = decode(line, "moves")
            moves = [(int(old), int(new), int(length)) for old, new, length in tree["moves"]]
            places = [(int(start), int(length)) for start, length in tree["new"]]
            step = MoveStep(str(tree["before"]), str(tree["after"]), moves, places)
        except (CorruptError, LookupError, TypeError, ValueError):
            return None
        if step.after == after:
            steps.insert(0, step)
            after = step.before
        if steps and after == before:
            return steps
    return None


def joined(first: Iterable[Move], second: Sequence[Move]) -> list[Move]:
    """The moves from a first to a third file, composed of those from the first to the second and from that to the third."""
    found = []
    for old, middle, length in first:
        for start, new, size in second:
            low, high = max(middle, start), min(middle + length, start + size)
            if low < high:
                found.append((old + low - middle, new + low - start, high - low))
    return found
