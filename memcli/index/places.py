"""Places: where each memory of an index stands in the file, also after writes that moved most of them.

`memory.start` is where a memory stood when it was indexed; or, if it came with a step, a number of its own behind all
others. `piece` maps these to where they are now; while it is empty, they are the places themselves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from memcli.codec.moves import Move, MoveStep, Place, joined
from memcli.record import Record

MOST_PIECES = 1000
"""With more pieces the file is compared as a whole, after which there are none."""


class Followed(Record):
    """What steps made of an index: the rows that are gone, the starts and places of new memories, and the pieces."""

    gone: Sequence[int]
    new: Sequence[tuple[int, Place]]
    pieces: Sequence[Move]


def follow(connection: sqlite3.Connection, steps: Sequence[MoveStep]) -> Followed | None:
    """What the steps lead to from the file that was indexed; None when they do not explain it."""
    known: list[Move] = connection.execute("SELECT start, at, length FROM piece ORDER BY start").fetchall()
    if not known:
        last = connection.execute("SELECT start + length FROM memory ORDER BY start DESC LIMIT 1").fetchone()
        known = [(0, 0, last[0])] if last else []
    behind = max((start + length for start, _, length in known), default=0)
    pieces, added = known, dict[int, int]()
    for step in steps:
        pieces = joined(pieces, step.moves)
        for at, length in step.new:
            pieces.append((behind, at, length))
            added[behind] = length
            behind += length
    pieces = list(_merged(pieces))
    new = [(start, (at, length)) for start, at, length in pieces if start in added]
    if len(pieces) > MOST_PIECES or any(length != added[start] for start, (_, length) in new):
        return None
    inside = "SELECT row FROM memory WHERE start >= ? AND start < ?"
    gone = [row for bounds in _gaps(known, pieces) for (row,) in connection.execute(inside, bounds)]
    return Followed(gone, new, pieces)


def settle(connection: sqlite3.Connection, pieces: Iterable[Move]) -> None:
    """Puts the pieces in the place of those that are there."""
    connection.execute("DELETE FROM piece")
    connection.executemany("INSERT INTO piece (start, at, length) VALUES (?, ?, ?)", pieces)


def _merged(pieces: Iterable[Move]) -> Iterator[Move]:
    """The pieces in order of start, as few as possible: between two memories that stay together is a comma."""
    last: Move | None = None
    for piece in sorted(pieces):
        if last is not None and piece[1] - piece[0] == last[1] - last[0] and piece[0] - last[0] - last[2] in (0, 1):
            last = (last[0], last[1], piece[0] + piece[2] - last[0])
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


def _gaps(known: Sequence[Move], pieces: Sequence[Move]) -> Iterator[tuple[int, int]]:
    """The ranges of starts that are in no piece any more."""
    kept = [(start, start + length) for start, _, length in pieces]
    for first, _, length in known:
        at, end = first, first + length
        for start, stop in kept:
            if start < end and stop > at:
                if start > at:
                    yield at, start
                at = stop
        if at < end:
            yield at, end
