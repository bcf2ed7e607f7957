"""The trash of a server: what was removed from its spaces, one row a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count

from psycopg import Connection

from memcli.codec.canonical import encode
from memcli.codec.run import decode_run, encode_run
from memcli.codec.space import memory_digest
from memcli.errors import MemcliError
from memcli.model.memory import Memory
from memcli.model.removal import Going, Run
from memcli.postgres.server import Server
from memcli.record import replace

_NAMES = "SELECT name FROM trash WHERE space = %s AND name ^@ %s"
_PUT = "INSERT INTO trash (space, name, body) VALUES (%s, %s, %s)"
_SET = "UPDATE trash SET body = %s WHERE space = %s AND name = %s"


def keep(connection: Connection, going: Going, at: str, command: str) -> str:
    """Keeps what goes, in the transaction of the write that removes it; returns the name of the run."""
    replaced = {memory.id: memory_digest(memory) for memory in going.replacing}
    name, data = encode_run(at, command, going.kept, going.severed, replaced)
    taken = {row[0] for row in connection.execute(_NAMES, [going.kept.name, name])}
    name = next(free for n in count(1) if (free := f"{name}-{n}" if n > 1 else name) not in taken)
    connection.execute(_PUT, [going.kept.name, name, data])
    return name


def erase(connection: Connection, space: str, hashes: Mapping[str, str]) -> list[Memory]:
    """Takes memories of these ids, or with a text of one of these hashes, out of every run of the space, for good."""
    texts = set(hashes.values()) - {""}
    erased: list[Memory] = []
    for name, body in connection.execute("SELECT name, body FROM trash WHERE space = %s", [space]).fetchall():
        run = decode_run(name, body, f"run {name}")
        found = [m for m in run.space.objects if m.id in hashes or m.hash in texts]
        if found:
            _drop(connection, run, {memory.id for memory in found})
            erased += found
    return erased


class ServerTrash:
    """The trash of the spaces on a server. See `ports.Trash` for the promises."""

    def __init__(self, server: Server, warn: Callable[[str], None]) -> None:
        self._server = server
        self._warn = warn

    def runs(self, skip: Callable[[str], None] | None = None) -> list[Run]:
        with self._server.connected("read the trash") as connection:
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
        """Whether a run of the space holds the memory of this id."""
        wanted = b'"id": ' + encode(name)
        with self._server.connected("read the trash") as connection:
            rows = connection.execute(
                "SELECT name, body FROM trash WHERE space = %s AND position(%s::bytea IN body) > 0", [space, wanted]
            ).fetchall()
        return any(decode_run(run, body, f"run {run}").space.contains(name) for run, body in rows)

    def put(self, run: Run) -> None:
        with self._server.connected("write the trash") as connection:
            connection.execute(_SET, [_encoded(run), run.space.name, run.name])

    def drop(self, run: Run, ids: Collection[str]) -> None:
        with self._server.connected("write the trash") as connection:
            _drop(connection, run, ids)

    def find(self, space: str, hashes: Mapping[str, str]) -> list[Memory]:
        """What the runs of the space have of one of these ids, or with a text of one of these hashes."""
        texts = set(hashes.values()) - {""}
        runs = (run for run in self.runs() if run.space.name == space)
        return [m for run in runs for m in run.space.objects if m.id in hashes or m.hash in texts]

    def collected(self, space: str) -> str:
        with self._server.connected("read the trash") as connection:
            found = connection.execute("SELECT collected FROM space WHERE space = %s", [space]).fetchone()
        return found[0] if found else ""

    def note_collection(self, space: str, at: str) -> None:
        with self._server.connected("write the trash") as connection:
            connection.execute("UPDATE space SET collected = %s WHERE space = %s", [at, space])


def _drop(connection: Connection, run: Run, ids: Collection[str]) -> None:
    left = tuple(memory for memory in run.space.objects if memory.id not in ids)
    place: Sequence[str] = [run.space.name, run.name]
    if left:
        connection.execute(_SET, [_encoded(replace(run, space=replace(run.space, objects=left))), *place])
    else:
        connection.execute("DELETE FROM trash WHERE space = %s AND name = %s", place)


def _encoded(run: Run) -> bytes:
    return encode_run(run.removed_at, run.command, run.space, run.severed, run.replaced)[1]
