"""The one place that opens files for writing.

`write_file` replaces a file whole: temporary file in the same directory, fsync, rename, fsync of the
directory. After it returns, the new bytes survive a power cut. Killed before the rename, the old file
stands and a temporary one is left over; killed after it, the new file stands.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from memcli.errors import StoreError

Piece = bytes | memoryview

TEMP_MARK = ".tmp-"
_SMALL_BYTES = 1 << 18
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_REPLACE_ATTEMPTS = 25
_REPLACE_PAUSE_SECONDS = 0.1


def write_file(
    path: str,
    data: bytes | Sequence[Piece],
    mode: int = 0o644,
    *,
    alone: bool = False,
    before_rename: Callable[[os.stat_result], None] | None = None,
    changed_ns: int | None = None,
) -> os.stat_result:
    """Makes the file at `path` hold exactly `data`; returns its status. See the module for what a crash leaves.

    `alone`: the caller holds a lock, so the temporary file has one name, and a leftover is taken by the next write.
    `before_rename` is told the status that the file will have; `changed_ns` becomes its time of change, in nanoseconds.
    Raises StoreError.
    """
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name}{TEMP_MARK}{'' if alone else os.getpid()}")
    try:
        if os.path.islink(path):
            raise OSError(errno.ELOOP, "it is a symbolic link")
        status = _write_temp(temp, [data] if isinstance(data, bytes) else data, mode, changed_ns)
        if before_rename is not None:
            before_rename(status)
        _replace(temp, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temp)
        raise StoreError(f"cannot write {path}: {error.strerror}", _hint(error)) from None
    try:
        sync_folder(folder)
    except OSError as error:
        raise StoreError(
            f"{path} was written, but may not survive a power cut: {error.strerror}", "run the command again"
        ) from None
    return status


def place_file(path: str, data: bytes) -> int:
    """Puts a file that need not survive a power cut at `path`, all at once; returns it open for reading.

    Whoever finds it may rename or remove it at once. Raises OSError.
    """
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name}{TEMP_MARK}")
    fd = os.open(temp, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | _NOFOLLOW, 0o600)
    try:
        _write_all(fd, [data])
        os.rename(temp, path)
    except OSError:
        os.close(fd)
        raise
    return fd


def append_line(path: str, line: bytes, sync: bool = False) -> None:
    """Appends `line` and a newline to the file at `path`, which is made if it is not there. Raises OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | _NOFOLLOW | _NONBLOCK, 0o600)
    try:
        _write_all(fd, [line + b"\n"])
        if sync:
            _sync(fd)
    finally:
        os.close(fd)


def check_appendable(path: str) -> None:
    """Raises OSError when nothing could be appended to the file at `path`, which is made if it is not there."""
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | _NOFOLLOW | _NONBLOCK, 0o600))


def make_folder(path: str, mode: int = 0o755) -> None:
    """Makes the folder at `path`, and those above it. Raises StoreError, also when something else is there."""
    try:
        os.makedirs(path, mode, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {path}: {error.strerror}", _hint(error)) from None


def remove_file(path: str) -> None:
    """Removes the file at `path` for good. Raises StoreError."""
    try:
        os.unlink(path)
    except OSError as error:
        raise StoreError(f"cannot remove {path}: {error.strerror}", _hint(error)) from None
    try:
        sync_folder(os.path.dirname(path))
    except OSError as error:
        raise StoreError(
            f"{path} was removed, but may be back after a power cut: {error.strerror}", "run the command again"
        ) from None


def sync_folder(path: str) -> None:
    """Makes the names in the folder at `path` durable. Raises OSError."""
    if os.name == "nt":  # pragma: no cover
        return
    fd = os.open(path or ".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _sync(fd)
    finally:
        os.close(fd)


def _write_temp(temp: str, pieces: Iterable[Piece], mode: int, changed_ns: int | None) -> os.stat_result:
    with suppress(FileNotFoundError):
        os.unlink(temp)
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | _NOFOLLOW, mode)
    try:
        _write_all(fd, pieces)
        if changed_ns is not None:
            os.utime(temp, ns=(changed_ns, changed_ns))
        _sync(fd)
        return os.fstat(fd)
    finally:
        os.close(fd)


def _write_all(fd: int, pieces: Iterable[Piece]) -> None:
    """Writes the pieces in order: large ones as they are, small ones together."""
    small = bytearray()
    for piece in pieces:
        if len(piece) < _SMALL_BYTES:
            small += piece
            if len(small) < _SMALL_BYTES:
                continue
            piece = b""  # noqa: PLW2901 - it is among the small ones
        _write_whole(fd, small)
        _write_whole(fd, piece)
        small = bytearray()
    _write_whole(fd, small)


def _write_whole(fd: int, data: Piece | bytearray) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _sync(fd: int) -> None:
    if sys.platform == "darwin":  # pragma: no cover
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)


def _replace(temp: str, path: str) -> None:
    # On Windows a reader or a virus scanner that has the target open makes the rename fail for a moment.
    for attempt in range(_REPLACE_ATTEMPTS):
        try:
            os.replace(temp, path)
            return
        except PermissionError:
            if os.name != "nt" or attempt == _REPLACE_ATTEMPTS - 1:
                raise
            time.sleep(_REPLACE_PAUSE_SECONDS)


def _hint(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "free some space and run the command again; nothing was changed"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "check the permissions of the store; nothing was changed"
    return "nothing was changed"


def write_out(path: str, data: bytes) -> None:
    """Writes `data` where a user says: a file is replaced whole, with its folder; a pipe or device is written to.

    Raises StoreError.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                _write_whole(fd, data)
            finally:
                os.close(fd)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}", "name a file") from None
        return
    full = os.path.realpath(path)
    if not path or path.endswith(("/", os.sep)):
        raise StoreError(f"cannot write {path!r}: it is the name of a folder", "name a file")
    make_folder(os.path.dirname(full))
    write_file(full, data)


def read_regular(path: str, limit: int) -> bytes | None:
    """The bytes of the file at `path`, at most `limit`; None when it is not there.

    Raises OSError for what is a link, a folder, a pipe or a device, none of which is opened for long.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | _NOFOLLOW | _NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        with os.fdopen(os.dup(fd), "rb") as file:
            return file.read(limit)
    finally:
        os.close(fd)


def read_at(fd: int, length: int, offset: int) -> bytes:
    """Up to `length` bytes of an open file from `offset` on. Raises OSError."""
    if hasattr(os, "pread"):
        return os.pread(fd, length, offset)
    os.lseek(fd, offset, os.SEEK_SET)  # pragma: no cover - Windows
    return os.read(fd, length)  # pragma: no cover


def read_json(path: str) -> object:
    """What the JSON file at `path` holds; None when it is not there or holds none."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def remove_quietly(path: str) -> bool:
    """Removes the file at `path` when it is there and can be; whether it did."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def move_file(path: str, folder: str) -> str:
    """Moves the file at `path` into `folder`, under a name that is free there; returns where it is. Raises StoreError."""
    make_folder(folder, 0o700)
    name = os.path.basename(path)
    number = 0
    while os.path.lexists(target := os.path.join(folder, f"{name}.{number}" if number else name)):
        number += 1
    try:
        os.rename(path, target)
        sync_folder(folder)
        sync_folder(os.path.dirname(path))
    except OSError as error:
        raise StoreError(f"cannot move {path} to {folder}: {error.strerror}", _hint(error)) from None
    return target
