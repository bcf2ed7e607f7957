"""Reading and writing the files of a store: no other module opens one for writing.

Only regular files are read, through no link and no linked folder, and no more than a limit.

`write_file` replaces a whole file: temporary file on the same file system, fsync, rename, fsync of the directories.
After it returns, the new bytes survive a power cut. A process that is killed before the rename leaves the old file
and a temporary one; killed after it, the new file.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain

from memcli import beneath
from memcli.beneath import open_file
from memcli.errors import StoreError, hint_of
from memcli.settings import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.codec.window import Piece

_MAX_JSON = 256 << 20


def open_own(path: str, flags: int, mode: int = 0o600, root: str = "") -> int:
    """Opens the file at `path` and returns its descriptor. Raises OSError for a link, and for what is not a regular file.
    `root`: see `beneath.at`."""
    # Without O_NONBLOCK, opening a pipe in the place of the file waits for its other end.
    fd = open_file(path, flags | os.O_NONBLOCK, mode, root)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return fd


def read_regular(path: str, limit: int, root: str = "") -> bytes | None:
    """The first `limit` bytes of the file at `path`, all if negative; None if there is no file.

    Raises OSError, also for a link, a folder, a pipe or a device.
    """
    try:
        fd = open_own(path, os.O_RDONLY, root=root)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read(limit)


def read_stored(path: str, hint: str = "check its permissions", limit: int = -1) -> bytes | None:
    """As `read_regular`, but raises StoreError with this `hint` for a file that cannot be read."""
    try:
        return read_regular(path, limit)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", hint) from None


def fingerprint_of(status: os.stat_result) -> str:
    """A text that differs after any change of a file: its size in bytes, modification time in nanoseconds and inode."""
    # The inode as well: two files of one length can be written within one tick of the file system's clock.
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"


def listed(folder: str) -> list[str]:
    """The names in a folder, sorted; empty if there is no such folder. Raises StoreError."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreError(f"cannot read {folder}: {error.strerror}", "check its permissions") from None


def read_blocks(path: str, length: int) -> Iterator[bytes]:
    """The bytes of the file at `path`, in blocks of at most `length`. Raises OSError as `read_regular` does, and for a file
    that does not exist."""
    with os.fdopen(open_own(path, os.O_RDONLY), "rb", buffering=0) as file:
        while block := file.read(length):
            yield block


def has_any(blocks: Iterable[bytes], wanted: Collection[bytes]) -> bool:
    """Whether one of `wanted` occurs in the blocks, also across the border of two. Consumes all blocks."""
    reach = max(map(len, wanted), default=1) - 1
    is_found, end = False, b""
    for block in blocks:
        if not is_found:
            data = end + block
            is_found = any(part in data for part in wanted)
            end = data[len(data) - reach :] if reach < len(data) else data
    return is_found


read_at = os.pread
"""Reads up to `length` bytes of an open file at an offset: (file, length, offset). Raises OSError."""


def read_json(path: str) -> object:
    """The value of the JSON file at `path`; None if it is missing, not JSON, or larger than any file that memcli writes."""
    import json

    try:
        return json.loads(read_regular(path, _MAX_JSON) or b"null")
    except (OSError, ValueError, RecursionError):
        return None


TEMP_MARK = ".tmp-"
_SMALL_BYTES = 1 << 18


def write_file(
    path: str,
    data: bytes | Iterable[Piece],
    mode: int = 0o644,
    *,
    alone: bool = False,
    temporary: str = "",
    before_rename: Callable[[os.stat_result], None] | None = None,
    changed_ns: int | None = None,
    root: str = "",
) -> os.stat_result:
    """Replaces the file at `path` by one with exactly `data`; returns its status. See the module for the effects of a crash.

    `alone`: the caller holds a lock, so that the temporary file can have a fixed name, which the next write replaces.
    `temporary`: a folder that git ignores, for the temporary file of a file that git sees; the default is beside `path`.
    `before_rename` is called with the status that the file will have; `changed_ns` is its modification time to set, in
    nanoseconds. `root` is the folder below which no folder on the way may be a link: by default the store.
    Raises StoreError, and what `data` and `before_rename` raise.
    """
    folder, name = os.path.split(path)
    mark = f"{TEMP_MARK}{'' if alone else os.getpid()}"
    temp = os.path.join(folder, f".{name}{mark}")
    try:
        # A rename would replace the link and leave the file behind it as it was.
        if os.path.islink(path):
            raise OSError(errno.ELOOP, "it is a symbolic link")
        if temporary:
            _make_folder(temporary, 0o700, FOLDER)
            if os.stat(temporary).st_dev == os.stat(folder).st_dev:  # a rename cannot cross file systems
                temp = os.path.join(temporary, f".{os.path.basename(folder)}%{name}{mark}")
        status = _write_temp(temp, [data] if isinstance(data, bytes) else data, mode, changed_ns, root)
        if before_rename is not None:
            before_rename(status)
        beneath.replace(temp, path, root)
    except BaseException as error:
        # Never flushed again: after a failed fsync the kernel may count lost pages as written.
        remove_quietly(temp, root)
        if not isinstance(error, OSError):
            raise
        raise StoreError(f"cannot write {path}: {error.strerror}", _hint(error)) from None
    # The new file has its name now: an error from here on does not mean that nothing was changed.
    try:
        sync_folder(folder)
        if os.path.dirname(temp) != folder:  # the rename changed that folder too
            sync_folder(temporary)
    except OSError as error:
        raise StoreError(
            f"{path} was written, but may not survive a power failure: {error.strerror}", "run the command again"
        ) from None
    return status


