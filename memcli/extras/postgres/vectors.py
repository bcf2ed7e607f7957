"""The vectors of texts on the server. Their components are whole numbers, which `halfvec` holds exactly.

Meaning: how near each memory of a space is to a question. The server computes the dot products.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from memcli.digests import blake2b
from memcli.errors import MemcliError, RefusedError
from memcli.extras.postgres.connection import unhurried
from memcli.extras.postgres.snapshot import memories
from memcli.index.documents import window_text
from memcli.index.meaning import first_of, of_passages
from memcli.index.scale import VERSION, Scale, from_bytes, own_spread, to_bytes
from memcli.index.vectors import asked, cosines_by, cosines_of, text_key
from memcli.model.recall import Nearness, RowSet
from memcli.numerics import load
from memcli.record import Record
from memcli.text.passages import embedded_texts, passages

if TYPE_CHECKING:
    from psycopg import Connection

    from memcli.extras.postgres.server import Server
    from memcli.extras.postgres.snapshot import Read
    from memcli.model.memory import Memory
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
_KEEP = """
INSERT INTO embedding (space, model, key, square, value)
SELECT %s, %s, key, square, value::halfvec FROM unnest(%s::bytea[], %s::bigint[], %s::text[]) AS new (key, square, value)
WHERE EXISTS (SELECT FROM passage WHERE passage.space = %s AND passage.key = new.key)
OR EXISTS (SELECT FROM turn WHERE turn.space = %s AND turn.key = new.key)
ON CONFLICT DO NOTHING
"""


class Measured(Record):
    """The cosines of the texts of some rows, [questions, texts], NaN where there is no vector; `missing` keys have none."""

    rows: Any
    cosines: Any
    missing: frozenset[bytes]
    unknown: int


class ServerVectors:
    """The vectors of one space by one model, as a snapshot sees them, and those that were `made` since."""

    def __init__(self, read: Read, space: str, model: str, dimensions: int) -> None:
        self._read = read
        self._at = {"space": space, "model": model}
        self._dimensions = dimensions
        self.made: dict[bytes, bytes] = {}

    def passages(self, questions: Sequence[bytes], rows: Collection[int] | None = None) -> Measured:
        """The cosines of the passages of these rows, or of all, in order."""
        return self._measured("passage", "text.row, text.n", questions, rows)

    def turns(self, questions: Sequence[bytes], rows: Collection[int] | None = None) -> Measured:
        """The cosines of these rows with what was said before them, in order."""
        return self._measured("turn", "text.row", questions, rows)

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
        keys = [key for (key,) in found]
        return self.rows_of(keys)

    def rows_of(self, keys: Sequence[bytes]) -> list[int]:
        """The rows with any of these texts."""
        both = " UNION ".join(
            f"SELECT row FROM {table} WHERE space = %(space)s AND key = ANY(%(keys)s)" for table in ("passage", "turn")
        )
        return [row for (row,) in self._read(f"{both} ORDER BY row", {**self._at, "keys": list(keys)})]

    def count(self, table: str) -> int:
        """How many records a table of texts has."""
        ((count,),) = self._read(f"SELECT count(*) FROM {table} WHERE space = %(space)s", self._at)
        return int(count)

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
        values = [self.made.get(key) if value is None else _bytes(value) for _, key, value in found]
        if any(value is None for value in values):
            return None
        vectors = numpy.frombuffer(b"".join(value for value in values if value), numpy.int8)
        return numpy.array([row for row, *_ in found], numpy.int64), vectors.reshape(len(found), self._dimensions)

    def _measured(self, table: str, order: str, questions: Sequence[bytes], rows: Collection[int] | None) -> Measured:
        import numpy

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
        return Measured(own, cosines, missing, len(new) - len(known))

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
    values = [(key, _square(vector), _written(vector)) for key, vector in sorted(vectors.items())]
    for start in range(0, len(values), _AT_ONCE):
        keys, squares, written = zip(*values[start : start + _AT_ONCE], strict=True)
        given = (space, model, list(keys), list(squares), list(written), space, space)
        connection.execute(_KEEP.encode(), given)


def mark_embedded(connection: Connection, space: str, model: str, row: int) -> None:
    """Notes that every text up to this row has a vector."""
    connection.execute(
        "INSERT INTO embedded AS known VALUES (%s, %s, %s)"
        " ON CONFLICT (space, model) DO UPDATE SET row = greatest(known.row, excluded.row)",
        (space, model, row),
    )


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


def _bytes(value: bytes) -> bytes:
    """The vector that the server sends, as signed bytes."""
    import numpy

    return numpy.frombuffer(value, ">f2", offset=_HALF_HEADER).astype(numpy.int8).tobytes()


def _square(vector: bytes) -> int:
    return sum((b - 256 if b > 127 else b) ** 2 for b in vector)


EXACT = 20_000
"""Up to so many passages, every one is measured; of more, the nearest by an index of the server, and those of candidates."""
_MEANING_AT_ONCE = 512
"""How many vectors a question waits for, about ten seconds; with more to be made it is answered by those that are there."""
_EMBED_BATCH, _EMBED_SLICE = 64, 1024
_FILTERED = 4
"""So many times more of the nearest are looked at where a filter hides some."""
_WORTH = """
SELECT key FROM passage JOIN entry USING (space, row) WHERE space = %s
ORDER BY entry.kind = 'diff', entry.created_at DESC, entry.id, n
"""
_TURNS = """
SELECT earlier.id, later.id FROM turn
JOIN entry AS earlier ON earlier.space = turn.space AND earlier.row = turn.before
JOIN entry AS later ON later.space = turn.space AND later.row = turn.row
WHERE turn.space = %s AND turn.key = ANY(%s) ORDER BY turn.row
"""
_OF_KEYS = (
    "SELECT DISTINCT id FROM passage JOIN entry USING (space, row) WHERE space = %s AND key = ANY(%s) ORDER BY id"
)


class QuestionCache(Protocol):
    """What this machine keeps of a model: the vectors of questions, and the spread of its cosines."""

    def question(self, text: str) -> bytes | None:
        """The vector of a question asked before."""

    def add_questions(self, vectors: Mapping[str, bytes]) -> None:
        """Keeps the vectors of questions."""

    def scale(self, version: int) -> bytes | None:
        """What was kept of how the model spreads its cosines."""

    def keep_scale(self, version: int, data: bytes) -> None:
        """Keeps it."""


class VectorSource(Record):
    """What vectors are made of: `read` reads one version of a `space`, which has so many `passages`."""

    read: Read
    space: str
    passages: int


class ServerMeaning:
    """The vectors of one space, for one embedder."""

    def __init__(
        self, source: VectorSource, server: Server, embedder: Embedder, asked: QuestionCache, progress: Progress | None
    ) -> None:
        load("numpy")
        self._source = source
        self._server = server
        self._embedder = embedder
        self._asked = asked
        self._progress = progress
        self._vectors = ServerVectors(source.read, source.space, embedder.model, embedder.dimensions)
        self._scale: Scale | None = None

    @property
    def passages(self) -> int:
        """How many passages the space has."""
        return self._source.passages

    def cosines(self, texts: Sequence[str], among: RowSet | None = None) -> list[Nearness]:
        """How near each text is to every passage that has a vector, or of very many to the nearest; a few missing ones are
        made first. Raises ProviderError."""
        if not texts:
            return []
        if self._source.passages <= EXACT:
            return self._every(texts)
        missing = self._vectors.missing()
        if 0 < len(missing) <= _MEANING_AT_ONCE:
            self._embed(missing)
            missing = self._vectors.missing()
        questions = self._questions(texts)
        rows = self._near(questions, among)
        return _Extended(self, questions, len(missing)).including(rows)

    def resumed(self, texts: Sequence[str], found: Sequence[Nearness]) -> list[Nearness]:
        """What another reader of the same version has `found` of a very large space, with more of it read here."""
        return _Extended(self, self._questions(texts), found[0].missing).including(found[0].rows.tolist())

    def complete(self, goes_on: Callable[[], bool]) -> None:
        """Makes the vectors that are missing for as long as it `goes_on`, which is asked after every batch. Raises
        ProviderError, StoreError."""
        if not self._embed(self._vectors.missing(), goes_on):
            return
        ((row,),) = self._source.read("SELECT coalesce(max(row), 0) FROM entry WHERE space = %s", (self._source.space,))
        with self._server.connected("keep vectors") as connection:
            mark_embedded(connection, self._source.space, self._embedder.model, row)

    def build_index(self) -> None:
        """Builds the index of the nearest vectors for a very large space. No snapshot may be open in this process: it would
        wait for that. Without the right to build it, questions are answered more slowly. Raises StoreError."""
        if self._source.passages > EXACT:
            with suppress(RefusedError), self._server.connected("build an index of vectors") as connection:
                build_index(connection, self._embedder.model, self._embedder.dimensions)

    def known(self, keys: int) -> int:
        """How many of so many texts have a vector."""
        return keys - len(self._vectors.missing())

    def means(self, rows: Collection[int]) -> tuple[Any, Any] | None:
        """Those of these rows that have passages, in order, and the mean direction of the passages of each; a few missing
        vectors are made first. None when a passage has no vector then. Raises ProviderError."""
        import numpy

        from memcli.index.meaning import mean_directions

        missing = self._vectors.missing()
        if 0 < len(missing) <= _MEANING_AT_ONCE:
            self._embed(missing)
        found = self._vectors.values(rows)
        if found is None:
            return None
        known, values = found
        own, starts = numpy.unique(known, return_index=True)
        return own, mean_directions(starts, len(known), lambda part: values[part])

    def measure(
        self, questions: Sequence[bytes], rows: Collection[int] | None
    ) -> tuple[list[Nearness], frozenset[bytes]]:
        """The nearness of these rows, or of all, and the keys of those texts that have no vector."""
        found, turns = self._vectors.passages(questions, rows), self._vectors.turns(questions, rows)
        nearness = of_passages(
            first_of(found.rows), self._scaled(found), turns.rows, self._scaled(turns), found.unknown
        )
        return nearness, found.missing | turns.missing

    def _every(self, texts: Sequence[str]) -> list[Nearness]:
        questions = self._questions(texts)
        found, missing = self.measure(questions, None)
        if 0 < len(missing) <= _MEANING_AT_ONCE:
            self._embed(missing)
            found, _ = self.measure(questions, None)
        return found

    def _near(self, questions: Sequence[bytes], among: RowSet | None) -> set[int]:
        """The rows that are nearest to any of the questions, and those whose vectors were just made."""
        if among is not None and among.only is not None and len(among.only) <= EXACT:
            return set(among.only)
        is_filtered = among is not None and (among.only is not None or bool(among.hidden))
        count = NEAREST * (_FILTERED if is_filtered else 1)
        rows = {row for question in questions for row in self._vectors.nearest(question, count)}
        return rows | set(self._vectors.rows_of(list(self._vectors.made)))

    def _scaled(self, found: Measured) -> Any:
        return found.cosines if self._embedder.is_calibrated else self._calibration().of(found.cosines)

    def _calibration(self) -> Scale:
        """What lays the cosines of the model on the scale of the floors, found once for each model."""
        if self._scale is None:
            known = self._asked.scale(VERSION)
            own = from_bytes(known) if known else None
            if own is None:
                own = own_spread(self._embedder)
                self._asked.keep_scale(VERSION, to_bytes(own))
            self._scale = Scale(own)
        return self._scale

    def _questions(self, texts: Sequence[str]) -> list[bytes]:
        known = {text: self._asked.question(text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        if new:
            made = dict(zip(new, self._embedder.embed(new, as_questions=True), strict=True))
            self._asked.add_questions(made)
            known |= made
        return [known[text] or b"" for text in texts]

    def _embed(self, missing: frozenset[bytes], goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Makes vectors, in the order in which they are worth most: what was told and documents, then newest changes;
        whether all were made."""
        order = self._by_worth(missing)
        for start in range(0, len(order), _EMBED_BATCH):
            texts = self._texts(order[start : start + _EMBED_BATCH])
            keys = sorted(texts)
            made = dict(zip(keys, self._embedder.embed([texts[key] for key in keys]), strict=True))
            self._vectors.made |= made
            with suppress(MemcliError), self._server.connected("keep vectors") as connection:
                keep(connection, self._source.space, self._embedder.model, made)  # a reader may not
            done = start + len(keys)
            if self._progress:
                self._progress(done, len(order))
            if done < len(order) and not goes_on():
                return False
        return True

    def _by_worth(self, missing: frozenset[bytes]) -> list[bytes]:
        if len(missing) <= _EMBED_BATCH:
            return sorted(missing)
        found = [key for (key,) in self._source.read(_WORTH, (self._source.space,)) if key in missing]
        return list(dict.fromkeys([*found, *sorted(missing)]))

    def _texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        wanted, at = frozenset(keys), (self._source.space, list(keys))
        texts: dict[bytes, str] = {}
        for memory in self._fetch([name for (name,) in self._source.read(_OF_KEYS, at)]).values():
            made = embedded_texts(memory, passages(memory))
            texts.update((key, text) for text in made if (key := text_key(text)) in wanted)
        pairs = self._source.read(_TURNS, at)
        by_id = self._fetch(sorted({name for pair in pairs for name in pair}))
        for before, name in pairs:
            text = window_text(by_id[before].raw, by_id[name].raw)
            texts[text_key(text)] = text
        return texts

    def _fetch(self, ids: Sequence[str]) -> dict[str, Memory]:
        return memories(self._source.read, self._source.space, ids) if ids else {}


class _Extended:
    """The nearness of some rows of a very large space to several questions; more rows are measured when they are asked for."""

    def __init__(self, meaning: ServerMeaning, questions: Sequence[bytes], missing: int) -> None:
        self._meaning = meaning
        self._questions = questions
        self._missing = missing
        self._rows: set[int] = set()
        self._found: list[Nearness] = []

    def including(self, rows: Collection[int]) -> list[Nearness]:
        """The nearness to each question, with these rows among those that are known."""
        if not self._found or not self._rows.issuperset(rows):
            self._rows.update(rows)
            found, _ = self._meaning.measure(self._questions, sorted(self._rows))
            total = self._meaning.passages
            self._found = [
                Nearness(one.rows, one.best, one.first, one.cosines, self._missing, total, self._more(n))
                for n, one in enumerate(found)
            ]
        return self._found

    def _more(self, n: int) -> Any:
        return lambda rows: self.including(rows)[n]
