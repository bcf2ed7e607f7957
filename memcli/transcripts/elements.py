"""The objects in a large JSON array, or one after the other in a file, read one at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import IO, Any

from memcli.transcripts import reasons
from memcli.transcripts.values import MAX_BYTES, parse

_BLOCK = 1 << 18
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+(["{}\[\]])', re.DOTALL)
"""Up to the next bracket outside of a string, or to the quote of a string whose end is not read yet."""


def elements(file: IO[bytes], skipped: Counter[str]) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The objects at the top of `file` or of an array in it, as bytes and as values; what is none is counted.

    Neither the array is held as a whole, nor an object of more than MAX_BYTES. Raises what reading raises.
    """
    objects = _Objects(file)
    while objects.find():
        reason, data = objects.take()
        try:
            value = parse(data) if data else None
        except ValueError:
            value = None
        if isinstance(value, dict):
            yield data, value
        else:
            skipped[reason or reasons.CONVERSATION] += 1
        del value, data  # before the next ones are made


class _Objects:
    """A window that moves over the file, from the beginning of an object at least as far as is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._data = b""
        self._at = 0

    def find(self) -> bool:
        """Moves to the beginning of the next object; False when there is none."""
        while (place := self._data.find(b"{", self._at)) < 0:
            self._data, self._at = b"", 0
            if not self._grow():
                return False
        self._data, self._at = self._data[place:], 0
        return True

    def take(self) -> tuple[str, bytes]:
        """The object, or the reason why there is none."""
        depth = 0
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
                self._forget()
            if not self._grow():
                return reasons.CUT, b""
        data, self._data, self._at = self._data[: self._at], self._data[self._at :], 0
        return (reasons.TOO_LONG, b"") if is_long or len(data) > MAX_BYTES else ("", data)

    def _forget(self) -> None:
        """Keeps of what is read only whether a string is open, and whether its next character is escaped."""
        rest = self._data[self._at :]
        escapes = len(rest) - len(rest.rstrip(b"\\"))
        self._data = rest[:1] + (b"\\" if escapes % 2 else b"")
        self._at = 0

    def _grow(self) -> bool:
        """Reads more: twice as much when much is held, so that a long string is not scanned again too often."""
        block = self._file.read(max(_BLOCK, len(self._data)))
        self._data += block
        return bool(block)
