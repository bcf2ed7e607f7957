"""The file of a transcript, read with bounded memory: line by line, object by object, or as the zip of an export."""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any

from memcli.errors import CorruptError, NotFoundError, StoreError, UsageError, hint_of
from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.values import MAX_BYTES, object_in
from memcli.model.names import readable, show

BLOCK = 1 << 18
# O_NONBLOCK so that opening a FIFO returns at once; the flags that Windows lacks are 0 there.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 1 << 20
_HEAD_LINES = 50
_PART = re.compile(r"(.+)#(ses_\w+)", re.DOTALL | re.ASCII)


def open_file(path: str) -> IO[bytes]:
    """A regular file, opened for reading. Raises NotFoundError, UsageError, StoreError."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"{show(path)}: no such file", "check the path") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    # The descriptor is checked, not the path, which may lead to another file by now.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"{show(path)}: not a regular file", "name a transcript or an export")
    return open(descriptor, "rb", buffering=BLOCK)


def read_lines(path: str, skipped: Counter[str], reach: int | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects in the lines of a file, each with its offset; other lines are counted. Reads the first `reach` bytes, or
    all of them.

    A line longer than MAX_BYTES is counted without being held in memory, and uses up nothing of `reach`. Raises what
    `open_file` raises.
    """
    with open_file(path) as file:
        offset = left_out = 0
        try:
            while (reach is None or offset - left_out < reach) and (line := file.readline(MAX_BYTES + 1)):
                value = object_on(line, skipped, is_first=offset == 0) if len(line) <= MAX_BYTES else None
                if value is not None:
                    yield offset, value
                elif len(line) > MAX_BYTES:
                    skipped[reasons.TOO_LONG] += 1
                    while line and not line.endswith(b"\n"):
                        line = file.readline(BLOCK)
                    # Otherwise a first line that is too long would hide which format the file has.
                    left_out += file.tell() - offset
                offset = file.tell()
        except OSError as error:
            raise _unreadable(path, error) from None


