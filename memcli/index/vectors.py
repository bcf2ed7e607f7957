"""Vectors on disk: for each model one flat file of records, and a table of the slot of each text's vector in it.

Records are only appended, so that a reader's view stays valid while another process writes. A vector is found by the digest
of its text: a rename, a pull or a merge needs no embedding.
"""

from __future__ import annotations

import math
import os
from _thread import allocate_lock
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from memcli import sqlite
from memcli.beneath import make, open_file, own_file
from memcli.digests import blake2b
from memcli.errors import OutdatedError
from memcli.index.database import IN_MEMORY, check_tables, identity, open_database, remove, select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEY_BYTES = 16
HEADER_BYTES = 8  # the squared norm, as a little-endian whole number
_MOST_EXACT = (1 << 24) // 127**2
"""The most dimensions for which the dot product of two vectors is below 2^24, and so exact in float32."""


class Numbers:
    """Records as arrays for the computation of cosines; those at `missing`, if given, have the cosine NaN."""

    def __init__(self, records: Any, missing: Any = None) -> None:
        import numpy

        self._missing = missing

        squares = numpy.ascontiguousarray(records[:, :HEADER_BYTES]).view("<i8").ravel()
        self._squares = squares.astype(numpy.float64)
        self._values = records[:, HEADER_BYTES:].view(numpy.int8).astype(_exact(records.shape[1] - HEADER_BYTES))

    def cosines(self, questions: Any) -> Any:
        """The cosine of each question, as `as_numbers` returns them, with each record: float64 [questions, records]."""
        import numpy

        # Sums of whole numbers below 2^24 are exact in any order, so every CPU has the same result. One question at a time:
        # there are two or three, and for these a product of two matrices takes three times as long.
        dots = numpy.stack([self._values @ question for question in questions])
        found = cosines_by(dots, self._squares, questions)
        if self._missing is not None:
            found[:, self._missing] = math.nan
        return found


def cosines_by(dots: Any, squares: Any, questions: Any) -> Any:
    """The cosines, given the dot products [questions, passages] and the squared norms of the passages."""
    import numpy

    norms = numpy.sqrt(squares * (questions * questions).sum(axis=1, dtype=numpy.float64)[:, None])
    return dots.astype(numpy.float64) / numpy.maximum(norms, 1.0)


def cosines_of(questions: Sequence[bytes], passages: Sequence[bytes]) -> Any:
    """The cosine of each question with each passage: float64 [len(questions), len(passages)]."""
    import numpy

    records = numpy.frombuffer(b"".join(map(record, passages)), numpy.uint8).reshape(len(passages), -1)
    return Numbers(records).cosines(as_numbers(questions))


def as_numbers(questions: Sequence[bytes]) -> Any:
    """The vectors of questions as floats [questions, dimensions]."""
    import numpy

    values = numpy.frombuffer(b"".join(questions), numpy.int8).reshape(len(questions), -1)
    return values.astype(_exact(values.shape[1]))


def _exact(dimensions: int) -> Any:
    """The smallest float type in which the dot product of two vectors is exact."""
    import numpy

    return numpy.float32 if dimensions <= _MOST_EXACT else numpy.float64


def square_of(vector: bytes) -> int:
    """The squared norm of a vector of signed bytes."""
    return sum((b - 256 if b > 127 else b) ** 2 for b in vector)


def record(vector: bytes) -> bytes:
    """The record of a vector: its header and the vector."""
    return square_of(vector).to_bytes(HEADER_BYTES, "little") + vector


TABLES = (
    "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, slot INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS birth (token TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS asked (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS scale (version INTEGER PRIMARY KEY, data BLOB NOT NULL)",
)
_NUMBERS_AT_ONCE = 8192 * 384  # bounds the memory of a scan
_MOST_LOADED = 50_000 * 384  # 80 MB of numbers


class VectorsLostError(Exception):
    """The file of vectors was removed or truncated while this process uses it."""


