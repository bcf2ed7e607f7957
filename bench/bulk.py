"""Fills a space on a PostgreSQL server with COPY: memories made up as in objects.py, their index, and a vector for each passage.

Up to TEXTS memories have texts of their own. Beyond that the server multiplies them: each copy has its own id, path, time,
path term and vector, so that sizes, frequencies and the number of vectors are those of a space of that size.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy
import psycopg
from objects import objects

from memcli.codec.space import encode_memory
from memcli.extras.postgres import indexing
from memcli.extras.postgres.totals import Tally, add, total
from memcli.extras.postgres.vectors import EMBEDDED, build_index
from memcli.model.memory import Memory

TEXTS = 20_000
SPACE = "main"
_BATCH = 2000
_REAL, _NOISE = 64, 8
_DIMENSIONS = 384
_SECONDARY = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexdef !~ 'UNIQUE'"
_COPIED: Mapping[str, Mapping[str, str]] = {
    "memory": {
        "id": "id || '-' || k", "path": "path || '-' || k", "hash": "hash || k",
        "body": "convert_to(replace(convert_from(body, 'UTF8'), '\"' || id || '\"', '\"' || id || '-' || k || '\"'), 'UTF8')",
    },
    "entry": {"id": "id || '-' || k", "path": "path || '-' || k", "grp": "grp || '-' || k"},
    "field": {"path": "path || '-' || k"},
    "term": {"lexemes": "lexemes || (row::text || '-' || k)", "weights": "weights || 8::smallint"},
    "passage": {"key": "decode(md5(key || convert_to(k::text, 'UTF8')), 'hex')"},
}  # fmt: skip


def load(connection: psycopg.Connection[Any], size: int, model: str, real: Sequence[bytes]) -> dict[str, float]:
    """Fills an empty schema; how many seconds each part took."""
    own = min(size, TEXTS)
    times: dict[str, float] = {}
    connection.execute("SET maintenance_work_mem = '2GB'")
    connection.execute("SET synchronous_commit = off")
    with _timed(times, "memories and index"), connection.transaction():
        secondary = connection.execute(_SECONDARY).fetchall()
        for name, _ in secondary:
            connection.execute(f"DROP INDEX {name}".encode())
        _load_texts(connection, own)
        _multiply(connection, own, size // own - 1)
        header = b'{\n  "format": "memcli/space",\n  "objects": [],\n  "space": "main",\n  "version": 1\n}\n'
        select = "SELECT %s, 1, %s, count(*), sum(length(body)) FROM memory"
        connection.execute(f"INSERT INTO space (space, version, header, objects, bytes) {select}", (SPACE, header))
        connection.execute("SELECT setval('entry_row', max(row)) FROM entry")
        for _, definition in secondary:
            connection.execute(definition.encode())
    with _timed(times, "vectors"):
        _load_vectors(connection, model, real)
    with _timed(times, "HNSW"):
        build_index(connection, model, _DIMENSIONS)
    with _timed(times, "ANALYZE"):
        connection.execute("VACUUM ANALYZE")
    return times


@contextmanager
def _timed(times: dict[str, float], name: str) -> Iterator[None]:
    """Notes how long what it surrounds takes."""
    start = time.perf_counter()
    yield
    times[name] = time.perf_counter() - start
    print(f"  {name}: {times[name]:.1f} s", flush=True)


def memories(count: int) -> Iterator[Memory]:
    """The memories of objects.py as values."""
    for item in objects(count):
        yield Memory(**{**item, "tags": tuple(item["tags"]), "updated_at": item["created_at"]})  # type: ignore[arg-type, dict-item]


def _load_texts(connection: psycopg.Connection[Any], count: int) -> None:
    every = memories(count)
    row = 0
    tallies: list[tuple[Tally, int]] = []
    with connection.cursor() as cursor:
        while some := list(islice(every, _BATCH)):
            found: dict[str, list[Mapping[str, Any]]] = {}
            for memory in some:
                row += 1
                own, tally = indexing.records(SPACE, memory, row, tells=True)
                tallies.append((tally, 1))
                for table, ones in own.items():
                    found.setdefault(table, []).extend(ones)
            found["memory"] = [
                {
                    "space": SPACE,
                    "id": m.id,
                    "path": m.path,
                    "hash": m.id,
                    "updated_at": m.updated_at,
                    "body": encode_memory(m),
                }
                for m in some
            ]
            for table, ones in found.items():
                _put(cursor, table, ones)
            tallies = [(total(tallies), 1)]
    add(connection, SPACE, indexing.VERSION, tallies[0][0], connection.execute(indexing.PENDING, (SPACE,)))


def _put(cursor: psycopg.Cursor[Any], table: str, ones: Iterable[Mapping[str, Any]]) -> None:
    values = [list(one.values()) for one in ones]
    if values:
        names = ", ".join(next(iter(ones)))
        with cursor.copy(f"COPY {table} ({names}) FROM STDIN".encode()) as copy:
            for one in values:
                copy.write_row(one)


def _multiply(connection: psycopg.Connection[Any], count: int, copies: int) -> None:
    """Adds so many copies of the `count` rows, and counts them in the sums: in all of them a term stands as often as in the
    first, and each has a term of its own."""
    if copies <= 0:
        return
    columns = (
        "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = %s"
    )
    for table, changed in _COPIED.items():
        names = [name for (name,) in connection.execute(columns, (table,))]
        if table == "memory":  # numbers its rows itself
            names.remove("row")
        own = {"row": f"row + k * {count}", **changed}
        values = ", ".join(own.get(name, name) for name in names)
        select = f"SELECT {values} FROM {table}, generate_series(1, {copies}) AS k"
        connection.execute(f"INSERT INTO {table} ({', '.join(names)}) {select}".encode())
    connection.execute(f"UPDATE frequency SET memories = memories * {copies + 1}".encode())
    last = "lexemes[cardinality(lexemes)]"
    connection.execute(f"INSERT INTO frequency SELECT space, {last}, 1 FROM term WHERE row > {count}".encode())
    for table in ("total", "pending"):
        names = ("memories", "tokens", "path", "tags", "summary", "raw", "content", "passages", "terms")
        sums = ", ".join(f"{name} = {name} * {copies + 1}" for name in names)
        connection.execute(f"UPDATE {table} SET {sums}".encode())


def _load_vectors(connection: psycopg.Connection[Any], model: str, real: Sequence[bytes]) -> None:
    """A vector for each key: that of one of a few real texts, with noise on it."""
    base = numpy.array([numpy.frombuffer(vector, numpy.int8) for vector in real], numpy.int16)
    keys = [bytes(key) for (key,) in connection.execute("SELECT DISTINCT key FROM passage ORDER BY key")]
    with connection.cursor() as cursor, cursor.copy(b"COPY embedding FROM STDIN (FORMAT binary)") as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        for start in range(0, len(keys), _BATCH):
            some = keys[start : start + _BATCH]
            noise = numpy.frombuffer(hashlib.shake_256(some[0]).digest(len(some) * _DIMENSIONS), numpy.uint8)
            near = base[[key[0] % _REAL for key in some]]
            values = near + noise.reshape(len(some), -1).astype(numpy.int16) % (2 * _NOISE + 1) - _NOISE
            values = numpy.clip(values, -127, 127)
            squares = (values.astype(numpy.int64) ** 2).sum(axis=1)
            copy.write(b"".join(_record(model, *one) for one in zip(some, squares.tolist(), values, strict=True)))
        copy.write(b"\xff\xff")
    connection.execute("ANALYZE embedding")
    connection.execute(EMBEDDED, (SPACE, model, 1 << 60))


def _record(model: str, key: bytes, square: int, value: Any) -> bytes:
    halves = len(value).to_bytes(2, "big") + b"\0\0" + value.astype(">f2").tobytes()
    fields = (SPACE.encode(), model.encode(), key, square.to_bytes(8, "big"), halves)
    return b"\0\5" + b"".join(len(one).to_bytes(4, "big") + one for one in fields)


def sizes(connection: psycopg.Connection[Any]) -> list[tuple[str, int]]:
    """The bytes of each table and index of the schema, largest first."""
    select = (
        "SELECT relname, pg_relation_size(pg_class.oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0) AS bytes"
        " FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'i') ORDER BY bytes DESC"
    )
    return connection.execute(select).fetchall()
