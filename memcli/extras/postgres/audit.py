"""The audit log of the spaces on a server: one row a line, each with the hash of the line before, as in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from uuid import UUID

from psycopg import Connection

from memcli.codec.audit import Link, bound, seal, without_paths
from memcli.extras.postgres.mail import BARRIER, new_mark
from memcli.extras.postgres.server import Server
from memcli.model.links import Lineage
from memcli.model.memory import Json
from memcli.model.space import Touched
from memcli.policy.acts import Act
from memcli.record import Record
from memcli.store.audit import Author, record_act

LAST = "SELECT n, hash FROM audit WHERE space = %s ORDER BY n DESC LIMIT 1"
_LINEAGE = "SELECT store::text, coalesce(epoch, 0), coalesce(version, 0) FROM lineage LEFT JOIN space ON space = %s"
_BY_ADMINS = "SELECT n FROM audit WHERE space = %s AND n = ANY(%s) AND level = 'admin'"
# A function of the owner, which checks hash and chain: roles of writers cannot insert into the table themselves.
_APPEND = "SELECT append_audit(%s, %s, %s::bytea[], %s::bytea[])"


def append(connection: Connection, space: str, entries: Sequence[dict[str, Json]], mark: UUID, last: Link) -> None:
    """Appends the lines of `entries` behind `last`, in the transaction of the write of this mark. The space is locked."""
    lines, bounds = [], []
    for entry in entries:
        lines.append(seal(entry, last))
        sealed = json.loads(lines[-1])
        bounds.append(bound(sealed))
        last = Link(last.number + 1, sealed["hash"])
    if lines:
        connection.execute(_APPEND, [space, mark, lines, bounds])


def erase(connection: Connection, space: str, ids: Collection[str]) -> None:
    """Removes the paths of these memories from the log, in the transaction that erases the memories."""
    rows = connection.execute("SELECT n, line FROM audit WHERE space = %s ORDER BY n", [space]).fetchall()
    before = b"\n".join(line for _, line in rows)
    after = without_paths(before, ids).split(b"\n")
    # Hashes cover digests of the paths, so that the chain stays whole; only a function of the owner may change a line.
    changed = [(n, new) for (n, old), new in zip(rows, after, strict=True) if new != old]
    if changed:
        numbers, lines = map(list, zip(*changed, strict=True))
        connection.execute("SELECT hide_paths(%s, %s::bigint[], %s::bytea[])", [space, numbers, lines])


class ServerAudit(Record):
    """The audit log of a server. See `ports.AuditTrail` for the promises."""

    _server: Server
    _who: Author
    _warn: Callable[[str], None]

    def record(self, space: str, action: str, touched: Sequence[Touched], policy: Json = None) -> None:
        record_act(self, self._warn, space, self._who.entry(space, Act(action, touched, policy)))

    def read(self, space: str) -> bytes:
        with self._server.connected(f"read the audit log of space {space!r}") as connection:
            rows = connection.execute("SELECT line FROM audit WHERE space = %s ORDER BY n", [space]).fetchall()
        return b"".join(line + b"\n" for (line,) in rows)

    def spaces(self) -> list[str]:
        with self._server.connected("list the audit logs") as connection:
            return [name for (name,) in connection.execute("SELECT DISTINCT space FROM audit ORDER BY space")]

    def lineage(self, space: str) -> Lineage:
        with self._server.connected(f"read space {space!r}") as connection:
            return Lineage(*connection.execute(_LINEAGE, [space]).fetchone() or ())

    def by_admins(self, space: str, numbers: Collection[int]) -> Collection[int]:
        with self._server.connected(f"read the audit log of space {space!r}") as connection:
            return [n for (n,) in connection.execute(_BY_ADMINS, [space, list(numbers)])]

    def append(self, space: str, entries: Sequence[dict[str, Json]]) -> None:
        def work(connection: Connection) -> UUID:
            connection.execute(BARRIER, [space])
            mark = new_mark()
            append(connection, space, entries, mark, Link(*(connection.execute(LAST, [space]).fetchone() or ())))
            return mark

        self._server.transact(work, lambda c, mark: is_marked(c, space, mark), f"record acts in space {space!r}")


def is_marked(connection: Connection, space: str, mark: UUID) -> bool:
    """Whether the write of this mark was committed."""
    # The lost transaction may still run on the server: it holds this lock until it is committed or rolled back.
    connection.execute(BARRIER, [space])
    return (
        connection.execute("SELECT 1 FROM audit WHERE space = %s AND mark = %s", [space, mark]).fetchone() is not None
    )
