"""Files of a work tree and objects of git, read so that none, however odd, can hang, flood or mislead the reader."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

from memcli.beneath import open_file
from memcli.errors import ProviderError, UsageError

MAX_BYTES = 1 << 20
_BINARY_REACH = 8192
# O_NONBLOCK so that opening a FIFO returns at once; the flags that Windows lacks are 0 there.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class UnfitError(UsageError):
    """Why a file is not read: vanished, unreadable, link, special, huge, binary, encoding, empty."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"it cannot be stored: {reason}", "use a UTF-8 text file")
        self.reason = reason


def read_text(file: str, root: str) -> str:
    """The text, without byte order mark and with `\\n` as line end. Raises UnfitError."""
    return to_text(read_bytes(file, root))


def to_text(data: bytes) -> str:
    """`data` as text, without byte order mark and with `\\n` as line end. Raises UnfitError."""
    if b"\0" in data[:_BINARY_REACH]:
        raise UnfitError("binary")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnfitError("encoding") from None
    if not text.strip():
        raise UnfitError("empty")
    return with_newlines(text)


def with_newlines(text: str) -> str:
    """`text` with `\\n` as line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(file: str, root: str = "") -> bytes:
    """The content of a regular file of at most MAX_BYTES. Below the `root`, where there is one, no link is followed.
    Raises UnfitError."""
    try:
        descriptor = open_file(file, _FLAGS, root=root) if root else os.open(file, _FLAGS)
    except OSError as error:
        raise UnfitError(_reason(error)) from None
    try:
        # On the open descriptor: between a check by name and the open, the name may come to mean another file.
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise UnfitError("special")
        if facts.st_size > MAX_BYTES:
            raise UnfitError("huge")
        data = _read(descriptor)
    except OSError as error:
        raise UnfitError(_reason(error)) from None
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise UnfitError("huge")
    return data


def _read(descriptor: int) -> bytes:
    """At most one byte more than allowed: files in /proc tell no size, and a log may grow while it is read."""
    blocks = []
    room = MAX_BYTES + 1
    while room and (block := os.read(descriptor, room)):
        blocks.append(block)
        room -= len(block)
    return b"".join(blocks)


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "vanished"
    if error.errno == errno.ELOOP:
        return "link"
    if error.errno in (errno.ENXIO, errno.ENODEV):
        return "special"
    return "unreadable"


class Objects:
    """The objects of a repository, read one by one."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self._asked, self._told = process.stdin, process.stdout
        if sys.platform == "linux":
            import fcntl

            with suppress(OSError):  # of this user no pipe may be so large
                fcntl.fcntl(self._told, fcntl.F_SETPIPE_SZ, MAX_BYTES)

    def read(self, name: str) -> bytes | None:
        """What the object is, by its hash or as `commit:path`; None when there is none. Raises ProviderError."""
        size = self._size_of(name)
        return None if size is None else b"".join(self._read(size, size))

    def blocks(self, name: str, length: int) -> Iterator[bytes] | None:
        """The object as `read` gives it, in blocks of this length; the next object can be read after the last of them."""
        size = self._size_of(name)
        return None if size is None else self._read(size, length)

    def _size_of(self, name: str) -> int | None:
        """Asks for an object; its size, None when there is none."""
        if "\n" in name:
            raise ProviderError("paths with a line break are not supported", "rename the folder")
        try:
            self._asked.write(os.fsencode(name) + b"\n")
            self._asked.flush()
            facts = self._told.readline()
            return None if facts.endswith(b" missing\n") else int(facts.rsplit(b" ", 1)[-1])
        except (OSError, ValueError):
            raise _exited() from None

    def _read(self, size: int, length: int) -> Iterator[bytes]:
        left = size
        try:
            while left and (block := self._told.read(min(left, length))):
                left -= len(block)
                yield block
            is_whole = not left and bool(self._told.read(1))
        except (OSError, ValueError):
            is_whole = False
        if not is_whole:
            raise _exited()


def _exited() -> ProviderError:
    return ProviderError("git exited while memcli was reading objects", "run `git fsck`")