def place_file(path: str, data: bytes) -> int:
    """Creates the file at `path` at once with all of `data`, without a flush to disk; returns a descriptor to read it.

    Another process may rename or remove the file before this returns. Raises OSError.
    """
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name}{TEMP_MARK}")
    # Renamed into place, so that a process that lists the folder never reads half of a file.
    fd = beneath.open_file(temp, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    try:
        _write_all(fd, [data])
        beneath.replace(temp, path)
    except OSError:
        os.close(fd)
        remove_quietly(temp)
        raise
    return fd


def create_file(path: str, data: bytes, mode: int = 0o600) -> None:
    """Creates the file at `path` at once with all of `data`; leaves an existing file unchanged. Raises OSError."""
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name}{TEMP_MARK}{os.getpid()}")
    try:
        _write_temp(temp, [data], mode)
        with suppress(FileExistsError):  # a link, unlike a rename, never replaces the file of another process
            beneath.link(temp, path)
        sync_folder(folder)
    finally:
        remove_quietly(temp)


def replace_file(path: str, data: bytes) -> None:
    """Replaces the file at `path` by one with `data`, without a flush: a power cut may lose or empty it. Raises OSError."""
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name}{TEMP_MARK}{os.getpid()}")
    fd = open_own(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        try:
            _write_all(fd, [data])
        finally:
            os.close(fd)
        beneath.replace(temp, path)
    except BaseException:
        remove_quietly(temp)
        raise


def overwrite_file(path: str, data: bytes, sync: bool = False) -> None:
    """Truncates the file at `path` and writes `data` into it; a crash may tear it. With `sync` it is flushed to disk.
    Raises OSError."""
    is_new = not os.path.lexists(path)
    fd = open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        os.ftruncate(fd, 0)
        _write_all(fd, [data])
        if sync:
            _sync(fd)
    finally:
        os.close(fd)
    if sync and is_new:
        sync_folder(os.path.dirname(path))


def append_line(path: str, line: bytes, sync: bool = False) -> None:
    """Appends `line` and a newline to the file at `path`, which is created if missing. With `sync` it is flushed to disk.
    Raises OSError."""
    fd = _open_to_append(path)
    try:
        _write_all(fd, [line + b"\n"])
        if sync:
            _sync(fd)
    finally:
        os.close(fd)


def append_after(path: str, data: bytes, end: int) -> None:
    """Cuts the file at `path` to its first `end` bytes, which removes what a crash left torn, appends `data` and flushes it.
    Raises StoreError; then the file has only these `end` bytes."""
    try:
        fd = _open_to_append(path)
        try:
            os.ftruncate(fd, end)
            _write_all(fd, [data])
            _sync(fd)
        except OSError:
            with suppress(OSError):
                os.ftruncate(fd, end)
            raise
        finally:
            os.close(fd)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}", _hint(error)) from None


def check_appendable(path: str) -> None:
    """Raises OSError when the file at `path`, which is created if missing, cannot be opened to append to it."""
    os.close(_open_to_append(path))


def _open_to_append(path: str) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    fd = open_own(path, flags)
    if os.fstat(fd).st_nlink < 2:
        return fd
    # A snapshot by hard links shares the file: an append would change the snapshot, so this name gets a copy first.
    os.close(fd)
    try:
        write_file(path, read_regular(path, -1) or b"", 0o600)
    except StoreError as error:
        raise OSError(errno.EMLINK, error.message) from None
    return open_own(path, flags)


