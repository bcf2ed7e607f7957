"""The connections of a process to a server, and transactions that are repeated when that is safe."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, TypeVar

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus

from memcli.errors import LockedError, MemcliError, StoreError
from memcli.extras.postgres.address import Address
from memcli.extras.postgres.connection import (
    RETRIED,
    BoundedConnection,
    SilentError,
    UnreachableError,
    check_pooler,
    failure,
    is_lost,
    migrate,
    unreachable,
)

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

MOST_CONNECTIONS = 8
"""The most connections of a process: one that it opens first, and a pool for threads and open snapshots."""
# The server ends a transaction that idles for longer: while it is open, rows that were deleted stay in the tables.
_IDLE = "60s"
_ATTEMPTS = 12
_SETUP = """SELECT set_config('search_path', %s, false), set_config('lock_timeout', %s, false),
    set_config('idle_in_transaction_session_timeout', %s, false),
    set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false), pg_backend_pid()"""
# No sequential scans, since the planner chooses them by statistics that may be old or missing, and there is an index for every
# query. No JIT, since compiling takes longer than any of them.
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_T = TypeVar("_T")


class Server:
    """The server at `address`. `wait`: seconds to wait for a lock, a connection, or a server that restarts."""

    def __init__(self, address: Address, wait: float) -> None:
        self.address = address
        self.wait = wait
        self._was_reached = False
        self._mutex = threading.Lock()
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        # The first connection is not of the pool: errors of the address are reported at once, and a command that needs no
        # other starts no threads.
        self._own: Connection | None = None
        self._is_lent = False
        self._pool: ConnectionPool | None = None

    @contextmanager
    def connected(self, what: str) -> Iterator[Connection]:
        """Lends a connection in autocommit mode; errors of the server become errors of memcli that name `what`."""
        try:
            connection = self.patiently(self.borrow, what)
            try:
                yield connection
            finally:
                self.give_back(connection)
        except psycopg.Error as error:
            raise failure(error, self.address, what) from None

    def borrow(self) -> Connection:
        """Lends a connection, for `give_back`. Raises StoreError, LockedError."""
        with self._mutex:  # also while connecting, since the first connection creates the schema that others use
            if self._process != os.getpid():  # after a fork the connections belong to the parent
                self._reset()
            if not self._is_lent:
                if self._own is None or self._own.closed:
                    self._own = self._connect()
                self._is_lent = True
                return self._own
        from psycopg_pool import ConnectionPool, PoolTimeout

        with self._mutex:
            # By default a pool opens four connections ahead of their use, with three threads.
            pool = self._pool = self._pool or ConnectionPool(
                self.address.conninfo, connection_class=BoundedConnection, kwargs={"autocommit": True},
                configure=self._configure, min_size=0,
                max_size=MOST_CONNECTIONS - 1, max_idle=60, num_workers=1, timeout=self.wait, open=True,
            )  # fmt: skip
        try:
            return pool.getconn()
        except PoolTimeout:
            raise LockedError(
                f"no connection to the store at {self.address.shown} within {self.wait:g} s",
                f"try again later; this process may use {MOST_CONNECTIONS} at once",
            ) from None

    def give_back(self, connection: Connection) -> None:
        """Takes a connection back and rolls back its open transaction. Never raises."""
        with suppress(psycopg.Error):
            if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
                connection.rollback()
        if connection is self._own:
            self._is_lent = False
        elif self._pool is not None and self._process == os.getpid():
            self._pool.putconn(connection)

    def transact(
        self,
        work: Callable[[Connection], _T],
        is_done: Callable[[Connection, _T], bool],
        what: str,
        first: Callable[[Connection], None] = lambda _: None,
    ) -> _T:
        """Runs `work` in one transaction and commits it. Repeats that after a conflict with another transaction, and after the
        connection was lost. `is_done` finds out whether a commit was made during which the connection was lost. `first` runs
        ahead of the transaction, each time.

        All statements form a pipeline: a statement is sent together with the next one whose result is fetched.

        On return the change is on disk. Raises StoreError, LockedError, RefusedError.
        """

        def attempt() -> _T:
            connection = self.borrow()
            is_committing = False
            try:
                with connection.pipeline():
                    first(connection)
                    connection.execute(_BEGIN)
                    result = work(connection)
                    is_committing = True
                    connection.execute("COMMIT")
                return result
            except psycopg.Error as error:
                # A connection that is lost before COMMIT was sent has changed nothing; after that the outcome is unknown.
                if not (is_committing and is_lost(error)):
                    raise
                if self._resolve(lambda found: is_done(found, result), what):
                    return result
                raise psycopg.OperationalError(str(error)) from None
            finally:
                self.give_back(connection)

        return self.patiently(attempt, what)

    def ask(self, work: Callable[[Connection], _T], what: str) -> _T:
        """Runs `work`, which only reads, and repeats it after the connection was lost. Raises StoreError, LockedError,
        RefusedError."""

        def attempt() -> _T:
            connection = self.borrow()
            try:
                return work(connection)
            finally:
                self.give_back(connection)

        return self.patiently(attempt, what)

    def patiently(self, attempt: Callable[[], _T], what: str) -> _T:
        """Calls `attempt`, and repeats it while it conflicts with other transactions or the server is away.

        Raises StoreError, LockedError, RefusedError.
        """
        deadline = time.monotonic() + self.wait
        for n in count(1):
            try:
                return attempt()
            except psycopg.Error as error:
                may_retry = isinstance(error, RETRIED) and n < _ATTEMPTS
                is_gone = is_lost(error) and not isinstance(error, SilentError)
                if not may_retry and not (is_gone and time.monotonic() < deadline):
                    raise failure(error, self.address, what) from None
            except UnreachableError as error:
                is_there = self._was_reached or error.is_for_now  # a wrong address is reported without a wait
                if not is_there or time.monotonic() >= deadline:
                    raise
            _pause(n)
        raise AssertionError

    def close(self) -> None:
        """Closes all connections."""
        if self._process == os.getpid():
            if self._own is not None:
                self._own.close()
            if self._pool is not None:
                self._pool.close()
        self._reset()

    def _resolve(self, is_done: Callable[[Connection], bool], what: str) -> bool:
        """Whether a write was committed although the connection was lost during the commit. Raises StoreError if that cannot be
        found out."""
        deadline = time.monotonic() + self.wait
        attempt = 0
        while True:
            attempt += 1
            try:
                with closing(self._connect()) as connection:
                    return is_done(connection)
            except (psycopg.Error, MemcliError) as error:
                if time.monotonic() < deadline:
                    _pause(attempt)
                    continue
                reason = error.message if isinstance(error, MemcliError) else str(failure(error, self.address, what))
                raise StoreError(
                    f"cannot tell whether the server has made the change: {reason}",
                    "check with `memcli recall`; storing the same text again is safe",
                ) from None

    def _connect(self) -> Connection:
        """A new connection to the schema, migrated to this version. Raises StoreError, RefusedError."""
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # errors are raised to the caller instead
        try:
            connection = BoundedConnection.connect(self.address.conninfo, autocommit=True)
        except psycopg.Error as error:
            raise unreachable(error, self.address) from None
        try:
            if self._set_up(connection) != connection.info.backend_pid:
                check_pooler(connection, self.address)
            migrate(connection, self.address)
        except psycopg.Error as error:
            connection.close()
            raise failure(error, self.address, f"use schema {self.address.schema!r}") from None
        except MemcliError:
            connection.close()
            raise
        self._was_reached = True
        return connection

    def _set_up(self, connection: Connection) -> int:
        """Sets up the session of a connection; returns the process id of its server, which behind a pooler differs from the one
        in `connection.info`."""
        wait = f"{max(1, int(self.wait * 1000))}ms"
        found = connection.execute(_SETUP, [f'"{self.address.schema}", public', wait, _IDLE]).fetchone()
        return int(found[-1]) if found else 0

    def _configure(self, connection: Connection) -> None:
        self._set_up(connection)


def _pause(attempt: int) -> None:
    """Waits before the next attempt: twice as long each time, up to 0.5 s, times 0.5 to 1.5."""
    # Processes that conflicted must not try again at the same moment.
    jitter = (os.getpid() * 7919 + threading.get_ident() + attempt * 104729) % 1000 / 1000
    time.sleep(min(0.01 * 2**attempt, 0.5) * (0.5 + jitter))
