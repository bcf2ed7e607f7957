"""Connections that wait for a server only so long.

Migrations: numbered SQL files that make the schema of a store, each once, whoever comes first.

What a server reports, as errors of memcli: one line, what to do, and an exit code.

A pooler between here and the server: it may lend a connection's session to others, and with it the schema that is set.
"""

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

SILENCE = 30.0
"""After so many seconds without a byte a server counts as gone. It says so itself when a lock is not to be had, and sooner."""
_LONGEST = 3600.0
_T = TypeVar("_T")


class SilentError(OperationalError):
    """The server was asked and says nothing. The connection is closed; another attempt would wait as long."""


class BoundedConnection(Connection[Any]):
    """A connection that is closed when the server is silent for too long."""

    most = SILENCE

    def wait(self, gen: Generator[Any, Any, _T], *args: Any, **options: Any) -> _T:
        """As that of psycopg. Raises also SilentError."""
        return super().wait(_bounded(gen, self.most, self.close), *args, **options)


@contextmanager
def unhurried(connection: Connection) -> Iterator[None]:
    """In it the server may be silent for an hour, as while it builds an index or rewrites tables."""
    assert isinstance(connection, BoundedConnection)
    connection.most = _LONGEST
    try:
        yield
    finally:
        del connection.most


def _bounded(gen: Generator[Any, Any, _T], seconds: float, close: Callable[[], None]) -> Generator[Any, Any, _T]:
    """What `gen` waits for, until nothing was ready for so many seconds."""
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


_LOCK = 0x6D656D63  # 'memc', the first half of the advisory lock under which the table of migrations is made

_TABLE = """SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = %s AND relname = 'migration'"""  # not to_regclass, which may not see what another client just made


@cache
def migrations() -> Mapping[int, str]:
    """The SQL of each migration by its number, in order."""
    folder = resources.files(__package__) / "migrations"
    found = {int(file.name[:4]): file.read_text() for file in folder.iterdir() if file.name.endswith(".sql")}
    return dict(sorted(found.items()))


def applied(connection: Connection, schema: str) -> set[int]:
    """The migrations that the schema has had; none where there is no such schema."""
    if connection.execute(_TABLE, [schema]).fetchone() is None:
        return set()
    rows = connection.execute(SQL("SELECT number FROM {}.migration").format(Identifier(schema)))
    return {number for (number,) in rows}


def migrate(connection: Connection, address: Address) -> None:
    """Brings the schema up to this version of memcli. Raises StoreError when it is of a newer one."""
    known = migrations()
    found = applied(connection, address.schema)
    _check(found, address)
    if known.keys() <= found:
        return
    with unhurried(connection), connection.transaction():
        connection.execute("SET LOCAL lock_timeout = '60s'")  # another client's migration is worth waiting for
        if connection.execute(_TABLE, [address.schema]).fetchone() is None:
            connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_LOCK, address.schema])
            if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [address.schema]).fetchone() is None:
                connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(address.schema)))
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migration (number int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
            )
        connection.execute("LOCK TABLE migration IN SHARE ROW EXCLUSIVE MODE")  # which its readers cannot take
        found = applied(connection, address.schema)  # another client may have been at it
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
"""What goes away when a transaction is made again."""
_UNREACHABLE = "check the address, the network and that the server runs"
_HINTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("no password supplied",), "set PGPASSFILE or PGPASSWORD, or name a service in the URL"),
    (("password authentication", "authentication failed", "no pg_hba.conf entry"), "check the user, its password and pg_hba.conf"),
    (("certificate", "SSL", "ssl"), "check sslmode and sslrootcert in the URL"),
    (("does not exist",), "check the user and the database in the URL"),
    (("too many clients", "remaining connection slots"), "raise max_connections of the server, or try again later"),
)  # fmt: skip


class UnreachableError(StoreError):
    """The server could not be connected to. `is_for_now`: it is there, and starts or stops."""

    is_for_now = False


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, and with it what its transaction had not committed."""
    if isinstance(error, errors.AdminShutdown | errors.CrashShutdown | errors.CannotConnectNow):
        return True
    if isinstance(error, errors.IdleInTransactionSessionTimeout):
        return True
    return error.sqlstate is None and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def unreachable(error: psycopg.Error, address: Address) -> UnreachableError:
    """The error for a server that cannot be connected to."""
    told = _line(error, address)
    hint = next((hint for words, hint in _HINTS if any(word in told for word in words)), _UNREACHABLE)
    found = UnreachableError(f"cannot connect to the store at {address.shown}: {_shown(told)}", hint)
    found.is_for_now = told.startswith("the database system is")
    return found


def failure(error: psycopg.Error, address: Address, what: str) -> MemcliError:
    """The error of memcli for one of the server's, while doing `what`."""
    told = _shown(_line(error, address))
    if isinstance(error, SilentError):
        return StoreError(f"cannot {what}: {address.shown} gives {told}", _UNREACHABLE)
    if is_lost(error):
        return StoreError(f"cannot {what}: the connection to {address.shown} was lost ({told})", _UNREACHABLE)
    if isinstance(error, errors.InsufficientPrivilege | errors.InvalidAuthorizationSpecification):
        return RefusedError(
            f"cannot {what}: the server does not allow it: {told}", "ask the owner of the schema to admit your role"
        )
    if isinstance(error, errors.LockNotAvailable):
        return LockedError(f"cannot {what}: another process holds the space", "try again later")
    if isinstance(error, RETRIED):
        return LockedError(f"cannot {what}: too many writers at once", "try again later")
    if isinstance(error, errors.QueryCanceled):
        return StoreError(f"cannot {what}: the server stopped it ({told})", "raise statement_timeout of the role")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return StoreError(f"cannot {what}: the server accepts no writes", "use the address of the primary server")
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return StoreError(f"cannot {what}: {told}", "free resources on the server")
    return StoreError(f"cannot {what}: {told}", "run `memcli doctor`")


def _line(error: psycopg.Error, address: Address) -> str:
    """The line of what the server said that names the fault, without passwords."""
    told = error.diag.message_primary or str(error) or type(error).__name__
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    fatal = next((line for line in lines if "FATAL:" in line), lines[0] if lines else "")
    return address.cleaned((fatal.rpartition("FATAL:")[2].strip() or fatal).removeprefix("connection failed: "))


def _shown(told: str) -> str:
    """What a server said, as far as it may be shown: whoever runs it, or writes to it, may say anything."""
    from memcli.safety.injection import quotable

    return quotable(told) or "its message is left out, since it reads as instructions"


_TRIES = 4
_PROCESS = "SELECT pg_backend_pid()"


def check_pooler(connection: Connection, address: Address) -> None:
    """Raises StoreError for a pooler that gives the session of an open connection to another: it pools transactions.

    There a statement could meet the schema of another store.
    """
    try:
        other = BoundedConnection.connect(address.conninfo, autocommit=True)
    except psycopg.Error:  # none is left for a second one, so that each has its own
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
