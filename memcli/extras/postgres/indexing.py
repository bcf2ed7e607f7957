"""The index of the spaces on a server: updated in the transaction that writes memories, read in that of a snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, cast

import orjson

from memcli.errors import MemcliError
from memcli.extras.postgres.connection import unhurried
from memcli.extras.postgres.snapshot import ServerSnapshot, clean, memories_of, rows
from memcli.extras.postgres.tables import ServerTables
from memcli.extras.postgres.totals import Tally, add, fold, total
from memcli.index.tables import WEIGHTS
from memcli.index.update import columns, commit_of, records_of, tellers_of
from memcli.index.vectors import text_key
from memcli.index.view import IndexedSpace, Semantic
from memcli.model.memory import TALK_KINDS, Memory
from memcli.model.recall import FIELDS
from memcli.text.passages import window_text
from memcli.text.words import VERSION as ANALYSIS_VERSION

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

    from memcli.extras.postgres.server import Server
    from memcli.index.vectors import VectorFile
    from memcli.ports import Embedder, Progress, Snapshot


VERSION = f"2/{ANALYSIS_VERSION}"
"""The version of the records: it changes when the same memory would give other ones."""

_AT_ONCE = 200
_MOST = 32_767  # the largest smallint, the type of a term's weight
_PASSAGE = ("n", "form", "first", "last", "heading", "is_versioned")
PENDING = "SELECT count(*) FROM pending WHERE space = %s"
"""How many writes are pending."""
_NEW_ROWS = "SELECT nextval('entry_row') FROM generate_series(1, %s)"
_FORGET = """DELETE FROM embedding WHERE space = %s AND key = ANY(%s)
    AND NOT EXISTS (SELECT FROM passage WHERE passage.space = embedding.space AND passage.key = embedding.key)
    AND NOT EXISTS (SELECT FROM turn WHERE turn.space = embedding.space AND turn.key = embedding.key)"""
_TABLES = ("field", "term", "passage", "turn", "link", "anchor", "entry")


def write(connection: Connection, space: str, put: Sequence[Memory], removed: Sequence[str]) -> None:
    """Updates the index of a space after the memories `put` were stored and those with the ids `removed` deleted.

    The transaction holds the lock of the space, so that no other one changes its index.
    """
    columns_of = {memory.id: columns(memory) for memory in put}
    ids = [*removed, *columns_of]
    known = "SELECT row, kind, grp, commit_hash FROM entry WHERE space = %s AND id = ANY(%s)"
    # Three statements before the first result is fetched: in a pipeline they take one round trip.
    found = connection.execute(known, (space, ids))
    numbers = connection.execute(_NEW_ROWS, (len(put),))
    pending = connection.execute(PENDING, (space,))
    before = found.fetchall()
    new = [(one["kind"], one["grp"], one["commit_hash"]) for one in columns_of.values()]
    touched = [*(tuple(one) for _, *one in before), *new]
    groups = sorted({clean(group) for kind, group, _ in touched if kind in TALK_KINDS and group})
    commits = sorted({clean(commit) for *_, commit in touched if commit})
    tallies, keys = _delete(connection, space, [row for row, *_ in before])
    tellers = tellers_of(put)
    pairs = [(memory, tellers.get(commit_of(memory), memory.id) == memory.id) for memory in put]
    tallies += _insert(connection, space, pairs, numbers)
    for commit in commits:
        tallies += _tell_once(connection, space, commit)
    texts = {memory.id: memory.raw for memory in put}
    for group in groups:
        keys += _renew_turns(connection, space, group, texts)
    add(connection, space, VERSION, total(tallies), pending)
    if removed:  # pending tallies list the words of a memory, which must not outlast it
        fold(connection, space)
    if keys:  # vectors whose text no memory may have any more
        connection.execute(_FORGET, (space, keys))


def clear(connection: Connection, space: str) -> None:
    """Deletes the index of the space, except the vectors of its texts, which are slow to compute."""
    for table in (*_TABLES, "frequency", "pending", "total", "clustering"):
        connection.execute(f"DELETE FROM {table} WHERE space = %s", (space,))


def rebuild(connection: Connection, space: str) -> None:
    """Rebuilds the index of a space from its memories, in the transaction of the connection."""
    # Writers lock this row, too, so that none changes the space meanwhile.
    connection.execute("SELECT FROM space WHERE space = %s FOR NO KEY UPDATE", (space,))
    clear(connection, space)
    ids = [name for (name,) in connection.execute("SELECT id FROM memory WHERE space = %s ORDER BY id", (space,))]
    for start in range(0, len(ids), _AT_ONCE):
        read = memories_of(partial(rows, connection), space, ids[start : start + _AT_ONCE])
        write(connection, space, read, ())


def records(
    space: str, memory: Memory, row: int, *, tells: bool
) -> tuple[Mapping[str, Sequence[Mapping[str, Any]]], Tally]:
    """The records to insert for a memory, by table, and its tally. `tells`: it is the memory that is found by the message of
    its commit."""
    own = records_of(memory, tells=tells)
    weights: dict[str, int] = {}  # twice what the occurrences of each word count together
    size = 0
    for text, weight in zip(own.fields, WEIGHTS, strict=True):
        # SQLite's full-text search, the index of a store in files, splits at apostrophes: both must find the same candidates.
        words = text.replace("'", " ").split()
        size += len(words)
        for word, count in Counter(words).items():
            weights[word] = weights.get(word, 0) + count * int(2 * weight)
    weights = {word: min(_MOST, weight) for word, weight in weights.items()}
    found: dict[str, list[dict[str, Any]]] = {
        "entry": [dict(own.entry)],
        "field": [dict(zip(FIELDS, own.fields, strict=True))],
        "term": [{"size": size, "lexemes": list(weights), "weights": list(weights.values())}],
        "passage": [{**dict(zip(_PASSAGE, one, strict=False)), "key": f"\\x{one[-1].hex()}"} for one in own.passages],
        "link": [{"target": to, "relation": relation, "weight": weight} for to, relation, weight in own.links],
        "anchor": [{"file": file, "first": first, "last": last} for file, first, last in own.anchors],
    }
    lengths = tuple(text.count(" ") + bool(text) for text in own.fields)
    length = sum(last - first for _, _, first, last, *_ in own.passages)
    tally = Tally(1, size, lengths, len(own.passages), length, dict.fromkeys(weights, 1))
    for one in chain.from_iterable(found.values()):
        one |= {"space": space, "row": row}
        one |= {name: clean(value) for name, value in one.items() if type(value) is str}
    return found, tally


def _insert(
    connection: Connection, space: str, memories: Sequence[tuple[Memory, bool]], numbers: Cursor
) -> list[tuple[Tally, int]]:
    """Inserts the records of memories under these row numbers; each memory comes with its `tells` (see `records`). Returns
    their tallies.
    """
    if not memories:
        return []
    tallies = []
    every = list(zip(memories, (row for (row,) in numbers.fetchall()), strict=True))
    # In batches, so that the server stores one while the words of the next are counted here.
    for start in range(0, len(every), _AT_ONCE):
        found: dict[str, list[Mapping[str, Any]]] = {}
        for (memory, tells), row in every[start : start + _AT_ONCE]:
            own, tally = records(space, memory, row, tells=tells)
            tallies.append((tally, 1))
            for table, ones in own.items():
                found.setdefault(table, []).extend(ones)
        for table, ones in found.items():
            insert(connection, table, ones)
    return tallies


def insert(connection: Connection, table: str, ones: Sequence[Mapping[str, Any]]) -> None:
    """Inserts records, which have the same columns, into a table in one statement."""
    if ones:
        # As JSON, not by COPY, which PostgreSQL refuses to roles under row-level security.
        names = ", ".join(ones[0])
        select = f"SELECT {names} FROM json_populate_recordset(NULL::{table}, %s::json)"
        connection.execute(f"INSERT INTO {table} ({names}) {select}", (orjson.dumps(ones).decode(),))


def _delete(connection: Connection, space: str, numbers: Sequence[int]) -> tuple[list[tuple[Tally, int]], list[bytes]]:
    """Deletes the records of these rows; returns their tallies, to be subtracted, and the keys of their texts' vectors."""
    if not numbers:
        return [], []
    at = (space, list(numbers))
    lengths = ", ".join(f"cardinality(string_to_array({name}, ' '))" for name in FIELDS)
    select = f"SELECT row, {lengths}, size, lexemes FROM field JOIN term USING (space, row) WHERE space = %s AND row = ANY(%s)"
    fields = connection.execute(select, at).fetchall()
    select = "SELECT row, last - first, key FROM passage WHERE space = %s AND row = ANY(%s)"
    passages = connection.execute(select, at).fetchall()
    select = "SELECT key FROM turn WHERE space = %s AND row = ANY(%s)"
    keys = [bytes(key) for *_, key in (*passages, *connection.execute(select, at).fetchall())]
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE space = %s AND row = ANY(%s)", at)
    connection.execute("DELETE FROM clustering WHERE space = %s", (space,))
    cut: dict[int, list[int]] = {}
    for row, length, _ in passages:
        cut.setdefault(row, []).append(length)
    return [
        (
            Tally(
                1,
                size,
                tuple(lengths),
                len(cut.get(row, ())),
                sum(cut.get(row, ())),
                dict.fromkeys(lexemes, 1),
            ),
            -1,
        )
        for row, *lengths, size, lexemes in fields
    ], keys


