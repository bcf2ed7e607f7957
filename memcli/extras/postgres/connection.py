"""Connections to a server with a limit on its silence; the migrations of the schema; errors of the server as errors of
memcli; and the check for a pooler that shares sessions."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import psycopg
from psycopg import Connection, OperationalError, errors
from psycopg.sql import SQL, Identifier

from memcli.errors import LockedError, MemcliError, RefusedError, StoreError
from memcli.extras.postgres.address import Address

# Waits for locks end earlier, by `lock_timeout`.
SILENCE = 30.0
"""After so many seconds without a byte the server counts as gone."""
_LONGEST = 3600.0
_T = TypeVar("_T")


class SilentError(OperationalError):
    """The server did not answer within SILENCE, and the connection was closed."""

    # Never tried again: that would take as long.


class BoundedConnection(Connection[Any]):
    """A connection that is closed when the server sends nothing for `most` seconds during a statement."""

    most = SILENCE

    def wait(self, gen: Generator[Any, Any, _T], *args: Any, **options: Any) -> _T:
        """As `Connection.wait` of psycopg. Raises also SilentError."""
        # libpq limits the time to connect only: a server that then sends nothing would hold a command for ever.
        return super().wait(_bounded(gen, self.most, self.close), *args, **options)


@contextmanager
def unhurried(connection: Connection) -> Iterator[None]:
    """Within the block the server may be silent for an hour, as it is while it builds an index or rewrites tables."""
    assert isinstance(connection, BoundedConnection)
    connection.most = _LONGEST
    try:
        yield
    finally:
        del connection.most


def _bounded(gen: Generator[Any, Any, _T], seconds: float, close: Callable[[], None]) -> Generator[Any, Any, _T]:
    """The same events as `gen` waits for. Calls `close` and raises SilentError if nothing was ready for so many seconds."""
    ends = time.monotonic() + seconds
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            now = time.monotonic()
            if ready:
                ends = now + seconds
            elif now >= ends:
                close()
                raise SilentError(f"no answer for {seconds:g} s")
            wanted = gen.send(ready)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


_LOCK = 0x6D656D63  # 'memc', the first half of the key of the advisory lock for creating the table of migrations

_TABLE = """SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = %s AND relname = 'migration'"""  # not to_regclass, which may not see what another client just made


@cache
def migrations() -> Mapping[int, str]:
    """The SQL of each migration by its number, in order."""
    folder = resources.files(__package__) / "migrations"
    found = {int(file.name[:4]): file.read_text() for file in folder.iterdir() if file.name.endswith(".sql")}
    return dict(sorted(found.items()))


def applied(connection: Connection, schema: str) -> set[int]:
    """The numbers of the migrations applied to the schema; none if there is no such schema."""
    if connection.execute(_TABLE, [schema]).fetchone() is None:
        return set()
    rows = connection.execute(SQL("SELECT number FROM {}.migration").format(Identifier(schema)))
    return {number for (number,) in rows}


def migrate(connection: Connection, address: Address) -> None:
    """Applies the migrations that the schema lacks, all in one transaction. Raises StoreError for a schema of a newer version."""
    known = migrations()
    found = applied(connection, address.schema)
    _check(found, address)
    if known.keys() <= found:
        return
    with unhurried(connection), connection.transaction():
        connection.execute("SET LOCAL lock_timeout = '60s'")  # the migration of another client may take that long
        if connection.execute(_TABLE, [address.schema]).fetchone() is None:
            # CREATE ... IF NOT EXISTS of two clients at once can fail with a unique violation, so they take turns.
            connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_LOCK, address.schema])
            if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [address.schema]).fetchone() is None:
                connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(address.schema)))
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migration (number int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
            )
        # A table lock, not an advisory lock: that one any role could hold. Roles that only read the table cannot take this.
        connection.execute("LOCK TABLE migration IN SHARE ROW EXCLUSIVE MODE")
        found = applied(connection, address.schema)  # again, since another client may have migrated meanwhile
        _check(found, address)
        for number in (number for number in known if number not in found):
            connection.execute(known[number].encode())
            connection.execute("INSERT INTO migration (number) VALUES (%s)", [number])


def _check(found: set[int], address: Address) -> None:
    latest = max(migrations())
    if found and max(found) > latest:
        raise StoreError(
            f"the store at {address.shown} has schema version {max(found)}, and this memcli supports {latest}",
            "upgrade memcli; nothing was changed",
        )


RETRIED = (errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation)
"""Errors after which the same transaction can succeed when it is repeated."""
_UNREACHABLE = "check the address, the network and that the server runs"
_HINTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("no password supplied",), "set PGPASSFILE or PGPASSWORD, or name a service in the URL"),
    (("password authentication", "authentication failed", "no pg_hba.conf entry"), "check the user, its password and pg_hba.conf"),
    (("certificate", "SSL", "ssl"), "check sslmode and sslrootcert in the URL"),
    (("does not exist",), "check the user and the database in the URL"),
    (("too many clients", "remaining connection slots"), "raise max_connections of the server, or try again later"),
)  # fmt: skip


class UnreachableError(StoreError):
    """The server could not be reached. `is_for_now`: it answered that it is starting up or shutting down."""

    is_for_now = False


def is_lost(error: psycopg.Error) -> bool:
    """Whether the error means that the connection is lost, and its uncommitted transaction with it."""
    if isinstance(error, errors.AdminShutdown | errors.CrashShutdown | errors.CannotConnectNow):
        return True
    if isinstance(error, errors.IdleInTransactionSessionTimeout):
        return True
    # Errors of libpq itself have no code of the server.
    return error.sqlstate is None and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def unreachable(error: psycopg.Error, address: Address) -> UnreachableError:
    """The error for a server to which no connection can be made."""
    text = _line(error, address)
    hint = next((hint for words, hint in _HINTS if any(word in text for word in words)), _UNREACHABLE)
    found = UnreachableError(f"cannot connect to the store at {address.shown}: {_shown(text)}", hint)
    found.is_for_now = text.startswith("the database system is")
    return found


def failure(error: psycopg.Error, address: Address, what: str) -> MemcliError:
    """The error of memcli for an error of the server during `what`."""
    text = _shown(_line(error, address))
    if isinstance(error, SilentError):
        return StoreError(f"cannot {what}: {address.shown} gives {text}", _UNREACHABLE)
    if is_lost(error):
        return StoreError(f"cannot {what}: the connection to {address.shown} was lost ({text})", _UNREACHABLE)
    if isinstance(error, errors.InsufficientPrivilege | errors.InvalidAuthorizationSpecification):
        return RefusedError(
            f"cannot {what}: the server does not allow it: {text}", "ask the owner of the schema to admit your role"
        )
    if isinstance(error, errors.LockNotAvailable):
        return LockedError(f"cannot {what}: another process holds the space", "try again later")
    if isinstance(error, RETRIED):
        return LockedError(f"cannot {what}: too many writers at once", "try again later")
    if isinstance(error, errors.QueryCanceled):
        return StoreError(f"cannot {what}: the server stopped it ({text})", "raise statement_timeout of the role")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return StoreError(f"cannot {what}: the server accepts no writes", "use the address of the primary server")
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return StoreError(f"cannot {what}: {text}", "free resources on the server")
    return StoreError(f"cannot {what}: {text}", "run `memcli doctor`")


def _line(error: psycopg.Error, address: Address) -> str:
    """The line of the server's message that names the fault, without passwords."""
    text = error.diag.message_primary or str(error) or type(error).__name__
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fatal = next((line for line in lines if "FATAL:" in line), lines[0] if lines else "")
    return address.cleaned((fatal.rpartition("FATAL:")[2].strip() or fatal).removeprefix("connection failed: "))


def _shown(text: str) -> str:
    """The message of a server, or a replacement if it reads as instructions to a model."""
    from memcli.safety.injection import quotable

    # Whoever runs the server, or writes to it, decides its messages, and agents read the errors of memcli.
    return quotable(text) or "its message is left out, since it reads as instructions"


_TRIES = 4
_PROCESS = "SELECT pg_backend_pid()"


def check_pooler(connection: Connection, address: Address) -> None:
    """Raises StoreError if a pooler between memcli and the server lets two open connections share a session."""
    # A pooler of transactions does. The schema is set for a session, so that a statement could run in that of another store.
    try:
        other = BoundedConnection.connect(address.conninfo, autocommit=True)
    except psycopg.Error:  # if no second connection is free, sessions are not shared
        return
    try:
        is_shared = any(
            connection.execute(_PROCESS).fetchone() == other.execute(_PROCESS).fetchone() for _ in range(_TRIES)
        )
    finally:
        other.close()
    if is_shared:
        raise StoreError(
            f"the pooler at {address.shown} shares sessions between connections",
            "set its pool_mode to session, or use the address of the server itself",
        )
