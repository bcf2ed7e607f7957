"""The tables of the index of one space: the protocol by which they are read, and its implementation for a SQLite file.

`extras/postgres/tables.py` reads the same tables on a server. Queries that both databases understand are in `view.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property

from memcli import sqlite
from memcli.codec.space import policy_from_json
from memcli.index.database import IN_MEMORY, connect, is_outdated, select
from memcli.model.memory import Memory
from memcli.model.space import Policy
from memcli.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from memcli.index.meaning import Meaning
    from memcli.index.vectors import VectorFile
    from memcli.ports import Embedder, Progress, Snapshot
else:
    Protocol = object

WEIGHTS = (4.0, 3.0, 1.5, 1.0, 1.0)
"""The weight of an occurrence in each of FIELDS for the choice of candidates."""


class SpaceTables(Protocol):
    """Reads one version of the index of one space."""

    fingerprint: str

    @property
    def size(self) -> int:
        """The number of memories of the space."""

    @property
    def policy(self) -> Policy:
        """The policy of the space. Raises CorruptError."""

    def select(self, statement: str, *values: Any) -> Iterable[tuple[Any, ...]]:
        """The result rows of a statement that SQLite and PostgreSQL both understand, over the tables of `database.py` with the
        memories of this space. `?` is replaced by a value, `IN ?` by a list of values; the rows for a long list may be out of
        order, and an empty list has none."""

    def end_of_branch(self, depth: int) -> str:
        """SQL for a text that sorts after all paths with the first `depth` segments of `step.path`; for a path of no more
        segments, the path itself."""

    def best(self, frequencies: Mapping[str, int], most: int | None) -> Iterator[tuple[int, float]]:
        """The rows that contain any of these terms, given with their frequencies, each with its negative BM25 score, best
        first; at most `most`, if given."""

    def by_id(self, frequencies: Mapping[str, int]) -> Iterator[int]:
        """The rows that contain any of these terms, given with their frequencies, in order of id."""

    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        """The number of memories that contain each of the terms; terms in no memory may be left out."""

    def count_terms(self) -> int:
        """The number of distinct terms of the space."""

    def read(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of these ids, from the store, in the order of `ids`. Raises CorruptError."""

    def fetch(self, rows: Sequence[int]) -> list[Memory]:
        """The memories of these rows, from the store, in the order of `rows`. Raises CorruptError."""

    def keep_clusters(self, model: str, data: str) -> None:
        """Stores the clusters of this version of the space as JSON, if the index can be written."""

    def meaning(self, embedder: Embedder, vectors: VectorFile, progress: Progress | None) -> Meaning:
        """The vectors of the space by this embedder."""

    def count_vectors(self, embedder: Embedder, vectors: VectorFile) -> int:
        """The number of texts of the space that have a vector by this embedder."""

    def beside(self) -> Callable[[], AbstractContextManager[SpaceTables | None]]:
        """Opens the same version on another connection, for another thread; the context is None if that is impossible."""

    def close(self) -> None:
        """Closes the connection."""


class Screen(Record):
    """How the texts of memories are screened. `show` redacts memories for storage outside of the space file, according to its
    policy; those without secrets are unchanged. `is_plain`: the memory has no instructions to an agent. `sealer` returns a function
    from bytes to a digest that only this user can make, None where there can be none under a policy."""

    show: Callable[[Sequence[Memory], Policy], Sequence[Memory]] = lambda memories, _: memories
    is_plain: Callable[[Memory], bool] = lambda _: False
    sealer: Callable[[Policy], Callable[[bytes], bytes] | None] = lambda _: None


class IndexSource(Record):
    """The source of an index: a version of a space, and the screen for what was written into the file by hand."""

    snapshot: Snapshot
    screen: Screen = Screen()

    def clean(self, memories: Sequence[Memory]) -> Sequence[Memory]:
        """The memories as an index may store them."""
        return self.screen.show(memories, self.snapshot.header().policy) if memories else memories

    def sealer(self) -> Callable[[bytes], bytes] | None:
        """The function that seals the bytes of a memory, if there is one."""
        return self.screen.sealer(self.snapshot.header().policy)


class TooMuchError(Exception):
    """More new memories would have to be indexed than the caller allows."""


