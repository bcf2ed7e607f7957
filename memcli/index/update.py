"""Brings an index up to date with a snapshot, without touching unchanged rows; and the rows of a memory: columns for filters,
terms, and keys of texts to embed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import pairwise

from memcli import sqlite
from memcli.codec.window import Move, MoveStep, joined
from memcli.digests import blake2b
from memcli.errors import CorruptError
from memcli.index.database import select
from memcli.index.tables import IndexSource, TooMuchError
from memcli.index.vectors import text_key
from memcli.model.memory import TALK_KINDS, Json, Memory
from memcli.model.names import natural_order
from memcli.model.shapes import OBSERVED
from memcli.policy.ageing import confirmed_at
from memcli.record import Record
from memcli.text.passages import (
    MESSAGE,
    embedded_texts,
    heading,
    is_versioned,
    passages,
    structured,
    window_text,
)
from memcli.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.ports import Snapshot


def columns(memory: Memory) -> dict[str, Any]:
    """The columns of the table `memory` that depend on the memory alone. If `is_odd`, columns cannot represent its tags or its
    successor exactly, and the catalogue reads the file."""
    own = memory.procedure.get("trigger") if isinstance(memory.procedure, Mapping) else None
    # A space file that was edited by hand may have any type here.
    triggers = [text for text in (*memory.triggers, own) if isinstance(text, str) and text]
    return {
        "id": memory.id,
        "path": memory.path,
        "kind": memory.kind,
        "tags": f" {' '.join(memory.tags)} ",
        "relevance": memory.relevance,
        "pinned": memory.pinned,
        # The session of a memory is part of its scope, which needs no column of its own.
        "scope": f"{memory.scope}:{memory.session}" if memory.session else memory.scope,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "importance": memory.effective_importance(),
        "confidence": memory.confidence * memory.trust,
        "grp": _text(memory.metadata.get("group")),
        "position": f"{memory.created_at} {natural_order(memory.id)}",
        "speaker": _text(memory.metadata.get("speaker")),
        "source": " ".join(terms(_text(memory.metadata.get("source")))),
        "hidden": not memory.active or memory.superseded_by is not None,
        "active": memory.active,
        "superseded_by": memory.superseded_by or "",
        "valid_from": memory.valid_from or "",
        "valid_until": memory.valid_until or "",
        "commit_hash": commit_of(memory),
        "confirmed_at": confirmed_at(memory),
        "season": memory.season or "",
        # By its provenance, not by its form: a heading in a note does not make it a document.
        "is_read": memory.kind == "diff" or memory.provenance.get("source") == OBSERVED,
        "triggers": json.dumps(triggers) if triggers else "",
        "characters": len(memory.raw),
        "is_odd": memory.superseded_by == "" or any(tag.split() != [tag] for tag in memory.tags),
    }


def commit_of(memory: Memory) -> str:
    """The commit of a memory that is one of its files; otherwise empty."""
    return _text(memory.provenance.get("commit")) if memory.kind == "diff" else ""


def tellers_of(memories: Iterable[Memory]) -> dict[str, str]:
    """For each commit the least id of its memories, which is indexed with the message of the commit."""
    tellers: dict[str, str] = {}
    for memory in memories:
        if commit := commit_of(memory):
            tellers[commit] = min(memory.id, tellers.get(commit, memory.id))
    return tellers


class IndexRecords(Record):
    """The records of one memory in the tables of an index, without its row.

    `fields` are the terms of each of FIELDS, joined by spaces; `entry` maps columns of `memory` to values; `passages`, `links` and
    `anchors` are the values of those tables, in the order of their columns.
    """

    entry: Mapping[str, Any]
    fields: tuple[str, ...]
    passages: Sequence[tuple[int, str, int, int, str, bool, bytes]]
    links: Sequence[tuple[str, str, float]]
    anchors: Sequence[tuple[str, int, int]]


def records_of(memory: Memory, *, tells: bool) -> IndexRecords:
    """The records of a memory. The message of a commit is indexed with only one of its files, the one with `tells`: otherwise
    one commit would be many hits, and its words would count as common."""
    cut = passages(memory)
    raw: list[str] = []
    spans: list[tuple[int, int]] = []  # for each passage, which of these terms are its own
    at = 0
    for passage in cut:
        first = len(raw)
        if passage.end and (tells or passage.form != MESSAGE):
            raw += terms(memory.raw[at : passage.start])
            first = len(raw)
            raw += terms(memory.raw[passage.start : passage.end])
        at = max(at, passage.end)
        spans.append((first, len(raw)))
    raw += terms(memory.raw[at:])
    if tells:
        summaries = dict.fromkeys((memory.summary_micro, memory.summary_short, memory.summary_long))
        # A short text is its own summary: counting its terms twice would distort its length.
        summary = "\n".join(s for s in summaries if s and s.strip() != memory.raw.strip())
    else:
        symbols = memory.metadata.get("functions")
        summary = "\n".join(map(str, symbols)) if isinstance(symbols, list | tuple) else ""
    texts = (memory.path, "\n".join(memory.tags), summary, structured(memory))
    path, tags, summary, content = (" ".join(terms(text)) for text in texts)
    fields = (path, tags, summary, " ".join(raw), content)
    embedded = embedded_texts(memory, cut)
    return IndexRecords(
        {**columns(memory), "terms": sum(text.count(" ") + bool(text) for text in fields), "tells": tells},
        fields,
        [
            (n, one.form, *spans[n], " ".join(terms(heading(memory, one))), is_versioned(memory, one), text_key(embedded[n]))
            for n, one in enumerate(cut)
            if tells or one.form != MESSAGE
        ],
        links(memory),
        anchors(memory),
    )  # fmt: skip


def links(memory: Memory) -> list[tuple[str, str, float]]:
    """The target, the relation and the weight (0..1, by default 1) of each link of the memory."""
    found = []
    # A space file that was edited by hand may have any type here.
    for link in (given for given in memory.links if hasattr(given, "get")):
        weight = link.get("weight")
        known = float(weight) if isinstance(weight, int | float) else 1.0
        found.append((_text(link.get("to")), _text(link.get("relation")), min(1.0, max(0.0, known))))
    return found


def anchors(memory: Memory) -> list[tuple[str, int, int]]:
    """The file, first and last line of each anchor of the memory; lines 0, 0 mean the whole file. Memories that were read from
    the code itself have none, as they change with it."""
    if memory.provenance.get("source") == OBSERVED:
        return []
    found = []
    for anchor in (given for given in memory.anchors if hasattr(given, "get")):
        lines = anchor.get("lines")
        pair = lines if isinstance(lines, list | tuple) and len(lines) == 2 else (0, 0)
        first, last = pair if all(type(n) is int for n in pair) else (0, 0)
        found.append((_text(anchor.get("file")).removeprefix("./"), first, last))
    return [(file, first, last) for file, first, last in found if file]


def _text(value: Json) -> str:
    """A name in metadata as text, where numbers are names too (`"group": 7`); empty for other values."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


