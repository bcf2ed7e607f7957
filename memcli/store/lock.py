"""Lock files, one for each space and each long-running task. The kernel holds the locks, so they end with their process."""

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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Event

WAIT_SECONDS = 10.0
_LOOK_SECONDS = 0.05  # how often `unless` is called, since nothing wakes a waiting process for it
_LONGEST_SECONDS = 3600.0  # a time-out that every system accepts
_NOTE_BYTES = 128
_TAKEN = (errno.EAGAIN, errno.EACCES, errno.EINTR, errno.EDEADLK)


class HeldLock(Record):
    """A held lock. Its file has a note for the next holder, which may be out of date after a crash."""

    _fd: int

    def is_at(self, path: str) -> bool:
        """Whether the lock file is still the one at `path`: it may have been replaced while this process waited."""
        try:
            return os.path.samestat(os.fstat(self._fd), os.stat(path, follow_symlinks=False))
        except OSError:
            return False

    def note(self) -> str:
        """The note of the last holder; empty if it cannot be read."""
        with suppress(OSError):
            os.lseek(self._fd, 0, os.SEEK_SET)
            return os.read(self._fd, _NOTE_BYTES).decode("ascii", "replace")
        return ""

    def leave(self, note: str) -> None:
        """Replaces the note, which has at most 128 ASCII characters. Never raises."""
        with suppress(OSError):  # without the note the next holder only reads more
            if os.fstat(self._fd).st_nlink > 1:
                return  # another name of the file, as in a snapshot by hard links, must not change
            os.lseek(self._fd, 0, os.SEEK_SET)
            os.ftruncate(self._fd, 0)
            os.write(self._fd, note.encode("ascii")[:_NOTE_BYTES])


@contextmanager
def locked(
    path: str, what: str, wait: float = WAIT_SECONDS, unless: Callable[[], bool] | None = None, *, queues: bool = True
) -> Iterator[HeldLock | None]:
    """Holds the lock file at `path`, which messages call `what`, while the block runs; waits at most `wait` seconds, which may
    be infinite.

    While the lock is not free, `unless` is called every 50 ms; once it returns True, the block runs without the lock and gets
    None. Without `queues` the lock is tried every 50 ms instead of waiting in the kernel's queue: a wait there cannot be
    cancelled, and one that was given up still holds the lock for a moment when its turn comes.
    Raises LockedError after `wait` seconds, StoreError if the file cannot be opened or locked.
    """
    # Not by a lock library: the ones tried take 76 ms to import and 250 us a lock, flock takes 3 us.
    # Lock files are never removed: another process may have one open, and two files of one path would be two locks.
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
    """Takes a shared lock on the file at `path`, after waiting for an exclusive holder. Returns the open file: the lock ends
    when it is closed or the process ends. Raises StoreError."""
    try:
        fd = open_own(path, os.O_RDWR | os.O_CREAT)
        fcntl.flock(fd, fcntl.LOCK_SH)
    except OSError as error:
        raise StoreError(f"cannot lock {path}: {error.strerror}", "check its permissions") from None
    return fd


def _acquire(fd: int, what: str, wait: float, unless: Callable[[], bool] | None, queues: bool) -> bool:
    end = time.monotonic() + wait
    ended: Event | None = None
    while True:
        # A wait that has ended has the lock, unless the kernel refused to queue: then the attempt below fails.
        has_ended = ended is not None and ended.is_set()
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
        if has_ended or not queues:
            time.sleep(min(left, _LOOK_SECONDS))
            continue
        ended = ended or _wait_in_queue(fd)
        ended.wait(min(left, _LONGEST_SECONDS if unless is None else _LOOK_SECONDS))


def _wait_in_queue(fd: int) -> Event:
    """Waits in the kernel's queue for the lock of an open file, in a thread; the event is set when that has ended."""
    from threading import Event, Thread

    # A blocking `flock` has no time-out, so a thread waits in it. Its descriptor is a duplicate: when the caller gives up and
    # closes its own, a lock that comes later ends with the duplicate.
    ended, own = Event(), os.dup(fd)

    def _queue() -> None:
        with suppress(OSError):  # the caller tries again and reports the error
            fcntl.flock(own, fcntl.LOCK_EX)
        os.close(own)
        ended.set()

    # A wait that was given up must not keep the process from ending.
    Thread(target=_queue, daemon=True).start()
    return ended


_PATIENCE_SECONDS = 0.5  # `holder_of` in another process takes the lock for a moment


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
    """The id of the process that holds the lock file at `path`, 0 if unknown, and since when; None if it is free."""
    if not os.path.exists(path):
        return None
    try:
        with locked(path, what, wait=0):
            return None
    except LockedError:
        pass
    with suppress(OSError, ValueError):
        pid, since = (read_regular(path, _NOTE_BYTES) or b"").decode("ascii", "replace").split()
        return int(pid), since
    return 0, ""
