"""The objects in a large JSON array, or one after the other in a file, read one at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import IO

from memcli.transcripts import reasons
from memcli.transcripts.values import MAX_BYTES

_BLOCK = 1 << 18
_FLAT = rb'[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+"'
_TO_OBJECT = re.compile(rb'(?:[^"{]++|"(?:[^"\\]++|\\.)*+")*+(["{])', re.DOTALL)
_LEAF = rb"[{\[](?:" + _FLAT + rb")*+[}\]]"
_BRANCH = rb"[{\[](?:" + _FLAT + b"|" + _LEAF + rb")*+[}\]]"
_TO_BRACKET = re.compile(b"(?:" + _FLAT + b"|" + _BRANCH + rb')*+(["{}\[\]])', re.DOTALL)
"""Up to a bracket that opens much or closes the object, or to the quote of a string whose end is not read yet.

What is nested only twice is stepped over at once. Nothing is tried in two ways: a long file takes linear time.
"""


def elements(file: IO[bytes], skipped: Counter[str]) -> Iterator[bytes]:
    """The objects at the top of `file` or of an array in it, each from brace to brace; those without an end are counted.

    Neither the array is held as a whole, nor an object of more than MAX_BYTES. Raises what reading raises.
    """
    objects = _Objects(file)
    while objects.find():
        reason = objects.read()
        if reason:
            skipped[reason] += 1
        else:
            yield objects.take()


class _Objects:
    """A window that moves over the file, from the beginning of an object at least as far as is read."""

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
            # After a quote, the rest of a string is to come; what is longer than an object may be is none.
            self._data = self._data[found.start(1) :] if found and len(self._data) <= MAX_BYTES else b""
            self._at = 0
            if not self._grow():
                return False

    def read(self) -> str:
        """Moves to the end of the object; the reason why it cannot be taken, or ""."""
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
                self._forget()
            if not self._grow():
                return reasons.CUT
        return reasons.TOO_LONG if is_long or self._at > MAX_BYTES else ""

    def take(self) -> bytes:
        """The object that was read."""
        data, self._data, self._at = self._data[: self._at], self._data[self._at :], 0
        return data

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
