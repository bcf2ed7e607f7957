"""Reading the files of a store: regular files only, through no link and no linked folder, and no more than a limit."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator

from memcli.beneath import open_file
from memcli.errors import StoreError

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # a pipe in the place of a file must not make anybody wait
_MAX_JSON = 256 << 20


def open_own(path: str, flags: int, mode: int = 0o600, root: str = "") -> int:
    """The file at `path`, opened. Raises OSError for a link, and for what is not a regular file. `root`: see `beneath.at`."""
    fd = open_file(path, flags | _NONBLOCK, mode, root)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return fd


def read_regular(path: str, limit: int, root: str = "") -> bytes | None:
    """The bytes of the file at `path`, at most `limit`; None when it is not there.

    Raises OSError for what is a link, a folder, a pipe or a device, none of which is opened for long.
    """
    try:
        fd = open_own(path, os.O_RDONLY, root=root)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read(limit)


def read_stored(path: str, hint: str = "check its permissions", limit: int = -1) -> bytes | None:
    """As `read_regular`, for a file that a command needs: raises StoreError with this hint where it cannot be read."""
    try:
        return read_regular(path, limit)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", hint) from None


def listed(folder: str) -> list[str]:
    """The names in a folder, sorted; none where there is no such folder. Raises StoreError."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreError(f"cannot read {folder}: {error.strerror}", "check its permissions") from None


def read_blocks(path: str, length: int) -> Iterator[bytes]:
    """The bytes of the file at `path`, in blocks of at most this length. Raises OSError as `read_regular` does, also where
    the file is not there."""
    with os.fdopen(open_own(path, os.O_RDONLY), "rb", buffering=0) as file:
        while block := file.read(length):
            yield block


def has_any(blocks: Iterable[bytes], wanted: Collection[bytes]) -> bool:
    """Whether one of `wanted` is in the bytes that come in blocks, also across two of them; all blocks are taken."""
    reach = max(map(len, wanted), default=1) - 1
    is_found, end = False, b""
    for block in blocks:
        if not is_found:
            data = end + block
            is_found = any(part in data for part in wanted)
            end = data[len(data) - reach :] if reach < len(data) else data
    return is_found


def _seek_and_read(fd: int, length: int, offset: int) -> bytes:  # pragma: no cover - Windows
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, length)


read_at: Callable[[int, int, int], bytes] = getattr(os, "pread", _seek_and_read)
"""Up to so many bytes of an open file from an offset on: (file, length, offset). Raises OSError."""


def read_json(path: str) -> object:
    """What the JSON file at `path` holds; None when it is not there, holds none, or is too large to be one of ours."""
    import json

    try:
        return json.loads(read_regular(path, _MAX_JSON) or b"null")
    except (OSError, ValueError, RecursionError):
        return None
