"""The trash of a server: memories removed from its spaces, one row a run."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count

from psycopg import Connection, Cursor

from memcli.codec.run import decode_run, encode_run, run_bytes
from memcli.codec.space import memory_digest
from memcli.errors import MemcliError
from memcli.extras.postgres import audit
from memcli.extras.postgres.server import Server
from memcli.extras.postgres.writing import check_admin, rewrite
from memcli.model.links import Going, Run
from memcli.model.memory import Memory
from memcli.record import replace
from memcli.store.trash import held_by

_NAMES = "SELECT name FROM trash WHERE space = %s AND name ^@ %s"
_HELD = "SELECT ids FROM trash WHERE space = %s AND ids && %s"
_PUT = "INSERT INTO trash (space, name, ids, body) VALUES (%s, %s, %s, %s)"
_PUT_STATE = f"{_PUT} ON CONFLICT (space, name) DO UPDATE SET ids = excluded.ids, body = excluded.body"
_SET = "UPDATE trash SET ids = %s, body = %s WHERE space = %s AND name = %s"


def keep(connection: Connection, going: Going, at: str, command: str) -> str:
    """Stores removed memories as a run, in the transaction that removes them; returns the name of the run."""
    replaced = {memory.id: memory_digest(memory) for memory in going.replacing}
    name, data = encode_run(at, command, going.trashed, going.severed, replaced)
    taken = {row[0] for row in connection.execute(_NAMES, [going.trashed.name, name])}
    name = next(free for n in count(1) if (free := f"{name}-{n}" if n > 1 else name) not in taken)
    connection.execute(_PUT, [going.trashed.name, name, [m.id for m in going.trashed.objects], data])
    return name


def erase(connection: Connection, space: str, hashes: Mapping[str, str]) -> list[Memory]:
    """Deletes memories of these ids, or with a text of one of these hashes, from every run of the space, and returns them."""
    erased: list[Memory] = []
    for name, body in connection.execute("SELECT name, body FROM trash WHERE space = %s", [space]).fetchall():
        run = decode_run(name, body, f"run {name}")
        found = held_by(run, hashes)
        if found:
            _drop(connection, run, {memory.id for memory in found})
            erased += found
    return erased


class ServerTrash:
    """The trash of the spaces on a server. See `ports.Trash` for the promises."""

    def __init__(self, server: Server, warn: Callable[[str], None]) -> None:
        self._server = server
        self._warn = warn
        self._ahead: dict[tuple[int, str], Callable[[], dict[str, bool]]] = {}  # of `looking`, by thread and space

    def runs(self, skip: Callable[[str], None] | None = None) -> list[Run]:
        with self._server.connected("read the trash") as connection:
            # A name begins with the second of its run; runs of one second come in the order of their rows.
            rows = connection.execute(
                "SELECT name, body FROM trash ORDER BY left(name, 16) DESC, written DESC"
            ).fetchall()
        found = []
        for name, body in rows:
            try:
                found.append(decode_run(name, body, f"run {name}"))
            except MemcliError as error:
                (skip or self._warn)(f"{error.message} (skipped)")
        return found

    def holds(self, space: str, name: str) -> bool:
        """Whether a run of the space contains the memory of this id."""
        known = self._ahead.get((get_ident(), space))
        if known is not None and name in known():
            return known()[name]
        with self._server.connected("read the trash") as connection:
            return name in _ids(connection.execute(_HELD, [space, [name]]))

    @contextmanager
    def looking(self, connection: Connection, space: str, names: Sequence[str]) -> Iterator[None]:
        """Within the block, in this thread, `holds` answers for these ids from one query on the connection of the write."""
        found = connection.execute(_HELD, [space, list(names)])  # fetched at the first `holds`, to save a round trip
        self._ahead[get_ident(), space] = cache(lambda: dict.fromkeys(names, False) | dict.fromkeys(_ids(found), True))
        try:
            yield
        finally:
            del self._ahead[get_ident(), space]

    def put(self, run: Run) -> None:
        with self._server.connected("write the trash") as connection:
            connection.execute(
                _PUT_STATE, [run.space.name, run.name, [m.id for m in run.space.objects], run_bytes(run)]
            )

    def drop(self, run: Run, ids: Collection[str], *, erase: bool = False) -> None:
        space = run.space.name
        with self._server.connected("write the trash") as connection, connection.transaction():
            if erase:
                check_admin(connection, space)
                audit.erase(connection, space, ids)
            _drop(connection, run, ids)
        if erase:
            rewrite(self._server, space, self._warn)

    def collected(self, space: str) -> str:
        with self._server.connected("read the trash") as connection:
            found = connection.execute("SELECT collected FROM space WHERE space = %s", [space]).fetchone()
        return found[0] if found else ""

    def note_collection(self, space: str, at: str) -> None:
        with self._server.connected("write the trash") as connection:
            connection.execute("UPDATE space SET collected = %s WHERE space = %s", [at, space])


def _drop(connection: Connection, run: Run, ids: Collection[str]) -> None:
    left = tuple(memory for memory in run.space.objects if memory.id not in ids)
    if left:
        body = run_bytes(replace(run, space=replace(run.space, objects=left)))
        connection.execute(_SET, [[m.id for m in left], body, run.space.name, run.name])
    else:
        connection.execute("DELETE FROM trash WHERE space = %s AND name = %s", [run.space.name, run.name])


def _ids(found: Cursor) -> set[str]:
    return {name for (ids,) in found for name in ids}