class FileTables:
    """The tables of an index in the SQLite database at `path`, which are up to date with `source`. See `SpaceTables`.
    `home` is the path of that file, unless the database is in memory."""

    def __init__(self, connection: sqlite.Connection, path: str, source: IndexSource, home: str) -> None:
        self.connection = connection
        self.path = path
        self.source = source
        self._home = home
        self.fingerprint = source.snapshot.fingerprint

    @cached_property
    def size(self) -> int:
        return int(self.connection.execute("SELECT count(*) FROM memory").fetchone()[0])

    @property
    def policy(self) -> Policy:
        stored = self.connection.execute("SELECT value FROM meta WHERE key = 'policy'").fetchone()
        return policy_from_json(json.loads(stored[0])) if stored and stored[0] else self.source.snapshot.header().policy

    def select(self, statement: str, *values: Any) -> Iterable[tuple[Any, ...]]:
        return select(self.connection, statement, *values)

    def end_of_branch(self, depth: int) -> str:
        def end(path: str) -> str:
            parts = path.split("/", depth)
            return path[: len(path) - len(parts[-1])] + LAST if len(parts) > depth else path

        self.connection.create_function("end_of_branch", 1, end, deterministic=True)
        return "end_of_branch(step.path)"

    def best(self, frequencies: Mapping[str, int], most: int | None) -> Iterator[tuple[int, float]]:
        weights = ", ".join(map(str, WEIGHTS))
        found = f"SELECT rowid, bm25(term, {weights}) AS score FROM term WHERE term MATCH ? ORDER BY score LIMIT ?"
        return self.connection.execute(found, (_any(frequencies), -1 if most is None else most))

    def by_id(self, frequencies: Mapping[str, int]) -> Iterator[int]:
        found = "SELECT term.rowid FROM term JOIN memory ON memory.row = term.rowid WHERE term MATCH ? ORDER BY id"
        return (row for (row,) in self.connection.execute(found, (_any(frequencies),)))

    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        found = "SELECT term, doc FROM vocabulary WHERE term = ?"
        rows = (self.connection.execute(found, (term,)).fetchone() for term in terms)
        return dict(row for row in rows if row is not None)

    def count_terms(self) -> int:
        return int(self.connection.execute("SELECT count(*) FROM vocabulary").fetchone()[0])

    def read(self, ids: Sequence[str]) -> list[Memory]:
        found = self.select("SELECT id, id, start, length, seal FROM place WHERE id IN ?", list(ids))
        return self._fetched(ids, found)

    def fetch(self, rows: Sequence[int]) -> list[Memory]:
        found = self.select("SELECT row, id, start, length, seal FROM place WHERE row IN ?", list(rows))
        return self._fetched(rows, found)

    def _fetched(self, keys: Sequence[Any], found: Iterable[tuple[Any, ...]]) -> list[Memory]:
        """The memories of `keys`, the first values of `found`."""
        places, seals = {}, {}
        for key, name, start, length, seal in found:
            places[key], seals[name] = (name, start, length), seal
        seal_of = self.source.sealer() if any(seals.values()) else None

        # The index is a file that an archive may bring along: what it says of a text counts only under the seal of this user.
        def are_vetted(name: str, data: bytes) -> bool:
            return seal_of is not None and seals[name] == seal_of(data)

        return self.source.snapshot.fetch([places[key] for key in keys], are_vetted)

    def keep_clusters(self, model: str, data: str) -> None:
        with suppress(sqlite.Error):  # clusters that cannot be stored are computed again
            self.connection.execute(
                # Only while the index is of this version: another process may have updated it during the computation.
                "INSERT OR REPLACE INTO clusters SELECT ?, value, ? FROM meta WHERE key = 'fingerprint' AND value = ?",
                (model, data, self.fingerprint),
            )

    def meaning(self, embedder: Embedder, vectors: VectorFile, progress: Progress | None) -> Meaning:
        from memcli.index.meaning import FileMeaning

        return FileMeaning(self, embedder, vectors, progress)

    def count_vectors(self, embedder: Embedder, vectors: VectorFile) -> int:  # noqa: ARG002 - a file has the vectors of one model
        return len(
            vectors.slots([key for (key,) in self.select("SELECT key FROM passage UNION SELECT key FROM window")])
        )

    def is_outdated(self) -> bool:
        """Whether memories were erased since the source was read."""
        return is_outdated(self._home, self.source.snapshot)

    def beside(self) -> Callable[[], AbstractContextManager[FileTables | None]]:
        @contextmanager
        def opened() -> Iterator[FileTables | None]:
            if self.path == IN_MEMORY:
                yield None
                return
            connection = connect(self.path)
            try:
                yield FileTables(connection, self.path, self.source, self._home)
            finally:
                connection.close()

        return opened

    def close(self) -> None:
        self.connection.close()


LAST = "\U0010ffff"
"""Sorts after every character of a path or an id."""


def _any(terms: Iterable[str]) -> str:
    # Quoted, since a hyphen, a dot, AND and NOT are syntax of FTS5.
    return " OR ".join(f'"{term}"' for term in terms)