def make_folder(path: str, mode: int = 0o700, root: str = "", *, is_root: bool = False) -> None:
    """Creates the folder at `path` and those above it, with `mode`; only with `is_root` the root of a store itself.

    Raises StoreError, also for a file in its place and for a store that was removed. `root`: see `write_file`.
    """
    try:
        _make_folder(path, mode, "" if is_root else FOLDER, root)
    except OSError as error:
        raise StoreError(f"cannot create the folder {path}: {error.strerror}", _hint(error)) from None


def _make_folder(path: str, mode: int, never: str, root: str = "") -> None:
    if os.path.isdir(path):
        return
    parent, name = os.path.split(path.rstrip(os.sep))
    if name == never:  # a process that still works on a removed store must not bring it back
        raise OSError(errno.ENOENT, "the store was removed")
    if parent:
        _make_folder(parent, mode, never, root)
    try:
        beneath.make(path, mode, root)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def remove_file(path: str, root: str = "") -> None:
    """Removes the file at `path`, so that it is gone after a power cut too. Raises StoreError. `root`: see `write_file`."""
    try:
        beneath.unlink(path, root)
    except OSError as error:
        raise StoreError(f"cannot remove {path}: {error.strerror}", _hint(error)) from None
    try:
        sync_folder(os.path.dirname(path))
    except OSError as error:
        raise StoreError(
            f"{path} was removed, but may reappear after a power failure: {error.strerror}", "run the command again"
        ) from None


def sync_folder(path: str) -> None:
    """Makes the names in the folder at `path` durable. Raises OSError."""
    fd = os.open(path or ".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _sync(fd)
    finally:
        os.close(fd)


def _write_temp(
    temp: str, pieces: Iterable[Piece], mode: int, changed_ns: int | None = None, root: str = ""
) -> os.stat_result:
    with suppress(FileNotFoundError):
        # A killed writer may have left a file of this name, and O_EXCL, which follows no link, would fail at it.
        beneath.unlink(temp, root)
    fd = beneath.open_file(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode, root)
    try:
        _write_all(fd, pieces)
        if changed_ns is not None:
            with beneath.at(temp, root) as (name, folder):
                os.utime(name, ns=(changed_ns, changed_ns), dir_fd=folder)
        # A rename does not wait for the bytes: without this flush, a power cut has left empty files on ext4.
        _sync(fd)
        return os.fstat(fd)
    finally:
        os.close(fd)


def _write_all(fd: int, pieces: Iterable[Piece]) -> None:
    """Writes the pieces in order; small ones are joined, to make fewer calls of the system."""
    from memcli.codec.window import ByteRange

    small = bytearray()
    for piece in chain.from_iterable(one if isinstance(one, ByteRange) else (one,) for one in pieces):
        if len(piece) < _SMALL_BYTES:
            small += piece
            if len(small) < _SMALL_BYTES:
                continue
            piece = b""  # noqa: PLW2901 - it is among the small ones
        write_whole(fd, small)
        write_whole(fd, piece)
        small = bytearray()
    write_whole(fd, small)


def write_whole(fd: int, data: bytes | memoryview | bytearray) -> None:
    """Writes all of `data`: one call of the system may write a part of it. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _sync(fd: int) -> None:
    if sys.platform == "darwin":  # pragma: no cover
        import fcntl

        with suppress(OSError):  # fsync of macOS leaves the bytes in the cache of the drive
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)


def _hint(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "free some space and run the command again; nothing was changed"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "check the permissions of the store; nothing was changed"
    return hint_of(error, "nothing was changed")


def remove_quietly(path: str, root: str = "") -> bool:
    """Removes the file at `path` if that is possible; returns whether it did."""
    try:
        beneath.unlink(path, root)
    except OSError:
        return False
    return True


def move_file(path: str, folder: str) -> str:
    """Moves the file at `path` into `folder`, under a free name; returns its new path. Raises StoreError."""
    make_folder(folder, 0o700)
    target = free_name(os.path.join(folder, os.path.basename(path)))
    try:
        beneath.replace(path, target)
        sync_folder(folder)
        sync_folder(os.path.dirname(path))
    except OSError as error:
        raise StoreError(f"cannot move {path} to {folder}: {error.strerror}", _hint(error)) from None
    return target


def free_name(path: str) -> str:
    """`path` if nothing exists there, else `path.N` with the first free number from 1."""
    number, free = 0, path
    while os.path.lexists(free):
        number += 1
        free = f"{path}.{number}"
    return free
