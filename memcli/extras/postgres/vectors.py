"""The vectors of texts on the server. Their components are whole numbers, which `halfvec` holds exactly.

Meaning: how near each memory of a space is to a question. The server computes the dot products.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from memcli.digests import blake2b
from memcli.errors import MemcliError, RefusedError
from memcli.extras.postgres.connection import unhurried
from memcli.index.meaning import Meaning, Places, first_of, mean_directions, of_passages
from memcli.index.vectors import asked, cosines_by, cosines_of, square_of
from memcli.model.recall import Nearness, RowSet

if TYPE_CHECKING:
    from psycopg import Connection

    from memcli.extras.postgres.snapshot import Read
    from memcli.extras.postgres.tables import ServerTables
    from memcli.index.vectors import VectorFile
    from memcli.ports import Embedder, Progress


NEAREST = 400
"""So many texts of a very large space are looked at for a question: several passages may be of one memory."""

_MOST_EXACT = 1024
"""Dimensions: the server sums in float32, and so many products of two bytes come to less than 2^24."""
_MOST_INDEXED = 4000
_HALF_HEADER = 4
_AT_ONCE = 1000
_TEXTS = """
SELECT text.row, coalesce(e.square, 0)::float8, CASE WHEN e.key IS NULL THEN text.key END, {dots}
FROM {table} AS text
LEFT JOIN embedding AS e ON e.space = text.space AND e.model = %(model)s AND e.key = text.key
WHERE text.space = %(space)s {among} ORDER BY {order}
"""
EMBEDDED = """INSERT INTO embedded AS known VALUES (%s, %s, %s)
    ON CONFLICT (space, model) DO UPDATE SET row = greatest(known.row, excluded.row)"""
"""Notes that every text of the space up to this row has a vector of the model."""
_KEEP = """
INSERT INTO embedding (space, model, key, square, value)
SELECT %s, %s, key, square, value::halfvec FROM unnest(%s::bytea[], %s::bigint[], %s::text[]) AS new (key, square, value)
WHERE EXISTS (SELECT FROM passage WHERE passage.space = %s AND passage.key = new.key)
OR EXISTS (SELECT FROM turn WHERE turn.space = %s AND turn.key = new.key)
ON CONFLICT DO NOTHING
"""


class ServerVectors:
    """The vectors of one space by one model, as a snapshot sees them, and those that were `made` since."""

    def __init__(self, read: Read, space: str, model: str, dimensions: int) -> None:
        self._read = read
        self._at = {"space": space, "model": model}
        self._dimensions = dimensions
        self.made: dict[bytes, bytes] = {}

    def measure(
        self, table: str, questions: Sequence[bytes], rows: Collection[int] | None = None
    ) -> tuple[Any, Any, frozenset[bytes], int]:
        """The passages of these rows, or of all, in order; or their turns: what was said, with what was said right before it.

        Of each text the row; their cosines, [questions, texts], NaN where there is no vector; the keys of those that have none;
        and how many these are."""
        import numpy

        order = "text.row, text.n" if table == "passage" else "text.row"

        among = "" if rows is None else "AND text.row = ANY(%(rows)s)"
        dots = ", ".join(f"coalesce({self._dot(f'q{n}')}, 'NaN')" for n in range(len(questions)))
        values = {f"q{n}": _written(question) for n, question in enumerate(questions)}
        found = self._read(
            _TEXTS.format(dots=dots, table=table, among=among, order=order),
            {**self._at, **values, "rows": None if rows is None else list(rows)},
        )
        own = numpy.array([row for row, *_ in found], numpy.int64)
        squares = numpy.array([square for _, square, *_ in found], numpy.float64)
        products = numpy.array([one[3:] for one in found], numpy.float64).reshape(len(found), len(questions))
        cosines = cosines_by(products.T, squares, asked(questions))
        new = [(place, one[2]) for place, one in enumerate(found) if one[2] is not None]
        known = [(place, self.made[key]) for place, key in new if key in self.made]
        if known:
            cosines[:, [place for place, _ in known]] = cosines_of(questions, [vector for _, vector in known])
        missing = frozenset(key for _, key in new) - self.made.keys()
        return own, cosines, missing, len(new) - len(known)

    def nearest(self, question: bytes, count: int) -> list[int]:
        """The rows of the `count` texts that are nearest to the question."""
        size = self._dimensions
        self._read(
            "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)",
            (str(min(1000, count)),),
        )
        model = _literal(self._at["model"]).replace("%", "%%")
        near = (
            f"SELECT key FROM embedding WHERE space = %(space)s AND model = {model}"
            f" ORDER BY (value::halfvec({size})) <=> %(question)s::halfvec({size}) LIMIT %(count)s"
        )
        found = self._read(near, {**self._at, "question": _written(question), "count": count})
        return self.rows_of([key for (key,) in found])

    def rows_of(self, keys: Sequence[bytes]) -> list[int]:
        """The rows with any of these texts."""
        both = " UNION ".join(
            f"SELECT row FROM {table} WHERE space = %(space)s AND key = ANY(%(keys)s)" for table in ("passage", "turn")
        )
        return [row for (row,) in self._read(f"{both} ORDER BY row", {**self._at, "keys": list(keys)})]

    def missing(self) -> frozenset[bytes]:
        """The keys of all texts that have no vector."""
        ((mark,),) = self._read(
            "SELECT coalesce(max(row), 0) FROM embedded WHERE space = %(space)s AND model = %(model)s", self._at
        )
        none = "NOT EXISTS (SELECT FROM embedding AS e WHERE e.space = text.space AND e.model = %(model)s AND e.key = text.key)"
        both = " UNION ".join(
            f"SELECT key FROM {table} AS text WHERE space = %(space)s AND row > %(mark)s AND {none}"
            for table in ("passage", "turn")
        )
        return frozenset(key for (key,) in self._read(both, {**self._at, "mark": mark})) - self.made.keys()

    def values(self, rows: Collection[int]) -> tuple[Any, Any] | None:
        """The row of each passage of these rows, and its vector, in order: int64 [n], int8 [n, dimensions]; None when one has
        none."""
        import numpy

        select = (
            "SELECT text.row, text.key, e.value FROM passage AS text LEFT JOIN embedding AS e"
            " ON e.space = text.space AND e.model = %(model)s AND e.key = text.key"
            " WHERE text.space = %(space)s AND text.row = ANY(%(rows)s) ORDER BY text.row, text.n"
        )
        found = self._read(select, {**self._at, "rows": list(rows)})
        values = []
        for _, key, value in found:
            if value is not None:
                values.append(numpy.frombuffer(value, ">f2", offset=_HALF_HEADER).astype(numpy.int8).tobytes())
            elif key in self.made:
                values.append(self.made[key])
            else:
                return None
        vectors = numpy.frombuffer(b"".join(values), numpy.int8)
        return numpy.array([row for row, *_ in found], numpy.int64), vectors.reshape(len(found), self._dimensions)

    def _dot(self, question: str) -> str:
        """The dot product of a vector with a question: a sum of whole numbers that is exact in every part."""
        if self._dimensions <= _MOST_EXACT:
            return f"-(e.value <#> %({question})s::halfvec)"
        parts = [
            (start + 1, min(_MOST_EXACT, self._dimensions - start)) for start in range(0, self._dimensions, _MOST_EXACT)
        ]
        return " + ".join(
            f"-(subvector(e.value, {first}, {size})::halfvec <#> subvector(%({question})s::halfvec, {first}, {size})::halfvec)"
            for first, size in parts
        )


def keep(connection: Connection, space: str, model: str, vectors: Mapping[bytes, bytes]) -> None:
    """Keeps the vectors of texts by their keys, for those that the space still has."""
    values = [(key, square_of(vector), _written(vector)) for key, vector in sorted(vectors.items())]
    for start in range(0, len(values), _AT_ONCE):
        keys, squares, written = zip(*values[start : start + _AT_ONCE], strict=True)
        given = (space, model, list(keys), list(squares), list(written), space, space)
        connection.execute(_KEEP.encode(), given)


def build_index(connection: Connection, model: str, dimensions: int) -> None:
    """Builds what finds the nearest vectors of the model without looking at all, unless it is there; takes minutes for a
    million of them, and keeps nobody from writing."""
    if dimensions > _MOST_INDEXED:
        return
    name = f"embedding_{blake2b(model.encode(), digest_size=6).hexdigest()}"
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    found = connection.execute(valid, (name,)).fetchone()
    if found is not None and found[0]:
        return
    (wait,) = connection.execute("SELECT current_setting('lock_timeout')").fetchone() or ("0",)
    connection.execute("SET lock_timeout = 0")  # it waits for readers that began before it
    if found is not None:  # what an interrupted build left
        connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}".encode())
    with unhurried(connection):
        connection.execute(
            f"CREATE INDEX CONCURRENTLY {name} ON embedding"
            f" USING hnsw ((value::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = {_literal(model)}".encode()
        )
    connection.execute("SELECT set_config('lock_timeout', %s, false)", (wait,))


def _literal(text: str) -> str:
    """A text as SQL has it: an index for one model is found only where the statement names the model."""
    from psycopg import sql

    return sql.Literal(text).as_string()


def _written(vector: bytes) -> str:
    """The vector as the server reads it."""
    return f"[{','.join([str(b - 256 if b > 127 else b) for b in vector])}]"


EXACT = 20_000
"""Up to so many passages, every one is measured; of more, the nearest by an index of the server, and those of candidates."""
_FILTERED = 4
"""So many times more of the nearest are looked at where a filter hides some."""


class ServerMeaning(Meaning):
    """The vectors of a space whose index is on a server."""

    _tables: ServerTables

    def __init__(
        self, tables: ServerTables, embedder: Embedder, vectors: VectorFile, progress: Progress | None
    ) -> None:
        super().__init__(tables, embedder, vectors, progress)
        self._stored = ServerVectors(tables.read_rows, tables.space, embedder.model, embedder.dimensions)
        self._passages = tables.totals.passages

    def cosines(
        self,
        texts: Sequence[str],
        among: RowSet | None = None,
        first: Places = (),
        goes_on: Callable[[], bool] = lambda: True,
    ) -> list[Nearness]:
        if not texts:
            return []
        if self._passages <= EXACT:
            questions = self._questions(texts)
            found, missing = self.measure(questions, None)
            return self.measure(questions, None)[0] if self._embed_few(missing, first, goes_on) else found
        missing = self._stored.missing()
        if self._embed_few(missing, first, goes_on):
            missing = self._stored.missing()
        questions = self._questions(texts)
        if among is not None and among.only is not None and len(among.only) <= EXACT:
            rows = set(among.only)
        else:  # the nearest to any of the questions, and those whose vectors were just computed
            is_filtered = among is not None and (among.only is not None or bool(among.hidden))
            count = NEAREST * (_FILTERED if is_filtered else 1)
            rows = {row for question in questions for row in self._stored.nearest(question, count)}
            rows |= set(self._stored.rows_of(list(self._stored.made)))
        return self._extended(questions, len(missing), rows)

    def resumed(self, texts: Sequence[str], found: list[Nearness]) -> list[Nearness]:
        return self._extended(self._questions(texts), found[0].missing, found[0].rows.tolist())

    def means(self, rows: Collection[int]) -> tuple[Any, Any] | None:
        import numpy

        self._embed_few(self._stored.missing())
        found = self._stored.values(rows)
        if found is None:
            return None
        known, values = found
        own, starts = numpy.unique(known, return_index=True)
        return own, mean_directions(starts, len(known), lambda part: values[part])

    def complete(self, goes_on: Callable[[], bool]) -> None:
        tables = self._tables
        if self._embed_all(self._stored.missing(), goes_on):
            ((row,),) = tables.select("SELECT coalesce(max(row), 0) FROM memory")
            with tables.server.connected("keep vectors") as connection:
                connection.execute(EMBEDDED, (tables.space, self._embedder.model, row))
        tables.snapshot.close()  # to build an index waits for every snapshot; it opens again when it is read
        if self._passages > EXACT:
            # Without the right to build it, questions are answered more slowly.
            with suppress(RefusedError), tables.server.connected("build an index of vectors") as connection:
                build_index(connection, self._embedder.model, self._embedder.dimensions)

    def measure(
        self, questions: Sequence[bytes], rows: Collection[int] | None
    ) -> tuple[list[Nearness], frozenset[bytes]]:
        """The nearness of these rows, or of all, and the keys of those texts that have no vector."""
        passages, cosines, missing, unknown = self._stored.measure("passage", questions, rows)
        turns, of_turns, untold, _ = self._stored.measure("turn", questions, rows)
        scaled = self._on_scale(cosines), turns, self._on_scale(of_turns)
        return of_passages(first_of(passages), *scaled, unknown), missing | untold

    def _keep(self, vectors: Mapping[bytes, bytes]) -> None:
        self._stored.made |= vectors
        with suppress(MemcliError), self._tables.server.connected("keep vectors") as connection:
            keep(connection, self._tables.space, self._embedder.model, vectors)  # a reader may not

    def _extended(self, questions: Sequence[bytes], missing: int, rows: Collection[int]) -> list[Nearness]:
        """The nearness to each question of some rows of a very large space; more are measured when they are asked for."""
        known: set[int] = set()
        found: list[Nearness] = []

        def including(n: int, more: Collection[int]) -> Nearness:
            if not found or not known.issuperset(more):
                known.update(more)
                measured, _ = self.measure(questions, sorted(known))
                found[:] = [
                    Nearness(one.rows, one.best, one.first, one.cosines, missing, self._passages, partial(including, n))
                    for n, one in enumerate(measured)
                ]
            return found[n]

        including(0, rows)
        return found
