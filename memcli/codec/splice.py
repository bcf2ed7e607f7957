"""Lookups and changes in a canonical space file by its bytes, without parsing the memories that a change does not touch.

In canonical JSON a newline is always structure (text escapes it), each field of a memory begins a line, and indentation shows
the depth. So a search for `\\n      "path": "x"` finds the memory at path x and nothing else, and memories can be replaced as
ranges of bytes. The result has the same bytes as an encoding of the whole space.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from posixpath import commonprefix

from memcli.codec.canonical import decode, encode
from memcli.codec.space import (
    CLOSE,
    END,
    INDENT,
    OBJECTS,
    OPEN,
    USUAL_END,
    SpaceForm,
    decode_header,
    decode_item,
    decode_space,
    encode_item,
    encode_space,
    may_have,
    of_memory,
    spans,
)
from memcli.codec.window import HELD, ByteWindow, Piece
from memcli.errors import CorruptError
from memcli.model.links import refers_to
from memcli.model.memory import Memory
from memcli.model.space import Change, Space, under_any
from memcli.record import replace

Range = tuple[int, int]
"""The bytes of one or several adjacent memories: from the newline before the first brace to the last brace."""

_ID, _PATH, _TIME = map(of_memory, ("id", "path", "updated_at"))
_HASH = b'"hash": '
_FEW = 4  # up to so many searches of the file cost less than a table of all values of a key
_FEW_WINDOWED = 8  # the same for a file read by windows, which a table would have to read whole


# Parsing and encoding a file of 10,000 memories for one change takes over twenty times the CPU of a splice.
class SpliceShelf:
    """A shelf on the bytes of a canonical space file, or on a window that reads them. `where` names the file in errors.

    Raises CorruptError where the layout is not canonical."""

    def __init__(self, data: bytes | ByteWindow, where: str) -> None:
        self._file = data
        self._data = data  # replaced by all bytes when a table is made
        self._where = where
        self._start = data.find(OBJECTS) + len(OBJECTS)
        if self._start < len(OBJECTS):
            raise self._damaged()
        self._end = self._start
        if data[self._start : self._start + 1] != b"]":
            end = data.rfind(USUAL_END, self._start)  # the end of the list is near the end of the file
            end = data.find(CLOSE + END, self._start) if end < 0 else end
            if end < 0:
                raise self._damaged()
            self._end = end + len(CLOSE)
        self._size = -1
        # A small file is held whole, since many lookups by windows cost more than one pass over memory.
        self._few = _FEW if len(data) <= HELD else _FEW_WINDOWED
        self._searched: dict[bytes, list[int]] = {}
        self._tables: dict[bytes, dict[bytes, list[int]]] = {}
        self._header: Space | None = None
        self._last: Range = (0, 0)  # so that a huge memory is not searched again for each one added beside it
        # The start, the end and the order of the memory at an offset: those of a write are looked for in the same places.
        self._probed: dict[int, tuple[int, int, tuple[str, str]]] = {}

    @property
    def header(self) -> Space:
        if self._header is None:
            self._header = decode_header(self._data[: self._start], self._data[self._end :], self._where)
        return self._header

    @property
    def size(self) -> int:
        if self._size < 0:
            self._size = self._data.count(OPEN, self._start, self._end)
        return self._size

    def get(self, name: str) -> Memory | None:
        place = self._place(encode(name))
        return None if place is None else self._memory(place)

    def at(self, path: str) -> Memory | None:
        return next((memory for memory in self._having(_PATH, path) if memory.path == path), None)

    def find_by_hash(self, digest: str) -> list[Memory]:
        return [memory for memory in self._having(_HASH, digest) if memory.hash == digest]

    def ids_with_prefix(self, text: str) -> list[str]:
        ids = [str(decode(value, self._where)) for value, _ in self._values(_ID)]
        return sorted(name for name in ids if name.startswith(text))

    def under(self, *prefixes: str) -> list[Memory]:
        is_in = under_any(prefixes)
        # All are mostly below one folder, which has few of the memories.
        shared = commonprefix([prefix.strip("/") for prefix in prefixes])
        start = _PATH + encode(shared).removesuffix(b'"')
        values = ((self._value(_PATH, at), at) for at in self._all(start))
        places = [at for value, at in values if is_in(str(decode(value, self._where)))]
        return sorted((self._memory(self._around(at)) for at in places), key=lambda m: (m.path, m.id))

    def memories(self, *keys: str) -> Iterator[Memory]:
        for start, end in spans(self._data) or ():
            if may_have(self._data[start:end], keys):
                yield self._memory((start, end))

    def referring(self, ids: Collection[str]) -> list[Memory]:
        wanted = frozenset(ids)
        if len(wanted) > _FEW:
            found = self.memories("links", "superseded_by")
        else:  # a memory that refers to an id has it as a value, as has the memory of that id
            places = {self._around(at) for name in wanted for at in self._all(b": " + encode(name))}
            found = (self._memory(place) for place in sorted(places))
        return sorted((memory for memory in found if refers_to(memory, wanted)), key=lambda memory: memory.order)

    def load(self) -> Space:
        return decode_space(self._data[:], self._where)

    def stored(self, name: str) -> bytes:
        """The bytes of the memory with the id `name`, from brace to brace; empty when there is none."""
        place = self._place(encode(name))
        return b"" if place is None else self._data[place[0] + len(INDENT) : place[1]]

    def spliced(self, change: Change) -> list[Piece]:
        """The file after `change`, in pieces."""
        ids = {*change.drop, *(m.id for m in change.put)}
        gone = sorted(place for name in ids if (place := self._place(encode(name))) is not None)
        put = sorted(change.put, key=lambda m: m.order)
        form = SpaceForm(self.header.name)
        new = [(self._position(m.order), INDENT + encode_item(m, form)) for m in put]
        frame = encode_space(replace(change.header or self.header, name=self.header.name, objects=()))
        cut = frame.index(OBJECTS) + len(OBJECTS)
        pieces: list[Piece] = [frame[:cut]]
        for item in self._woven(gone, new):
            pieces += [b",", item] if len(pieces) > 1 else [item]
        return [*pieces, b"\n  " if len(pieces) > 1 else b"", frame[cut:]]

    def _woven(self, gone: Sequence[Range], new: Sequence[tuple[int, bytes]]) -> Iterator[Piece]:
        """The ranges between the removed ones `gone`, with each of the `new` memories inserted at its position."""
        n = 0
        begins = [self._start, *(end + 1 for _, end in gone)]
        ends = [*(start - 1 for start, _ in gone), self._end]
        for start, end in zip(begins, ends, strict=True):
            if start >= end:
                continue
            while n < len(new) and new[n][0] < end:
                position, item = new[n]
                if position > start:
                    yield self._piece(start, position - 1)
                    start = position  # noqa: PLW2901 - what is left of the range
                yield item
                n += 1
            yield self._piece(start, end)
        yield from (item for _, item in new[n:])

    def _piece(self, start: int, end: int) -> Piece:
        file = self._file
        return memoryview(file)[start:end] if isinstance(file, bytes) else file.part(start, end)

    def _position(self, order: tuple[str, str]) -> int:
        """The offset of the first memory that sorts after `order`, by binary search; the end of the list when there is none."""
        low, high = self._start, self._end
        probe = max(low, high - 1)  # a new memory has the latest time, so it mostly belongs at the end
        while low < high:
            if probe not in self._probed:
                start, end = self._around(probe)
                found = [self._data.find(key, start, end) for key in (_TIME, _ID)]
                if min(found) < 0:
                    raise self._damaged()
                time, name = (self._value(key, at) for key, at in zip((_TIME, _ID), found, strict=True))
                self._probed[probe] = start, end, (str(decode(time, self._where)), str(decode(name, self._where)))
            start, end, known = self._probed[probe]
            if known < order:
                low = min(end + 1, self._end)
            else:
                high = start
            probe = (low + high) // 2
        return low

    def _place(self, name: bytes) -> Range | None:
        at = next(self._search(_ID, name), None)
        return None if at is None else self._around(at)

    def _having(self, key: bytes, text: str) -> Iterator[Memory]:
        """Memories in which `key`, at any depth, has the value `text`; the caller checks the field."""
        return (self._memory(self._around(at)) for at in self._search(key, encode(text)))

    def _search(self, key: bytes, value: bytes) -> Iterator[int]:
        """The offsets at which `key` has `value`, searched lazily; by a table of all values after `_few` different searches."""
        wanted = key + value
        if wanted not in self._searched and len(self._searched) >= self._few:
            self._data = self._data[:]
            if key not in self._tables:
                table = self._tables.setdefault(key, {})
                for one, at in self._values(key):
                    table.setdefault(one, []).append(at)
            yield from self._tables[key].get(value, ())
            return
        found = self._searched.setdefault(wanted, [])
        n = 0
        while True:
            if n == len(found):
                found.append(self._data.find(wanted, found[-1] + 1 if found else self._start, self._end))
            if found[n] < 0:
                return
            yield found[n]
            n += 1

    def _all(self, text: bytes) -> Iterator[int]:
        at = self._start
        while (at := self._data.find(text, at, self._end)) >= 0:
            yield at
            at += len(text)

    def _values(self, key: bytes) -> Iterator[tuple[bytes, int]]:
        return ((self._value(key, at), at) for at in self._all(key))

    def _value(self, key: bytes, at: int) -> bytes:
        start = at + len(key)
        if key == _HASH:  # other keys may follow on the same line; a digest has no character that JSON escapes
            return self._data[start : self._data.index(b'"', start + 1) + 1]
        return self._data[start : self._data.index(b"\n", start)].removesuffix(b",")

    def _around(self, at: int) -> Range:
        """The range of the memory around the offset `at`."""
        if self._last[0] <= at < self._last[1]:
            return self._last
        start = self._data.rfind(OPEN, self._start, at + len(OPEN))
        end = -1 if start < 0 else self._data.find(CLOSE, start, self._end)
        if end < 0:
            raise self._damaged()
        self._last = start, end + len(CLOSE)
        return self._last

    def _memory(self, place: Range) -> Memory:
        return decode_item(self._data[place[0] : place[1]], SpaceForm(self.header.name), self._where)

    def _damaged(self) -> CorruptError:
        return CorruptError(f"{self._where} changed while it was being read", "run the command again")
