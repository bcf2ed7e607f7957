"""One lock for each space, held by the kernel: it ends with its holder, however that dies."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from memcli.errors import LockedError, StoreError

WAIT_SECONDS = 10.0
_POLL_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)

if os.name == "nt":  # pragma: no cover
    import msvcrt

    def _try_lock(fd: int) -> None:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def _try_lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: str, what: str, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Holds the lock file at `path` for as long as the block runs; waits at most `wait` seconds.

    The file is never removed: another process may have it open, and two files would be two locks.
    Raises LockedError when the wait is over, StoreError when the file cannot be opened.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | _NOFOLLOW | _NONBLOCK, 0o600)
    except OSError as error:
        raise StoreError(
            f"cannot open the lock of {what}: {error.strerror}", "check the permissions of .memory/local"
        ) from None
    try:
        _acquire(fd, what, wait)
        yield
    finally:
        with suppress(OSError):
            os.close(fd)


def _acquire(fd: int, what: str, wait: float) -> None:
    deadline = time.monotonic() + wait
    attempt = 0
    while True:
        try:
            _try_lock(fd)
            return
        except OSError:
            if time.monotonic() >= deadline:
                raise LockedError(
                    f"{what} is locked by another process (waited {wait:g} s)", "try again when it has finished"
                ) from None
        time.sleep(_POLL_SECONDS[min(attempt, len(_POLL_SECONDS) - 1)])
        attempt += 1
