"""One lock for each space, held by the kernel: it ends when its holder ends; and the process that holds a lock for long."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from memcli.errors import LockedError, StoreError, hint_of
from memcli.record import Record
from memcli.store.atomic import open_own, read_regular

WAIT_SECONDS = 10.0
_LOOK_SECONDS = 0.05  # how often is looked for what no lock tells
_LONGEST_SECONDS = 3600.0  # what every system takes as a time-out
_NOTE_BYTES = 128
_TAKEN = (errno.EAGAIN, errno.EACCES, errno.EINTR, errno.EDEADLK)


class _Turn:
    """The turn of this process in the queue of the kernel for an open lock file.

    A thread waits for it, since nothing else ends such a wait in time. It has a descriptor of its own for the same open
    file: once the others are closed, because the wait was given up, the lock that it still gets ends with its own.
    """

    def __init__(self, fd: int) -> None:
        from threading import Event, Thread

        self._came = Event()
        self._is_refused = False
        Thread(target=self._queue, args=(os.dup(fd),), daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Waits at most so many seconds for the turn; where it does not come by itself, until it is worth a try."""
        if self._is_refused:
            time.sleep(min(seconds, _LOOK_SECONDS))
        else:
            self._came.wait(seconds)

    def _queue(self, fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
        except OSError:  # whoever waits tries by itself, and says why it cannot be locked
            self._is_refused = True
        os.close(fd)
        self._came.set()


class HeldLock(Record):
    """A lock that is held. It bears a note for whoever holds it next, which a crash may leave out of date."""

    _fd: int

    def is_at(self, path: str) -> bool:
        """Whether the lock file is the one at `path`, and was not replaced while this process waited."""
        try:
            return os.path.samestat(os.fstat(self._fd), os.stat(path, follow_symlinks=False))
        except OSError:
            return False

    def note(self) -> str:
        """The note of the last holder; empty when it cannot be read."""
        with suppress(OSError):
            os.lseek(self._fd, 0, os.SEEK_SET)
            return os.read(self._fd, _NOTE_BYTES).decode("ascii", "replace")
        return ""

    def leave(self, note: str) -> None:
        """Replaces the note. Never raises: without it the next holder reads more, and that is all."""
        with suppress(OSError):
            if os.fstat(self._fd).st_nlink > 1:
                return  # the file is not ours alone: what another name leads to must not change
            os.lseek(self._fd, 0, os.SEEK_SET)
            os.ftruncate(self._fd, 0)
            os.write(self._fd, note.encode("ascii")[:_NOTE_BYTES])


@contextmanager
def locked(
    path: str, what: str, wait: float = WAIT_SECONDS, unless: Callable[[], bool] | None = None, *, queues: bool = True
) -> Iterator[HeldLock | None]:
    """Holds the lock file at `path` for as long as the block runs; waits at most `wait` seconds, which may be infinite.

    When the lock is not free, `unless` is asked now and then; once it says yes, the block runs without the lock
    and gets None. Without `queues` the lock is tried now and then, out of turn: a turn in the kernel's queue cannot be
    taken back, and one that was given up still has the lock for a moment when it comes.
    The file is never removed: another process may have it open, and two files would be two locks.
    Raises LockedError when the wait is over, StoreError when the file cannot be opened.
    """
    try:
        fd = open_own(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        hint = hint_of(error, "check the permissions of .memory/local")
        raise StoreError(f"cannot open the lock of {what}: {error.strerror}", hint) from None
    try:
        yield HeldLock(fd) if _acquire(fd, what, wait, unless, queues) else None
    finally:
        with suppress(OSError):
            os.close(fd)


def share(path: str) -> int:
    """Takes the lock file at `path` together with others who share it, and returns it open: closing it, or the end of
    this process, ends that. Waits for whoever holds it alone. Raises StoreError."""
    try:
        fd = open_own(path, os.O_RDWR | os.O_CREAT)
        fcntl.flock(fd, fcntl.LOCK_SH)
    except OSError as error:
        raise StoreError(f"cannot lock {path}: {error.strerror}", "check its permissions") from None
    return fd


def _acquire(fd: int, what: str, wait: float, unless: Callable[[], bool] | None, queues: bool) -> bool:
    end = time.monotonic() + wait
    turn: _Turn | None = None
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno not in _TAKEN:
                raise StoreError(
                    f"cannot lock {what}: {error.strerror}", "the file system may not support locks"
                ) from None
        if unless is not None and unless():
            return False
        left = end - time.monotonic()
        if left <= 0:
            raise LockedError(
                f"{what} is locked by another process (waited {wait:g} s)", "try again when it has finished"
            )
        if not queues:
            time.sleep(min(left, _LOOK_SECONDS))
            continue
        turn = turn or _Turn(fd)
        turn.wait(min(left, _LONGEST_SECONDS if unless is None else _LOOK_SECONDS))


_PATIENCE_SECONDS = 0.5  # whoever only asks who it is holds the lock for a moment too
_MAX_BYTES = 128


@contextmanager
def held(path: str, what: str, now: str) -> Iterator[None]:
    """Holds the lock file at `path` while the block runs, with the id of this process and the time `now` as its note.
    Raises LockedError, StoreError."""
    stack = ExitStack()
    try:
        lock = stack.enter_context(locked(path, what, wait=_PATIENCE_SECONDS, queues=False))
    except LockedError as error:
        pid, since = holder_of(path, what) or (0, "")
        by = f" by process {pid}, since {since}" if pid else ""
        raise LockedError(f"{what} is held{by}", "stop it first, or leave it running") from error
    with stack:
        if lock is not None:
            lock.leave(f"{os.getpid()} {now}")
        yield


def holder_of(path: str, what: str) -> tuple[int, str] | None:
    """The process that holds the lock file at `path`, 0 when unknown, and since when; None when nobody does."""
    if not os.path.exists(path):
        return None
    try:
        with locked(path, what, wait=0):
            return None
    except LockedError:
        pass
    with suppress(OSError, ValueError):
        pid, since = (read_regular(path, _MAX_BYTES) or b"").decode("ascii", "replace").split()
        return int(pid), since
    return 0, ""
