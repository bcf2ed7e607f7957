"""Brings an index up to date with a snapshot: what did not change is left as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcli.digests import blake2b
from memcli.errors import CorruptError
from memcli.index.places import follow, settle
from memcli.index.reading import cleaned
from memcli.index.windows import renew_windows
from memcli.model.analysis import terms
from memcli.model.memory import TALK_KINDS, Memory
from memcli.model.passages import embedded_texts, heading, is_versioned, passages
from memcli.ports import Snapshot
from memcli.record import Record
from memcli.retrieval.documents import anchors, columns, commit_of, links, parts_of, text_key

if TYPE_CHECKING:
    from memcli.codec.moves import Move, MoveStep

_DIGEST_BYTES = 16
_FEW = 200
_BY_ROW = ("passage", "link", "window", "anchor")


class TooMuchError(Exception):
    """More would have to be indexed than was allowed."""


def update(
    connection: sqlite3.Connection, snapshot: Snapshot, steps: Sequence[MoveStep] | None = None, most: int | None = None
) -> bool:
    """Makes the rows those of the memories in the snapshot; whether each of these has a row of its own.

    `steps`, where known, lead from the file that was indexed, in which each memory had a row of its own, to this one.
    Raises CorruptError, and TooMuchError when more than `most` memories are new.
    """
    found = (_followed(connection, snapshot, steps) if steps else None) or _compared(connection, snapshot)
    if most is not None and len(found.new) > most:
        raise TooMuchError
    touched = _groups_of(connection, found.gone)
    commits = _commits_of(connection, found.gone)
    delete(connection, found.gone)
    settle(connection, found.pieces)
    connection.executemany("UPDATE memory SET start = ? WHERE row = ?", found.moved)
    read = [_memory(data, snapshot) for _, data, _ in found.new]
    shown = cleaned(snapshot, read) if found.may_be_of_a_hand(snapshot) else read
    memories = [
        (memory, (digest, start, len(data)))
        for memory, was, (digest, data, start) in zip(shown, read, found.new, strict=True)
        if memory.id == was.id  # else the file cannot be asked for it by an id that may be kept
    ]
    tellers: dict[str, str] = {}
    for memory, _ in memories:
        if commit := commit_of(memory):
            tellers[commit] = min(memory.id, tellers.get(commit, memory.id))
    texts: dict[int, str] = {}
    for memory, place in memories:
        commit = commit_of(memory)
        row = _insert(connection, memory, place, tells=not commit or tellers[commit] == memory.id)
        if memory.kind in TALK_KINDS and memory.metadata.get("group"):
            texts[row] = memory.raw
    _tell_once(connection, snapshot, {*commits, *tellers})
    renew_windows(connection, snapshot, [*touched, *_groups_of(connection, list(texts))], texts)
    return len(memories) == len(read) and found.is_complete(connection, [memory.id for memory, _ in memories])


class _Difference(Record):
    """What distinguishes a file from what is indexed: the rows that are gone, the digest, bytes and start of each new
    memory, the new starts of rows, and the pieces. `count` is how many memories the file has, -1 if each had a row."""

    gone: Sequence[int]
    new: Sequence[tuple[bytes, bytes, int]]
    moved: Sequence[tuple[int, int]] = ()
    pieces: Sequence[Move] = ()
    count: int = -1

    def may_be_of_a_hand(self, snapshot: Snapshot) -> bool:
        """Whether somebody may have written into the file past redaction: what is much was redacted by the writer that
        noted it, or is derived, and nobody edits that."""
        return len(self.new) <= _FEW or (self.count >= 0 and not snapshot.header().policy.is_derived)

    def is_complete(self, connection: sqlite3.Connection, ids: Sequence[str]) -> bool:
        """Whether each memory has a row of its own, now that those of `ids` are there."""
        if self.count < 0:
            same = "SELECT count(*) FROM memory WHERE id = ?"
            return all(connection.execute(same, (name,)).fetchone()[0] == 1 for name in ids)
        both = (self.count, self.count)
        select = "SELECT count(*) = ? AND count(DISTINCT id) = ? FROM memory"
        return bool(connection.execute(select, both).fetchone()[0])


def _compared(connection: sqlite3.Connection, snapshot: Snapshot) -> _Difference:
    """The difference by the digest of every memory."""
    known: dict[bytes, tuple[int, int]] = {
        digest: (row, start) for digest, row, start in connection.execute("SELECT digest, row, start FROM memory")
    }
    moved: list[tuple[int, int]] = []
    new: list[tuple[bytes, bytes, int]] = []
    seen: set[bytes] = set()
    count = 0
    for data, start in snapshot.records():
        count += 1
        digest = _digest(data)
        if digest in seen:
            continue  # the same memory twice, word for word: `check store` tells, recall need not
        seen.add(digest)
        if digest not in known:
            new.append((digest, data, start))
        elif known[digest][1] != start:
            moved.append((start, known[digest][0]))
    gone = [row for digest, (row, _) in known.items() if digest not in seen]
    return _Difference(gone, new, moved, count=count)


def _followed(connection: sqlite3.Connection, snapshot: Snapshot, steps: Sequence[MoveStep]) -> _Difference | None:
    """The difference by what writers noted; None when that does not explain the file."""
    found = follow(connection, steps)
    if found is None:
        return None
    records = snapshot.records(place for _, place in found.new)
    new = [(_digest(data), data, start) for (data, _), (start, _) in zip(records, found.new, strict=True)]
    rows = "SELECT row FROM memory WHERE digest = ?"
    known = {row for digest, _, _ in new for (row,) in connection.execute(rows, (digest,))}
    if not known <= set(found.gone) or len({digest for digest, _, _ in new}) < len(new):
        return None
    return _Difference(found.gone, new, pieces=found.pieces)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _insert(connection: sqlite3.Connection, memory: Memory, place: tuple[bytes, int, int], *, tells: bool) -> int:
    """Adds a memory, whose digest, start and length in the file are `place`; returns its row."""
    cut = passages(memory)
    kept = parts_of(memory, cut, tells=tells)
    digest, start, length = place
    values: Mapping[str, Any] = {
        **columns(memory), "digest": digest, "start": start, "length": length,
        "terms": sum(text.count(" ") + bool(text) for text in kept.texts), "tells": tells,
    }  # fmt: skip
    row = connection.execute(
        f"INSERT INTO memory ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", tuple(values.values())
    ).lastrowid
    connection.execute(
        "INSERT INTO term (rowid, path, tags, summary, raw, content) VALUES (?, ?, ?, ?, ?, ?)",
        (row, *kept.texts),
    )
    embedded = embedded_texts(memory, cut)
    connection.executemany(
        "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (row, n, one.form, first, last, " ".join(terms(heading(memory, one))), is_versioned(memory, one), text_key(embedded[n]))
            for n, one, first, last in kept.passages
        ],
    )  # fmt: skip
    connection.executemany("INSERT INTO link VALUES (?, ?, ?, ?)", [(row, *link) for link in links(memory)])
    connection.executemany("INSERT INTO anchor VALUES (?, ?, ?, ?)", [(row, *place) for place in anchors(memory)])
    return int(row or 0)


def delete(connection: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Deletes these rows, and what is kept of them in other tables."""
    dead = [(row,) for row in rows]
    for table in ("memory WHERE row", "term WHERE rowid", *(f"{t} WHERE row" for t in _BY_ROW)):
        connection.executemany(f"DELETE FROM {table} = ?", dead)


