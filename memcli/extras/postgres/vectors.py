"""The vectors of texts on a server, and the cosines between them and queries, whose dot products the server computes.

The components are integers of one byte, which `halfvec` stores exactly.
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
from memcli.index.vectors import as_numbers, cosines_by, cosines_of, square_of
from memcli.model.recall import Nearness, RowSet

if TYPE_CHECKING:
    from psycopg import Connection

    from memcli.extras.postgres.snapshot import Read
    from memcli.extras.postgres.tables import ServerTables
    from memcli.index.vectors import VectorFile
    from memcli.ports import Embedder, Progress


# Several of the nearest texts may be passages of one memory.
NEAREST = 400
"""How many of the nearest texts of a very large space are measured for a query."""

# pgvector sums in float32, which has all whole numbers up to 2^24: 1,024 products of two signed bytes stay below that.
_MOST_EXACT = 1024
"""The most dimensions of an exact dot product."""
# pgvector builds HNSW for halfvec of at most so many dimensions.
_MOST_INDEXED = 4000
# In the binary format two 16-bit numbers precede the components: their count, and one that is unused.
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
"""Records that every text of the space up to this row has a vector of the model."""
# A text may have been purged since it was read: then it must not get a vector again.
_KEEP = """
INSERT INTO embedding (space, model, key, square, value)
SELECT %s, %s, key, square, value::halfvec FROM unnest(%s::bytea[], %s::bigint[], %s::text[]) AS new (key, square, value)
WHERE EXISTS (SELECT FROM passage WHERE passage.space = %s AND passage.key = new.key)
OR EXISTS (SELECT FROM turn WHERE turn.space = %s AND turn.key = new.key)
ON CONFLICT DO NOTHING
"""


class ServerVectors:
    """The vectors of one space by one model, as a snapshot sees them, and those that this process `made` since, by text key."""

    def __init__(self, read: Read, space: str, model: str, dimensions: int) -> None:
        self._read = read
        self._at = {"space": space, "model": model}
        self._dimensions = dimensions
        self.made: dict[bytes, bytes] = {}

    def measure(
        self, table: str, questions: Sequence[bytes], rows: Collection[int] | None = None
    ) -> tuple[Any, Any, frozenset[bytes], int]:
        """Measures the texts of `table`, `passage` or `turn` (a message with the one before it), of these rows or of all, in order.

        Returns the row of each text, int64 [texts]; the cosines, float64 [questions, texts], NaN for a text without a vector;
        the keys of texts without one, and the number of such texts."""
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
        cosines = cosines_by(products.T, squares, as_numbers(questions))
        new = [(place, one[2]) for place, one in enumerate(found) if one[2] is not None]
        known = [(place, self.made[key]) for place, key in new if key in self.made]
        if known:
            cosines[:, [place for place, _ in known]] = cosines_of(questions, [vector for _, vector in known])
        missing = frozenset(key for _, key in new) - self.made.keys()
        return own, cosines, missing, len(new) - len(known)

    def nearest(self, question: bytes, count: int) -> list[int]:
        """The rows of the `count` texts that are nearest to the question, by the approximate index of `build_index`."""
        size = self._dimensions
        self._read(
            "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)",
            # The largest value that pgvector takes; an iterative scan goes on until `count` texts are found.
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
        """The keys of all texts without a vector."""
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
        """The rows and vectors of the passages of these rows, in order: int64 [n], int8 [n, dimensions]; None if one of them has
        no vector."""
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
                # The binary format is big-endian.
                values.append(numpy.frombuffer(value, ">f2", offset=_HALF_HEADER).astype(numpy.int8).tobytes())
            elif key in self.made:
                values.append(self.made[key])
            else:
                return None
        vectors = numpy.frombuffer(b"".join(values), numpy.int8)
        return numpy.array([row for row, *_ in found], numpy.int64), vectors.reshape(len(found), self._dimensions)

    def _dot(self, question: str) -> str:
        """The SQL of the dot product with a question, in parts of at most _MOST_EXACT dimensions, so that the sum is exact."""
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
    """Stores the vectors of texts, by text key, if the space still has the texts."""
    values = [(key, square_of(vector), _written(vector)) for key, vector in sorted(vectors.items())]
    for start in range(0, len(values), _AT_ONCE):
        keys, squares, written = zip(*values[start : start + _AT_ONCE], strict=True)
        given = (space, model, list(keys), list(squares), list(written), space, space)
        connection.execute(_KEEP.encode(), given)


def build_index(connection: Connection, model: str, dimensions: int) -> None:
    """Builds the HNSW index of the vectors of a model, unless it exists. That takes minutes for a million vectors and does not
    block writers."""
    if dimensions > _MOST_INDEXED:
        return
    name = f"embedding_{blake2b(model.encode(), digest_size=6).hexdigest()}"
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    found = connection.execute(valid, (name,)).fetchone()
    if found is not None and found[0]:
        return
    (wait,) = connection.execute("SELECT current_setting('lock_timeout')").fetchone() or ("0",)
    connection.execute("SET lock_timeout = 0")  # CREATE INDEX CONCURRENTLY waits for all older transactions
    if found is not None:  # an interrupted build leaves an invalid index
        connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}".encode())
    with unhurried(connection):
        connection.execute(
            f"CREATE INDEX CONCURRENTLY {name} ON embedding"
            f" USING hnsw ((value::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = {_literal(model)}".encode()
        )
    connection.execute("SELECT set_config('lock_timeout', %s, false)", (wait,))


def _literal(text: str) -> str:
    """The SQL literal of a text."""
    from psycopg import sql

    # A partial index (WHERE model = ...) is used only if the statement has the model as a literal, not as a parameter.
    return sql.Literal(text).as_string()


def _written(vector: bytes) -> str:
    """The text form of a vector of signed bytes, as pgvector reads it."""
    return f"[{','.join([str(b - 256 if b > 127 else b) for b in vector])}]"


EXACT = 20_000
"""Up to so many passages, all are measured; of more, the nearest by the index of the server, and those of candidates."""
_FILTERED = 4
"""The factor for NEAREST if a filter hides some memories."""


class ServerMeaning(Meaning):
    """The similarity of the memories of a space on a server to queries. See `index.meaning.Meaning`."""

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
        if self._embed(self._by_worth(self._stored.missing()), goes_on):
            ((row,),) = tables.select("SELECT coalesce(max(row), 0) FROM memory")
            with tables.server.connected("keep vectors") as connection:
                connection.execute(EMBEDDED, (tables.space, self._embedder.model, row))
        tables.snapshot.close()  # building an index waits for every open snapshot; this one is opened again when it is read
        if self._passages > EXACT:
            # A role without the right to build it does without: queries take longer.
            with suppress(RefusedError), tables.server.connected("build an index of vectors") as connection:
                build_index(connection, self._embedder.model, self._embedder.dimensions)

    def measure(
        self, questions: Sequence[bytes], rows: Collection[int] | None
    ) -> tuple[list[Nearness], frozenset[bytes]]:
        """The nearness of these rows, or of all, to each question, and the keys of texts without a vector."""
        passages, cosines, missing, unknown = self._stored.measure("passage", questions, rows)
        turns, of_turns, missing_turns, _ = self._stored.measure("turn", questions, rows)
        scaled = self._on_scale(cosines), turns, self._on_scale(of_turns)
        return of_passages(first_of(passages), *scaled, unknown), missing | missing_turns

    def _keep(self, vectors: Mapping[bytes, bytes]) -> None:
        self._stored.made |= vectors
        with suppress(MemcliError), self._tables.server.connected("keep vectors") as connection:
            keep(connection, self._tables.space, self._embedder.model, vectors)  # a role of readers may not write

    def _extended(self, questions: Sequence[bytes], missing: int, rows: Collection[int]) -> list[Nearness]:
        """The nearness of `rows` of a very large space to each question; other rows are measured when they are requested."""
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