MOST_PIECES = 1000
"""With more pieces the whole file is compared with the index, which then needs no pieces."""


def _merged(pieces: Iterable[Move]) -> Iterator[Move]:
    """The pieces in order of start; those that moved together are joined, also over the comma between two memories."""
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
    """The ranges of starts that are in a piece of `known`, but in none of `pieces`."""
    ranges = [(start, start + length) for start, _, length in pieces]
    for first, _, length in known:
        at, end = first, first + length
        for start, stop in ranges:
            if start < end and stop > at:
                if start > at:
                    yield at, start
                at = stop
        if at < end:
            yield at, end


def renew_windows(
    connection: sqlite.Connection, source: IndexSource, groups: Iterable[str], texts: Mapping[int, str]
) -> None:
    """Brings the windows of these groups up to date. `texts` has the texts of rows that were already read. A changed memory gets
    a new row, so the window of a known pair of rows is unchanged."""
    # An answer often repeats no word of its question, so talk is also embedded together with what was said before it.
    for group in sorted(set(groups)):
        members = "SELECT row FROM memory WHERE grp = ? AND kind IN ? ORDER BY position"
        rows = list(select(connection, members, group, list(TALK_KINDS)))
        known = set(connection.execute("SELECT row, before FROM window WHERE grp = ?", (group,)))
        pairs = [(row, before) for (before,), (row,) in pairwise(rows)]
        for row, _ in known.difference(pairs):
            connection.execute("DELETE FROM window WHERE row = ?", (row,))
        for row, before in pairs:
            if (row, before) not in known:
                both = (texts[r] if r in texts else _read(connection, source, r).raw for r in (before, row))
                text = window_text(*both)
                connection.execute(
                    "INSERT OR REPLACE INTO window VALUES (?, ?, ?, ?)", (row, before, group, text_key(text))
                )


def _read(connection: sqlite.Connection, source: IndexSource, row: int) -> Memory:
    """The memory of a row, redacted for the index."""
    place = connection.execute("SELECT id, start, length FROM place WHERE row = ?", (row,)).fetchone()
    return source.clean(source.snapshot.fetch([place]))[0]


