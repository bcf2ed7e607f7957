"""A space under its lock, looked up by SQL. What was read stays read: nobody else writes it meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from psycopg import Connection

from memcli.codec.space import decode_space, may_have
from memcli.model.memory import Memory
from memcli.model.references import refers_to
from memcli.model.space import Space
from memcli.postgres.bodies import ORDER, bodies_under, memory_of, space_of, where_of
from memcli.record import replace

_FIND = "SELECT id, updated_at, path, hash, body FROM memory WHERE space = %s AND {} = ANY(%s)"


class ServerShelf:
    """The shelf of a space whose row is locked. See `ports.Shelf` for the promises."""

    def __init__(self, connection: Connection, space: str, header: bytes, size: int) -> None:
        self._connection = connection
        self._space = space
        self._frame = header
        self._where = where_of(space)
        self.header = replace(decode_space(header, self._where), objects=())
        self.size = size
        self._known: dict[str, Memory | None] = {}
        self._lengths: dict[str, int] = {}
        self._paths: dict[str, str | None] = {}
        self._hashes: dict[str, list[str]] = {}

    def get(self, name: str) -> Memory | None:
        if name not in self._known:
            self.prefetch([name])
        return self._known[name]

    def prefetch(self, ids: Iterable[str], paths: Iterable[str] = (), hashes: Iterable[str] = ()) -> None:
        """Reads what will be looked up in one go."""
        names = [name for name in dict.fromkeys(ids) if name not in self._known]
        places = [path for path in dict.fromkeys(paths) if path not in self._paths]
        texts = [digest for digest in dict.fromkeys(hashes) if digest not in self._hashes]
        found = []
        for column, values in (("id", names), ("path", places), ("hash", texts)):
            if values:
                found.append(self._connection.execute(_FIND.format(column), [self._space, values]))
        self._known.update(dict.fromkeys(names))
        self._paths.update(dict.fromkeys(places))
        self._hashes.update((digest, []) for digest in texts)
        rows = {name: row for cursor in found for name, *row in cursor}
        for name, (_, path, digest, body) in sorted(rows.items(), key=lambda row: (row[1][0], row[0])):
            self._take(name, body)
            if path in places:
                self._paths[path] = self._paths[path] or name
            if digest in texts:
                self._hashes[digest].append(name)

    def length(self, name: str) -> int:
        """How many bytes the body of this id has, which was looked up; 0 when it is not there."""
        return self._lengths.get(name, 0)

    def at(self, path: str) -> Memory | None:
        if path not in self._paths:
            self.prefetch((), [path])
        name = self._paths[path]
        return None if name is None else self._known[name]

    def find_by_hash(self, digest: str) -> list[Memory]:
        if digest not in self._hashes:
            self.prefetch((), (), [digest])
        found = (self._known[name] for name in self._hashes[digest])
        return [memory for memory in found if memory is not None]

    def ids_with_prefix(self, text: str) -> list[str]:
        found = self._connection.execute(
            "SELECT id FROM memory WHERE space = %s AND id ^@ %s ORDER BY id", [self._space, text]
        )
        return [name for (name,) in found]

    def under(self, *prefixes: str) -> list[Memory]:
        found = bodies_under(self._connection, self._space, prefixes)
        return sorted((self._take(*row) for row in found), key=lambda m: (m.path, m.id))

    def memories(self, *keys: str) -> Iterator[Memory]:
        found = self._connection.execute(f"SELECT body FROM memory WHERE space = %s {ORDER}", [self._space])
        return (memory_of(body, self._where) for (body,) in found if may_have(body, keys))

    def referring(self, ids: Collection[str]) -> list[Memory]:
        found = (memory for memory in self.memories("links", "superseded_by") if refers_to(memory, ids))
        return sorted(found, key=lambda memory: memory.order)

    def load(self) -> Space:
        found = self._connection.execute(f"SELECT body FROM memory WHERE space = %s {ORDER}", [self._space])
        return space_of(self._frame, (body for (body,) in found), self._space)

    def _take(self, name: str, body: bytes) -> Memory:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = memory_of(body, self._where)
            self._lengths[name] = len(body)
        return known