def _tell_once(connection: Connection, space: str, commit: str) -> list[tuple[Tally, int]]:
    """Makes the memory with the least id the only one of a commit that is found by the commit's message; returns the tallies
    of the records that changed."""
    select = "SELECT row, id, tells FROM entry WHERE space = %s AND commit_hash = %s ORDER BY id"
    found = connection.execute(select, (space, commit)).fetchall()
    wrong = {name: (row, n == 0) for n, (row, name, tells) in enumerate(found) if tells != (n == 0)}
    if not wrong:
        return []
    memories = memories_of(partial(rows, connection), space, list(wrong))
    gone, _ = _delete(connection, space, [row for row, _ in wrong.values()])
    pairs = [(memory, tells) for memory, (_, tells) in zip(memories, wrong.values(), strict=True)]
    return gone + _insert(connection, space, pairs, connection.execute(_NEW_ROWS, (len(pairs),)))


def _renew_turns(connection: Connection, space: str, group: str, texts: Mapping[str, str]) -> list[bytes]:
    """Updates the turns (pairs of successive memories) of a conversation, and returns the keys of deleted ones. `texts` has
    texts of memories by id; others are read.
    """
    select = "SELECT row, id FROM entry WHERE space = %s AND grp = %s AND kind = ANY(%s) ORDER BY position"
    members = connection.execute(select, (space, group, list(TALK_KINDS))).fetchall()
    select = "SELECT row, before, key FROM turn WHERE space = %s AND grp = %s"
    known = {(row, before): bytes(key) for row, before, key in connection.execute(select, (space, group)).fetchall()}
    pairs = {(row, before): (name, earlier) for (before, earlier), (row, name) in pairwise(members)}
    # A changed memory gets a new row number, so that a known pair of rows is an unchanged pair of texts.
    stale = [pair for pair in known if pair not in pairs]
    if stale:
        connection.execute("DELETE FROM turn WHERE space = %s AND row = ANY(%s)", (space, [row for row, _ in stale]))
    new = {pair: names for pair, names in pairs.items() if pair not in known}
    missing = {name for names in new.values() for name in names if name not in texts}
    read = memories_of(partial(rows, connection), space, sorted(missing))
    raw = {**{memory.id: memory.raw for memory in read}, **texts}
    insert(
        connection,
        "turn",
        [
            {"space": space, "row": row, "before": before, "grp": group,
             "key": f"\\x{text_key(window_text(raw[earlier], raw[name])).hex()}"}
            for (row, before), (name, earlier) in new.items()
        ],
    )  # fmt: skip
    return [known[pair] for pair in stale]


