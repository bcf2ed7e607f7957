"""A space under its lock, looked up by SQL. What was read stays read: nobody else writes it meanwhile."""

from __future__ import annotations

from collections.abc import Iterable

from psycopg import Connection

from memcli.codec.space import decode_space
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.postgres.bodies import ORDER, bodies_under, memory_of, space_of, where_of
from memcli.record import replace


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

    def get(self, name: str) -> Memory | None:
        if name not in self._known:
            self.prefetch([name])
        return self._known[name]

    def prefetch(self, names: Iterable[str]) -> None:
        """Reads the memories of these ids in one go."""
        wanted = [name for name in dict.fromkeys(names) if name not in self._known]
        if not wanted:
            return
        self._known.update(dict.fromkeys(wanted))
        self._select("id = ANY(%s)", wanted)

    def length(self, name: str) -> int:
        """How many bytes the body of this id has, which was looked up; 0 when it is not there."""
        return self._lengths.get(name, 0)

    def at(self, path: str) -> Memory | None:
        return next(iter(self._select("path = %s", path, "LIMIT 1")), None)

    def find_by_hash(self, digest: str) -> list[Memory]:
        return self._select("hash = %s", digest)

    def ids_with_prefix(self, text: str) -> list[str]:
        found = self._connection.execute(
            "SELECT id FROM memory WHERE space = %s AND id ^@ %s ORDER BY id", [self._space, text]
        )
        return [name for (name,) in found]

    def under(self, *prefixes: str) -> list[Memory]:
        found = bodies_under(self._connection, self._space, prefixes)
        return sorted((self._take(*row) for row in found), key=lambda m: (m.path, m.id))

    def load(self) -> Space:
        found = self._connection.execute(f"SELECT body FROM memory WHERE space = %s {ORDER}", [self._space])
        return space_of(self._frame, (body for (body,) in found), self._space)

    def _select(self, condition: str, value: object, limit: str = "") -> list[Memory]:
        found = self._connection.execute(
            f"SELECT id, body FROM memory WHERE space = %s AND {condition} {ORDER} {limit}", [self._space, value]
        )
        return [self._take(*row) for row in found]

    def _take(self, name: str, body: bytes) -> Memory:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = memory_of(body, self._where)
            self._lengths[name] = len(body)
        return known
