"""The zip of an export, read as it is; nothing is unpacked to disk."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from memcli.errors import CorruptError, UsageError
from memcli.model.names import show

MAX_BYTES = 4 << 30
MAX_RATIO = 500
"""How much longer than its archive the content may be: JSON gets some ten times shorter, a bomb a thousand times."""
_HARMLESS_BYTES = 64 << 20
MAX_DIRECTORY = 32 << 20
"""The list of the files in an archive is held in memory, at some ten times its size."""
_END = b"PK\x05\x06"
_END_REACH = (1 << 16) + 22
_ASK = "export it again, or unpack it and name the files"


@contextmanager
def opened(file: IO[bytes], path: str) -> Iterator[zipfile.ZipFile]:
    """The archive, once it is known to be harmless. Raises UsageError, CorruptError."""
    where = show(path)
    if _directory_size(file) > MAX_DIRECTORY:
        raise CorruptError(f"{where}: too many files in the archive", "unpack it and name the files")
    with damage_reported(path), zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            parts = info.filename.replace("\\", "/").split("/")
            if ".." in parts or info.filename.startswith(("/", "\\")):
                raise CorruptError(f"{where}: unsafe name in the archive: {show(info.filename)}", _ASK)
        yield archive


def members(archive: zipfile.ZipFile, path: str) -> list[zipfile.ZipInfo]:
    """The JSON files in the archive, by name. Raises UsageError, CorruptError."""
    where = show(path)
    found = sorted((i for i in archive.infolist() if i.filename.lower().endswith(".json")), key=lambda i: i.filename)
    if not found and any(i.filename.lower().endswith(".zip") for i in archive.infolist()):
        raise UsageError(f"{where}: holds another archive", "unpack it and name the inner one")
    if any(info.flag_bits & 1 for info in found):
        raise UsageError(f"{where}: the archive is encrypted", "unpack it with its password and name the files")
    size = sum(info.file_size for info in found)
    if size > MAX_BYTES:
        raise CorruptError(f"{where}: unpacks to more than {MAX_BYTES >> 30} GiB", "unpack it and name the files")
    if size > _HARMLESS_BYTES and size > MAX_RATIO * sum(info.compress_size for info in found):
        raise CorruptError(f"{where}: unpacks to more than {MAX_RATIO} times its size", _ASK)
    return found


@contextmanager
def damage_reported(path: str) -> Iterator[None]:
    """Around all that reads an archive: its errors as ours."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise CorruptError(f"{show(path)}: damaged archive: {error}", _ASK) from None
    except NotImplementedError as error:
        raise UsageError(f"{show(path)}: the archive cannot be read: {error}", "unpack it and name the files") from None


def _directory_size(file: IO[bytes]) -> int:
    """How long the list of files is, as the end of the archive says."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_REACH))
    tail = file.read()
    file.seek(0)
    place = tail.rfind(_END)
    stated = int.from_bytes(tail[place + 12 : place + 16], "little") if place >= 0 else 0
    return min(stated, size)