class PostgresIndex:
    """The index on `server`. See `ports.Index` for the promises.

    `embedder` is called once, when the first vector is needed. `open_vectors` opens, for its model and dimensions, the file of
    the vectors of queries, which stays on this machine.
    """

    def __init__(
        self,
        server: Server,
        embedder: Callable[[], Embedder | None],
        open_vectors: Callable[[str, int], VectorFile],
        warn: Callable[[str], None],
        progress: Progress | None = None,
    ) -> None:
        self._server = server
        self._semantic = Semantic(embedder, open_vectors)
        self._warn = warn
        self._progress = progress

    def view(self, snapshot: Snapshot) -> IndexedSpace:
        tables = ServerTables(cast("ServerSnapshot", snapshot), self._server)
        if tables.read_rows("SELECT 1 FROM total WHERE space = %s AND version <> %s", (tables.space, VERSION)):
            self._warn(
                f"the index of space {tables.space!r} was written by another version of memcli, and may rank differently"
                f" (`memcli store index rebuild -s {tables.space}` makes it anew)"
            )
        return IndexedSpace(tables, self._semantic, self._warn, self._progress)

    def at_hand(self, snapshot: Snapshot) -> IndexedSpace | None:
        if not snapshot.fingerprint:
            return None
        try:
            return self.view(snapshot)
        except MemcliError:
            return None

    def existing(self, snapshot: Snapshot) -> IndexedSpace | None:
        tables = ServerTables(cast("ServerSnapshot", snapshot), self._server)
        if not snapshot.fingerprint or tables.select("SELECT 1 FROM memory WHERE is_odd LIMIT 1"):
            return None
        return IndexedSpace(tables, self._semantic, self._warn, self._progress)

    def embedder(self) -> str:
        return self._semantic.model()

    def rebuild(self, space: str) -> None:
        what = f"rebuild the index of space {space!r}"
        with self._server.connected(what) as connection, unhurried(connection), connection.transaction():
            rebuild(connection, space)

    def question(self, topic: str) -> tuple[str, bytes] | None:
        return self._semantic.question(topic)