_DIGEST_BYTES = 16
_FEW = 200
_MANY, _TOO_MANY = 1000, 20_000
"""From so many new memories on, a fork saves more time than it takes; from so many on, it takes too much memory: of 10,000
memories it holds 75 MB."""
_OWN = 3
"""This process makes the records of every third of them: it also stores all."""
_BY_ROW = ("passage", "link", "window", "anchor")


def update(
    connection: sqlite.Connection,
    source: IndexSource,
    steps: Sequence[MoveStep] | None = None,
    most: int | None = None,
) -> bool:
    """Updates the rows to the memories of the snapshot; returns whether each of these has one row.

    `steps`, if known, are the changes from the indexed file, in which each memory had one row, to this one. Raises CorruptError,
    and TooMuchError if more than `most` memories are new.
    """
    snapshot = source.snapshot
    found = (_followed(connection, snapshot, steps) if steps else None) or _compared(connection, snapshot)
    if most is not None and len(found.new) > most:
        raise TooMuchError
    touched = _groups_of(connection, found.gone)
    commit = "SELECT commit_hash FROM memory WHERE row = ?"
    commits = {connection.execute(commit, (row,)).fetchone()[0] for row in found.gone}
    delete(connection, found.gone)
    connection.execute("DELETE FROM piece")
    connection.executemany("INSERT INTO piece (start, at, length) VALUES (?, ?, ?)", found.pieces)
    connection.executemany("UPDATE memory SET start = ? WHERE row = ?", found.moved)
    try:
        read = [snapshot.decode(data) for _, data, _ in found.new]
    except CorruptError:
        snapshot.load()  # raises an error with the exact position of the damage
        raise
    # Many new memories were redacted by the writer that noted them, or belong to a derived space, which nobody edits;
    # otherwise secrets may have been written into the file by hand. Only what is searched here is sealed.
    may_be_of_a_hand = len(found.new) <= _FEW or (found.count >= 0 and not snapshot.header().policy.is_derived)
    shown = source.clean(read) if may_be_of_a_hand else read
    seal = source.sealer() if may_be_of_a_hand else None
    memories = [
        (
            memory,
            (digest, start, len(data), seal(data) if seal and memory is was and source.screen.is_plain(was) else b""),
        )
        for memory, was, (digest, data, start) in zip(shown, read, found.new, strict=True)
        if memory.id == was.id  # an id with a secret must not be stored, so the file could not be searched for it
    ]
    # Chosen before any is inserted: a row that is written a second time, without the message, gets another number.
    tellers = tellers_of(memory for memory, _ in memories)
    told = [(memory, tellers.get(commit_of(memory), memory.id) == memory.id) for memory, _ in memories]
    texts: dict[int, str] = {}
    for (memory, place), records in zip(memories, _records(told), strict=True):
        row = _insert(connection, records, place)
        if memory.kind in TALK_KINDS and memory.metadata.get("group"):
            texts[row] = memory.raw
    _tell_once(connection, source, {*commits, *tellers})
    renew_windows(connection, source, [*touched, *_groups_of(connection, list(texts))], texts)
    return len(memories) == len(read) and found.is_complete(connection, [memory.id for memory, _ in memories])


class _Difference(Record):
    """The difference between a file and the index: the rows of memories that are `gone`, the digest, bytes and start of each new
    memory, the new starts of moved rows, and the pieces. `count` is the number of memories of the file, -1 if it is unknown but
    each memory had one row."""

    gone: Sequence[int]
    new: Sequence[tuple[bytes, bytes, int]]
    moved: Sequence[tuple[int, int]] = ()
    pieces: Sequence[Move] = ()
    count: int = -1

    def is_complete(self, connection: sqlite.Connection, ids: Sequence[str]) -> bool:
        """Whether each memory has one row, after those of `ids` were added."""
        if self.count < 0:
            same = "SELECT count(*) FROM memory WHERE id = ?"
            return all(connection.execute(same, (name,)).fetchone()[0] == 1 for name in ids)
        both = (self.count, self.count)
        select = "SELECT count(*) = ? AND count(DISTINCT id) = ? FROM memory"
        return bool(connection.execute(select, both).fetchone()[0])


def _compared(connection: sqlite.Connection, snapshot: Snapshot) -> _Difference:
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
        digest = blake2b(data, digest_size=_DIGEST_BYTES).digest()
        if digest in seen:
            continue  # an exact copy in the file: `check store` reports it, a search needs it once
        seen.add(digest)
        if digest not in known:
            new.append((digest, data, start))
        elif known[digest][1] != start:
            moved.append((start, known[digest][0]))
    gone = [row for digest, (row, _) in known.items() if digest not in seen]
    return _Difference(gone, new, moved, count=count)


