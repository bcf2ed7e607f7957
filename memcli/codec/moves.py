"""Moves: where in a space file stands what stood in the one before it, so that an index need not read the whole file.

A writer notes them beside the index, one write on a line. They say nothing of what was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memcli.codec.canonical import decode, encode_line
from memcli.codec.frame import INDENT, OPEN
from memcli.codec.window import ByteRange, Piece
from memcli.errors import CorruptError
from memcli.record import Record

Move = tuple[int, int, int]
"""So many bytes, where they were and where they are: (old, new, length)."""
Place = tuple[int, int]
"""Where a memory begins, and its length."""
MOST = 200
"""A write of more moves or memories is not noted: to read the whole file then costs little more."""


class MoveStep(Record):
    """What one write left of the file `before`, by fingerprint, and which memories of the file `after` are new."""

    before: str
    after: str
    moves: Sequence[Move] = ()
    new: Sequence[Place] = ()


def step_of(before: str, after: str, pieces: Iterable[Piece]) -> MoveStep | None:
    """The step that writes `pieces` after the file `before`; None when they do not say which bytes they take from it."""
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
    """The step on one line."""
    return encode_line(
        {
            "before": step.before, "after": step.after,
            "moves": [list(move) for move in step.moves], "new": [list(place) for place in step.new],
        }
    )  # fmt: skip


def steps_between(data: bytes, before: str, after: str) -> list[MoveStep] | None:
    """The steps that lead from one file to another by the lines `data`; None when they do not."""
    steps: list[MoveStep] = []
    for step in _decoded(data):
        if step.after == after:
            steps.insert(0, step)
            after = step.before
        if steps and after == before:
            return steps
    return None


def joined(first: Iterable[Move], second: Sequence[Move]) -> list[Move]:
    """What of the first file is in the third, when these lead from it to the second, and from that to the third."""
    found = []
    for old, middle, length in first:
        for start, new, size in second:
            low, high = max(middle, start), min(middle + length, start + size)
            if low < high:
                found.append((old + low - middle, new + low - start, high - low))
    return found


def _decoded(data: bytes) -> Iterator[MoveStep]:
    """The steps, last first, up to one that cannot be read."""
    for line in reversed(data.splitlines()):
        try:
            told = decode(line, "moves")
            moves = [(int(old), int(new), int(length)) for old, new, length in told["moves"]]
            places = [(int(start), int(length)) for start, length in told["new"]]
            yield MoveStep(str(told["before"]), str(told["after"]), moves, places)
        except (CorruptError, LookupError, TypeError, ValueError):
            return
