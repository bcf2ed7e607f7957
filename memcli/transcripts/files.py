"""The file of a transcript: opened with care, and read line by line."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

from memcli.errors import NotFoundError, StoreError, UsageError, hint_of
from memcli.model.names import readable, show
from memcli.transcripts import reasons
from memcli.transcripts.values import MAX_BYTES, object_in

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
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"{show(path)}: not a regular file", "name a transcript or an export")
    return open(descriptor, "rb", buffering=BLOCK)


def read_lines(path: str, skipped: Counter[str], reach: int | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects in the lines, each with its offset; what is none is counted. `reach` is how much of it to read.

    A line longer than MAX_BYTES is never held, and is nothing of what `reach` is for. Raises what `open_file` raises.
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
                    _skip_line(file, line)
                    left_out += file.tell() - offset
                offset = file.tell()
        except OSError as error:
            raise _unreadable(path, error) from None


def head_lines(path: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in the first lines. Raises what `open_file` raises."""
    return (line for _, line in islice(read_lines(path, Counter(), _HEAD_BYTES), _HEAD_LINES))


def part_of(path: str) -> tuple[str, str]:
    """A file, and the id of the one conversation in it that is meant, or "": FILE#ID names a session of a database."""
    found = None if os.path.lexists(path) else _PART.fullmatch(path)
    return (found[1], found[2]) if found else (path, "")


def stem_of(path: str) -> str:
    """The name of a file without its folder and ending, as text."""
    return readable(os.path.splitext(os.path.basename(path))[0])


def object_on(line: bytes, skipped: Counter[str], *, is_first: bool = False) -> dict[str, Any] | None:
    """The JSON object on a line, or None; what is no object, and no blank line, is counted."""
    data = line.removeprefix(_MARK) if is_first else line
    if not data or data.isspace():
        return None
    return object_in(data, skipped, reasons.MALFORMED if line.endswith(b"\n") else reasons.CUT)


def _skip_line(file: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(BLOCK)


def _unreadable(path: str, error: Exception) -> StoreError:
    if not isinstance(error, OSError):
        return StoreError(f"{show(path)}: cannot be read: {error}", "check the path")
    return StoreError(f"{show(path)}: cannot be read: {error.strerror}", hint_of(error, "check the permissions"))