def head_lines(path: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in the first lines. Raises what `open_file` raises."""
    return (line for _, line in islice(read_lines(path, Counter(), _HEAD_BYTES), _HEAD_LINES))


def part_of(path: str) -> tuple[str, str]:
    """The file and the id in FILE#ID, which names a session of a database; the path and "" for any other path."""
    found = None if os.path.lexists(path) else _PART.fullmatch(path)
    return (found[1], found[2]) if found else (path, "")


def stem_of(path: str) -> str:
    """The name of a file without its folder and extension, as readable text."""
    return readable(os.path.splitext(os.path.basename(path))[0])


def object_on(line: bytes, skipped: Counter[str], *, is_first: bool = False) -> dict[str, Any] | None:
    """The JSON object on a line, or None; a line that is neither an object nor blank is counted."""
    data = line.removeprefix(_MARK) if is_first else line
    if not data or data.isspace():
        return None
    return object_in(data, skipped, reasons.MALFORMED if line.endswith(b"\n") else reasons.CUT)


def _unreadable(path: str, error: Exception) -> StoreError:
    if not isinstance(error, OSError):
        return StoreError(f"{show(path)}: cannot be read: {error}", "check the path")
    return StoreError(f"{show(path)}: cannot be read: {error.strerror}", hint_of(error, "check the permissions"))


_BLOCK = 1 << 18
_FLAT = rb'[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+"'
_TO_OBJECT = re.compile(rb'(?:[^"{]++|"(?:[^"\\]++|\\.)*+")*+(["{])', re.DOTALL)
_LEAF = rb"[{\[](?:" + _FLAT + rb")*+[}\]]"
_BRANCH = rb"[{\[](?:" + _FLAT + b"|" + _LEAF + rb")*+[}\]]"
_TO_BRACKET = re.compile(b"(?:" + _FLAT + b"|" + _BRANCH + rb')*+(["{}\[\]])', re.DOTALL)
"""Matches up to a bracket that opens deep nesting or closes the object, or to the quote of a string whose end is not read yet."""
# Objects that are nested only twice are matched at once, for speed. All repetitions are possessive: without backtracking a
# long file takes linear time.


def elements(file: IO[bytes], skipped: Counter[str]) -> Iterator[bytes]:
    """The objects at the top level of `file`, or of an array in it, each from brace to brace; those without an end are counted.

    Neither the array nor an object of more than MAX_BYTES is held in memory. Raises what reading raises.
    """
    window = _Window(file)
    while window.find():
        reason, data = window.read()
        if reason:
            skipped[reason] += 1
        else:
            yield data


class _Window:
    """The part of a file that is in memory: it begins at the object that is being read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._data = b""
        self._at = 0

    def find(self) -> bool:
        """Moves to the beginning of the next object; False when there is none."""
        while True:
            found = _TO_OBJECT.match(self._data, self._at)
            if found and found[1] == b"{":
                self._data, self._at = self._data[found.start(1) :], 0
                return True
            # A match at a quote is a string that is not read to its end; one longer than an object may be is dropped.
            self._data = self._data[found.start(1) :] if found and len(self._data) <= MAX_BYTES else b""
            self._at = 0
            if not self._grow():
                return False

    def read(self) -> tuple[str, bytes]:
        """Moves behind the object. Returns "" and its bytes, or the reason why it is skipped and nothing."""
        depth = self._at = 1
        is_long = False
        while True:
            found = _TO_BRACKET.match(self._data, self._at)
            self._at = found.start(1) if found else len(self._data)
            if found and found[1] != b'"':
                self._at += 1
                depth += 1 if found[1] in b"{[" else -1
                if not depth:
                    break
                continue
            if is_long or len(self._data) > MAX_BYTES:
                is_long = True
                # Only the nesting is followed from here on: whether a string is open, and its next character escaped.
                rest = self._data[self._at :]
                escapes = len(rest) - len(rest.rstrip(b"\\"))
                self._data, self._at = rest[:1] + (b"\\" if escapes % 2 else b""), 0
            if not self._grow():
                return reasons.CUT, b""
        if is_long or self._at > MAX_BYTES:
            return reasons.TOO_LONG, b""
        data, self._data, self._at = self._data[: self._at], self._data[self._at :], 0
        return "", data

    def _grow(self) -> bool:
        """Reads a block; returns False at the end of the file."""
        # The window doubles: with blocks of one size, a long string would be scanned again for each of them.
        block = self._file.read(max(_BLOCK, len(self._data)))
        self._data += block
        return bool(block)


MAX_UNPACKED = 4 << 30
# JSON is compressed some ten times, a zip bomb a thousand times.
MAX_RATIO = 500
"""The largest content of an archive, as a multiple of its compressed size."""
_HARMLESS_BYTES = 64 << 20
# `zipfile` holds the directory in memory, at some ten times its size.
MAX_DIRECTORY = 32 << 20
"""The largest directory of an archive, in bytes."""
_END = b"PK\x05\x06"
_END_REACH = (1 << 16) + 22
_ASK = "export it again, or unpack it and name the files"


@contextmanager
def open_archive(file: IO[bytes], path: str) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """The archive, if its names and sizes are safe, and its JSON files by name. Raises UsageError, CorruptError."""
    where = show(path)
    # `zipfile` reads the directory when it opens an archive, so its size is read here before, from the end of the archive.
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_REACH))
    tail = file.read()
    file.seek(0)
    place = tail.rfind(_END)
    stated = int.from_bytes(tail[place + 12 : place + 16], "little") if place >= 0 else 0
    if min(stated, size) > MAX_DIRECTORY:
        raise CorruptError(f"{where}: too many files in the archive", "unpack it and name the files")
    with damage_reported(path), zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            parts = info.filename.replace("\\", "/").split("/")
            if ".." in parts or info.filename.startswith(("/", "\\")):
                raise CorruptError(f"{where}: unsafe name in the archive: {show(info.filename)}", _ASK)
        named = sorted(archive.infolist(), key=lambda info: info.filename)
        found = [info for info in named if info.filename.lower().endswith(".json")]
        if not found and any(info.filename.lower().endswith(".zip") for info in named):
            raise UsageError(f"{where}: holds another archive", "unpack it and name the inner one")
        if any(info.flag_bits & 1 for info in found):
            raise UsageError(f"{where}: the archive is encrypted", "unpack it with its password and name the files")
        size = sum(info.file_size for info in found)
        if size > MAX_UNPACKED:
            raise CorruptError(
                f"{where}: unpacks to more than {MAX_UNPACKED >> 30} GiB", "unpack it and name the files"
            )
        if size > _HARMLESS_BYTES and size > MAX_RATIO * sum(info.compress_size for info in found):
            raise CorruptError(f"{where}: unpacks to more than {MAX_RATIO} times its size", _ASK)
        yield archive, found


@contextmanager
def damage_reported(path: str) -> Iterator[None]:
    """Turns the errors of reading an archive into CorruptError and UsageError."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise CorruptError(f"{show(path)}: damaged archive: {error}", _ASK) from None
    except NotImplementedError as error:
        raise UsageError(f"{show(path)}: the archive cannot be read: {error}", "unpack it and name the files") from None
