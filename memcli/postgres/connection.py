"""Connections that wait for a server only so long."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from psycopg import Connection, OperationalError

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