def _followed(connection: sqlite.Connection, snapshot: Snapshot, steps: Sequence[MoveStep]) -> _Difference | None:
    """The difference by the notes of writers; None if they do not explain the file."""
    # The notes spare reading and hashing the whole file, and moving the rows of all memories after the change.
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
    places = [(start, (at, length)) for start, at, length in pieces if start in added]
    if len(pieces) > MOST_PIECES or any(length != added[start] for start, (_, length) in places):
        return None
    inside = "SELECT row FROM memory WHERE start >= ? AND start < ?"
    gone = [row for bounds in _gaps(known, pieces) for (row,) in connection.execute(inside, bounds)]
    records = snapshot.records(place for _, place in places)
    new = [
        (blake2b(data, digest_size=_DIGEST_BYTES).digest(), data, start)
        for (data, _), (start, _) in zip(records, places, strict=True)
    ]
    rows = "SELECT row FROM memory WHERE digest = ?"
    same = {row for digest, _, _ in new for (row,) in connection.execute(rows, (digest,))}
    if not same <= set(gone) or len({digest for digest, _, _ in new}) < len(new):
        return None
    return _Difference(gone, new, pieces=pieces)


def _records(memories: Sequence[tuple[Memory, bool]]) -> Iterator[IndexRecords]:
    """The records of memories, each given with whether it tells; of many, some are made by a fork of this process."""
    if not _MANY <= len(memories) < _TOO_MANY:
        yield from (records_of(memory, tells=tells) for memory, tells in memories)
        return
    from memcli.ahead import ahead  # imports `multiprocessing`

    made = (records_of(memory, tells=tells) for n, (memory, tells) in enumerate(memories) if n % _OWN)
    with closing(ahead(made)) as theirs:
        for n, (memory, tells) in enumerate(memories):
            yield next(theirs) if n % _OWN else records_of(memory, tells=tells)


def _insert(connection: sqlite.Connection, records: IndexRecords, place: tuple[bytes, int, int, bytes]) -> int:
    """Adds the records of a memory, whose digest, start and length in the file, and seal, are `place`; returns its row."""
    entry = {**records.entry, **dict(zip(("digest", "start", "length", "seal"), place, strict=True))}
    inserted = f"INSERT INTO memory ({', '.join(entry)}) VALUES ({', '.join('?' * len(entry))})"
    row = connection.execute(inserted, tuple(entry.values())).lastrowid or 0
    connection.execute(
        "INSERT INTO term (rowid, path, tags, summary, raw, content) VALUES (?, ?, ?, ?, ?, ?)", (row, *records.fields)
    )
    for table, values in (("passage", records.passages), ("link", records.links), ("anchor", records.anchors)):
        if values:
            marks = ", ".join("?" * (1 + len(values[0])))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", [(row, *one) for one in values])
    return row


def delete(connection: sqlite.Connection, rows: Iterable[int]) -> None:
    """Deletes these rows, and the rows of other tables that refer to them."""
    dead = [(row,) for row in rows]
    for table in ("memory WHERE row", "term WHERE rowid", *(f"{t} WHERE row" for t in _BY_ROW)):
        connection.executemany(f"DELETE FROM {table} = ?", dead)


def _tell_once(connection: sqlite.Connection, source: IndexSource, commits: Iterable[str]) -> None:
    """Indexes the message of each commit with the file of the least id, after files were added or removed."""
    for commit in sorted(set(commits) - {""}):
        # With the condition of the partial index, without which the whole table would be read for each commit.
        found = "SELECT row, tells, digest, start, length, seal FROM memory WHERE commit_hash = ? AND commit_hash <> '' ORDER BY id, row"
        rows = connection.execute(found, (commit,)).fetchall()
        for n, (row, tells, *place) in enumerate(rows):
            if bool(tells) != (n == 0):
                memory = _read(connection, source, row)
                delete(connection, [row])
                _insert(connection, records_of(memory, tells=n == 0), tuple(place))


def _groups_of(connection: sqlite.Connection, rows: Iterable[int]) -> set[str]:
    """The groups of talk that these rows belong to."""
    found = set()
    for row in rows:
        kind, group = connection.execute("SELECT kind, grp FROM memory WHERE row = ?", (row,)).fetchone()
        if kind in TALK_KINDS and group:
            found.add(group)
    return found