def text_key(text: str) -> bytes:
    """The key of the vector of `text`: its digest."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


class VectorFile:
    """The vectors of one model in `folder`, or in memory if `folder` is None."""

    def __init__(self, folder: str | None, model: str, dimensions: int) -> None:
        self._dimensions = dimensions
        self._record = HEADER_BYTES + dimensions
        self._memory = bytearray()
        self._map: Any = None
        self.is_lost = False
        self.lock = allocate_lock()
        self.path = os.path.join(folder, f"{model}.vectors") if folder else None
        places = os.path.join(folder, f"{model}.places") if folder else IN_MEMORY
        self._places = _connect(places)
        self._places_are = identity(places)
        # The size of a record, by which an eraser finds the place of a vector without knowing the model.
        if self._places.execute("PRAGMA user_version").fetchone()[0] != self._record:
            self._places.execute(f"PRAGMA user_version = {self._record}")
        size = 0
        with suppress(FileNotFoundError):
            size = os.stat(self.path or "").st_size
        if self.path and self.count() * self._record > size:
            # The flat file was lost or truncated, so the slots in the table are invalid.
            self._places.execute("DELETE FROM vector")
            self._places.execute("DELETE FROM birth")
        self.token = self._birth()

    def _birth(self) -> str:
        """A random token of the file, as slots are meaningless in another file."""
        self._places.execute(
            "INSERT INTO birth SELECT ? WHERE NOT EXISTS (SELECT 1 FROM birth)", (os.urandom(8).hex(),)
        )
        return str(self._places.execute("SELECT token FROM birth").fetchone()[0])

    def slots(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """The slots of the vectors of these keys; keys without a vector are left out."""
        return dict(select(self._places, "SELECT key, slot FROM vector WHERE key IN ?", list(keys)))

    def add(self, vectors: Mapping[bytes, bytes], is_outdated: Callable[[], bool] = lambda: False) -> None:
        """Adds the vectors of these keys. Raises VectorsLostError if the files were removed, OutdatedError if memories were
        erased after their texts were read; `is_outdated` checks that within the transaction, which an eraser waits for."""
        self._places.execute("BEGIN IMMEDIATE")
        try:
            if self.path and self._places_are != identity(f"{self.path.removesuffix('.vectors')}.places"):
                raise VectorsLostError  # another table replaced this one, and the flat file belongs to it
            # Texts are read long before their vectors are written: those of memories purged meanwhile must not come back.
            if self.path and is_outdated():
                raise OutdatedError("memories were erased while vectors were computed", "run the command again")
            known = self.slots(list(vectors))
            new = [(key, value) for key, value in vectors.items() if key not in known]
            slot = self.count()
            # Records are written before the table commits, so that no slot lies behind the end of the file.
            self._write(slot, b"".join(record(value) for _, value in new))
            self._places.executemany(
                "INSERT INTO vector VALUES (?, ?)", [(k, slot + n) for n, (k, _) in enumerate(new)]
            )
            self._places.execute("COMMIT")
        except BaseException:
            self._places.execute("ROLLBACK")
            raise

    def question(self, text: str) -> bytes | None:
        """The cached vector of a question; None if there is none."""
        row = self._places.execute("SELECT value FROM asked WHERE key = ?", (text_key(text),)).fetchone()
        return row[0] if row and len(row[0]) == self._dimensions else None

    def add_questions(self, vectors: Mapping[str, bytes]) -> None:
        """Caches the vectors of questions by the digests of their texts: no word of a question is stored."""
        rows = [(text_key(text), value) for text, value in vectors.items()]
        self._places.executemany("INSERT OR REPLACE INTO asked VALUES (?, ?)", rows)

    def scale(self, version: int) -> bytes | None:
        """The stored quantiles of the model's cosines, for a version of `scale.py`; None if there are none."""
        row = self._places.execute("SELECT data FROM scale WHERE version = ?", (version,)).fetchone()
        return row[0] if row else None

    def keep_scale(self, version: int, data: bytes) -> None:
        """Stores the quantiles for a version of `scale.py`."""
        self._places.execute("INSERT OR REPLACE INTO scale VALUES (?, ?)", (version, data))

    def cosines(self, questions: Sequence[bytes], slots: Any) -> Any:
        """The cosine of each question with the vector in each slot, NaN for slot -1, in the order of `slots`: float64
        [len(questions), len(slots)].

        Raises VectorsLostError if the file has no such slot.
        """
        import numpy

        places = numpy.asarray(slots, numpy.int64)
        records = self._records(places)
        if not len(records):
            return numpy.full((len(questions), len(places)), numpy.nan)
        wanted = as_numbers(questions)
        # Every vector is measured: an approximate index pays only from some hundred thousand on.
        found = numpy.empty((len(questions), len(places)), numpy.float64)
        step = max(1, _NUMBERS_AT_ONCE // self._dimensions)
        for start in range(0, len(places), step):
            part = Numbers(records[places[start : start + step]])  # slot -1 is the last one, made NaN below
            found[:, start : start + step] = part.cosines(wanted)
        found[:, places < 0] = numpy.nan
        return found

    def load(self, slots: Any) -> Numbers | None:
        """The vectors in these slots as arrays, for many questions; None if they take too much memory.

        Raises VectorsLostError if the file has no such slot.
        """
        import numpy

        places = numpy.asarray(slots, numpy.int64)
        records = self._records(places)
        if not len(records) or len(places) * self._dimensions > _MOST_LOADED:
            return None
        return Numbers(records[places], places < 0)

    def values(self, slots: Any) -> Any:
        """The vectors in these slots: int8 [len(slots), dimensions]. Raises VectorsLostError if the file has no such slot."""
        import numpy

        return self._records(slots)[slots, HEADER_BYTES:].view(numpy.int8)

    def _records(self, places: Any) -> Any:
        """All records of the file, uint8 [records, bytes], at least up to the largest slot in `places`; the file is mapped again
        if it has grown. Raises VectorsLostError."""
        import numpy

        least = (int(places.max()) + 1) * self._record if len(places) else 0
        if not least:  # there may be no file yet
            return numpy.empty((0, self._record), numpy.uint8)
        if self.path is None:
            data: Any = numpy.frombuffer(bytes(self._memory), numpy.uint8)
        else:
            if self._map is None or len(self._map) < least:
                try:
                    with os.fdopen(open_file(self.path, os.O_RDONLY), "rb") as file:
                        self._map = numpy.memmap(file, numpy.uint8, "r")
                except (OSError, ValueError):  # gone, or empty
                    raise VectorsLostError from None
            data = self._map
        if len(data) < least:
            raise VectorsLostError
        return data[: len(data) // self._record * self._record].reshape(-1, self._record)

    def close(self) -> None:
        """Closes the files."""
        self._places.close()
        self._map = None

    def go_on_in_memory(self) -> None:
        """Closes the removed files, and continues with no vectors in memory."""
        self.path, self._map, self._memory = None, None, bytearray()
        self.is_lost = True
        self._places.close()
        self._places = _connect(IN_MEMORY)
        self.token = self._birth()

    def count(self) -> int:
        """The number of records of the file."""
        row = self._places.execute("SELECT max(slot) FROM vector").fetchone()
        return 0 if row[0] is None else int(row[0]) + 1

    def _write(self, slot: int, data: bytes) -> None:
        if self.path is None:
            self._memory += data
            return
        own_file(self.path)
        fd = open_file(self.path, os.O_RDWR | os.O_CREAT)
        try:
            if os.fstat(fd).st_size < slot * self._record:
                raise VectorsLostError
            os.ftruncate(fd, slot * self._record)  # removes the incomplete records of a killed writer
            rest = memoryview(data)
            os.lseek(fd, 0, os.SEEK_END)
            while rest:
                rest = rest[os.write(fd, rest) :]
        finally:
            os.close(fd)


def _connect(path: str) -> sqlite.Connection:
    for attempt in (1, 2):
        if path != IN_MEMORY:
            own_file(path)
        connection = open_database(path)
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            for statement in TABLES:
                connection.execute(statement)
            check_tables(connection, TABLES)
            return connection
        except sqlite.OperationalError:
            connection.close()
            raise
        except sqlite.DatabaseError:
            connection.close()
            if attempt == 2:
                raise
            remove(path)
    raise AssertionError("unreachable")


class Questions(VectorFile):
    """Vectors of questions, cached in `folder`; in memory if it cannot be written."""

    def __init__(self, folder: str, model: str, dimensions: int) -> None:
        try:
            os.stat(os.path.dirname(os.path.normpath(folder)))  # a store that was moved away must not come back
            with suppress(FileExistsError):
                make(folder, 0o700)
            super().__init__(folder, model, dimensions)
        except (sqlite.Error, OSError):
            super().__init__(None, model, dimensions)

    def question(self, text: str) -> bytes | None:
        with suppress(sqlite.Error):
            return super().question(text)
        return None

    def add_questions(self, vectors: Mapping[str, bytes]) -> None:
        with suppress(sqlite.Error):
            super().add_questions(vectors)

    def scale(self, version: int) -> bytes | None:
        with suppress(sqlite.Error):
            return super().scale(version)
        return None

    def keep_scale(self, version: int, data: bytes) -> None:
        with suppress(sqlite.Error):
            super().keep_scale(version, data)
