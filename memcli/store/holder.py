"""Holders: who holds a lock for as long as it lives, and since when."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from memcli.errors import LockedError
from memcli.store.lock import locked
from memcli.store.reading import read_regular

_PATIENCE_SECONDS = 0.5  # whoever only asks who it is holds the lock for a moment too
_MAX_BYTES = 128


class Holder(NamedTuple):
    """A process that holds a lock: its id, 0 when unknown, and when it took it."""

    pid: int
    since: str


@contextmanager
def held(path: str, what: str, now: str) -> Iterator[None]:
    """Holds the lock file at `path` while the block runs, and leaves in it who does. Raises LockedError, StoreError."""
    stack = ExitStack()
    try:
        lock = stack.enter_context(locked(path, what, wait=_PATIENCE_SECONDS))
    except LockedError as error:
        holder = holder_of(path, what)
        by = f" by process {holder.pid}, since {holder.since}" if holder and holder.pid else ""
        raise LockedError(f"{what} is held{by}", "stop it first, or leave it running") from error
    with stack:
        if lock is not None:
            lock.leave(f"{os.getpid()} {now}")
        yield


def holder_of(path: str, what: str) -> Holder | None:
    """Who holds the lock file at `path`; None when nobody does."""
    if not os.path.exists(path):
        return None
    try:
        with locked(path, what, wait=0):
            return None
    except LockedError:
        pass
    with suppress(OSError, ValueError):
        pid, since = (read_regular(path, _MAX_BYTES) or b"").decode("ascii", "replace").split()
        return Holder(int(pid), since)
    return Holder(0, "")
