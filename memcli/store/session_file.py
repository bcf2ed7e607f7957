"""One version of the file of a session, held open: what is appended or replaced later does not change what it reads.

The lines that are added to the file of a session, and which messages of an import are new.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

from memcli.codec.session import (
    MAX_LINE,
    MEND,
    VERSION,
    FileEnd,
    decode_entry,
    decode_header,
    encode_entry,
    end_of,
    with_end,
)
from memcli.digests import blake2b, sha256
from memcli.errors import CorruptError, MemcliError, NotFoundError, StoreError
from memcli.model.conversation import ACTIVE, Entry, Message, Session, StateChange
from memcli.record import replace
from memcli.store.reading import open_own, read_at

_TAIL_BYTES = 1 << 12
_PART_BYTES = 1 << 20


class SessionFile:
    """The file at `path`, which messages name `where`. Raises NotFoundError, StoreError."""

    def __init__(self, path: str, where: str) -> None:
        self._where = where
        try:
            self._file = os.fdopen(open_own(path, os.O_RDONLY), "rb")
        except FileNotFoundError:
            raise NotFoundError(f"no session at {where}", "`memcli session list` lists the sessions") from None
        except OSError as error:
            raise StoreError(f"cannot read {where}: {error.strerror}", "replace it with a regular file") from None
        self.status = os.fstat(self._file.fileno())

    def session(self) -> Session:
        """The session, from the first line and the last ones. Raises CorruptError."""
        return self.ends()[0]

    def ends(self) -> tuple[Session, int]:
        """The session, and how many bytes of the file are whole lines. Raises CorruptError."""
        header = self.header()
        if header.version > VERSION:
            return header, self.status.st_size
        length = _TAIL_BYTES
        while True:
            start = max(0, self.status.st_size - length)
            end = end_of(self._read_at(self.status.st_size - start, start), start, self._where)
            if end is not None:
                return with_end(header, end), end.size
            if length > 2 * MAX_LINE:
                raise _too_long(self._where)
            length *= 8

    def header(self) -> Session:
        """The session as its first line says. Raises CorruptError."""
        self._file.seek(0)
        line = self._file.readline(_PART_BYTES)
        if not line.endswith(b"\n"):
            raise CorruptError(f"{self._where}:1: the first line is not whole", MEND)
        return decode_header(line, f"{self._where}:1")

    def entries(self) -> Iterator[Entry]:
        """The messages and changes of state, in order. Raises CorruptError naming the line that cannot be read."""
        for number, line in self.lines():
            if number > 1:
                yield decode_entry(line, f"{self._where}:{number}")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The whole lines with their numbers, from 1. Raises CorruptError for one that is too long."""
        self._file.seek(0)
        number = 0
        while line := self._file.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise _too_long(f"{self._where}:{number}")
            if line.endswith(b"\n"):
                yield number, line

    def tail(self, count: int) -> list[Message]:
        """The last `count` messages, from as little of the end of the file as holds them. Raises CorruptError."""
        size, length = self.ends()[1], _TAIL_BYTES
        while True:
            start = max(0, size - length)
            lines = self._read_at(size - start, start).split(b"\n")[1:-1]  # the first is the header, or cut
            if not start or len(lines) >= count:
                found = (decode_entry(line, self._where) for line in lines)
                messages = [entry for entry in found if isinstance(entry, Message)]
                if not start or len(messages) >= count:
                    return messages[len(messages) - count :] if count < len(messages) else messages
            length *= 8

    def parts(self, size: int) -> Iterator[bytes]:
        """The first `size` bytes, in parts."""
        for start in range(0, size, _PART_BYTES):
            yield self._read_at(min(_PART_BYTES, size - start), start)

    def digest(self) -> str:
        """SHA-256 over the bytes of the file."""
        digest = sha256()
        for part in self.parts(self.status.st_size):
            digest.update(part)
        return digest.hexdigest()

    def stamp(self) -> str:
        """What is other after every change of the file."""
        return f"{self.status.st_ino}-{self.status.st_size}-{self.status.st_mtime_ns}"

    def is_same(self, path: str) -> bool:
        """Whether the file at `path` is this version still."""
        with suppress(OSError):
            now = os.stat(path, follow_symlinks=False)
            return os.path.samestat(now, self.status) and now.st_size == self.status.st_size
        return False

    def _read_at(self, length: int, start: int) -> bytes:
        return read_at(self._file.fileno(), length, start)

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _too_long(where: str) -> MemcliError:
    return CorruptError(f"{where}: a line of more than {MAX_LINE >> 20} MiB", MEND)


Clean = Callable[[Message], Message]


class SessionLines:
    """The lines of what is added to a session, numbered, and the session as it is with them."""

    def __init__(self, session: Session) -> None:
        self._session, self._number = session, session.messages
        self._last: Entry | None = None

    @property
    def added(self) -> int:
        """How many messages were added."""
        return self._number - self._session.messages

    def line(self, entry: Entry) -> bytes:
        """The line of the next entry."""
        if isinstance(entry, Message):
            self._number += 1
            entry = replace(entry, number=self._number)
        self._last = entry
        return encode_entry(entry) + b"\n"

    def session(self) -> Session:
        """The session with all of them."""
        if self._last is None:
            return self._session
        change = self._last if isinstance(self._last, StateChange) else StateChange(ACTIVE)
        return with_end(self._session, FileEnd(self._number, change))


def unknown(messages: Iterable[Message], clean: Clean, known: set[int]) -> Iterator[Message]:
    """The messages whose keys are not among the `known`, each key once. What is known is not cleaned again."""
    for message in messages:
        if short_key(message.key) in known:
            continue
        cleaned = clean(message)
        key = short_key(cleaned.key)
        if key not in known:
            known.add(key)
            yield cleaned


def short_key(key: str) -> int:
    """A digest that takes less memory than the key: a session may have a million messages."""
    return int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big")
