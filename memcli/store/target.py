"""The file, pipe or device that a user names for an answer."""

from __future__ import annotations

import os
from contextlib import suppress

from memcli.errors import StoreError
from memcli.store.atomic import make_folder, write_file


def write_out(path: str, data: bytes, mode: int | None = None) -> None:
    """Writes `data` where a user says: a file is replaced whole, with its folder; a pipe or device is written to.
    With `mode`, a file has these permissions, whatever the umask.

    Raises StoreError.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(fd, rest) :]
            finally:
                os.close(fd)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}", "use a file name") from None
        return
    full = os.path.realpath(path)
    if not path or path.endswith(("/", os.sep)):
        raise StoreError(f"cannot write {path!r}: it is a folder", "use a file name")
    make_folder(os.path.dirname(full), 0o755)
    write_file(full, data)
    if mode is not None:
        with suppress(OSError):  # as on a file system without permissions
            os.chmod(full, mode)