def _tell_once(connection: sqlite3.Connection, snapshot: Snapshot, commits: Iterable[str]) -> None:
    """Of each commit the file with the least id keeps the message, whatever came and went."""
    for commit in sorted(set(commits) - {""}):
        rows = connection.execute(
            "SELECT row, tells, digest, start, length FROM memory WHERE commit_hash = ? ORDER BY id, row", (commit,)
        ).fetchall()
        for n, (row, tells, digest, start, length) in enumerate(rows):
            if bool(tells) != (n == 0):
                place = connection.execute("SELECT id, start, length FROM place WHERE row = ?", (row,)).fetchone()
                (memory,) = cleaned(snapshot, snapshot.fetch([place]))
                delete(connection, [row])
                _insert(connection, memory, (digest, start, length), tells=n == 0)


def _groups_of(connection: sqlite3.Connection, rows: Iterable[int]) -> set[str]:
    """The groups of talk that these rows belong to."""
    found = set()
    for row in rows:
        kind, group = connection.execute("SELECT kind, grp FROM memory WHERE row = ?", (row,)).fetchone()
        if kind in TALK_KINDS and group:
            found.add(group)
    return found


def _commits_of(connection: sqlite3.Connection, rows: Iterable[int]) -> set[str]:
    select = "SELECT commit_hash FROM memory WHERE row = ?"
    return {connection.execute(select, (row,)).fetchone()[0] for row in rows}


def _memory(data: bytes, snapshot: Snapshot) -> Memory:
    try:
        return snapshot.decode(data)
    except CorruptError:
        snapshot.load()  # says exactly where the file is damaged
        raise
