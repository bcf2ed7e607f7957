"""Items: the objects of a space file as JSON, decoded one at a time where the frame of the file allows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from memcli.codec.canonical import decode
from memcli.codec.space import END, INDENT, SpaceForm, Span, encode_item, form_of, spans
from memcli.codec.window import ByteWindow
from memcli.errors import CorruptError
from memcli.model.memory import Json, Memory
from memcli.model.names import show


class TornError(Exception):
    """An item of a framed file is no JSON: only the file as a whole can say where."""


class OddError(Exception):
    """A file is not as memcli would write it."""


class Items:
    """Values that were decoded with the rest of their file, and the form in which they are memories."""

    def __init__(self, values: Sequence[Json], form: SpaceForm) -> None:
        self._values = values
        self.form = form

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, n: int) -> Json:
        return self._values[n]

    def memory(self, n: int, where: str) -> Memory:
        """An item as a memory. Raises CorruptError naming `where`, TornError."""
        item = self[n]
        if not isinstance(item, dict):
            raise CorruptError(f"{where}: not a JSON object")
        return self.form.from_json(item, where)

    def is_canonical(self, n: int, memory: Memory) -> bool:
        """Whether this item is the memory as memcli writes it in this form."""
        return self.stored(n) == encode_item(memory, self.form)

    def stored(self, n: int) -> bytes:  # noqa: ARG002 - see FramedItems
        """The bytes of an item in the file; none where that is not known."""
        return b""


class FramedItems(Items):
    """Items between the lines that frame them. To get one raises TornError if it is no JSON."""

    def __init__(self, data: bytes | ByteWindow, places: Sequence[Span], form: SpaceForm, where: str) -> None:
        super().__init__((), form)
        self._data = data
        self._places = places
        self._where = where

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, n: int) -> Json:
        try:
            return decode(self.stored(n), self._where)
        except CorruptError:
            raise TornError from None

    def stored(self, n: int) -> bytes:
        return self._data[self._places[n].start : self._places[n].end]


def framed(data: bytes | ByteWindow, where: str) -> tuple[dict[str, Any], bytes, FramedItems] | None:
    """The file without its objects, as JSON and as bytes, and these; None where it must be decoded whole."""
    found = spans(data)
    if found is None or any(data[one.end : other.start] != b"," + INDENT for one, other in pairwise(found)):
        return None
    rest = data[: found[0].start - len(INDENT)] + data[found[-1].end + len(END) - 1 :] if found else data[:]
    try:
        tree = decode(rest, where)
    except CorruptError:
        return None
    if not isinstance(tree, dict) or tree.get("objects") != [] or any(repeated(rest)):
        return None
    return tree, rest, FramedItems(data, found, form_of(tree), where)


def as_written(items: Items, where: str) -> Iterator[Memory]:
    """The memories that the items are, for as long as they stand in order and as memcli writes them. Raises OddError for one
    that does not, TornError, CorruptError."""
    last = "", ""
    for n in range(len(items)):
        memory = items.memory(n, where)
        if memory.order < last or not items.is_canonical(n, memory):
            raise OddError
        last = memory.order
        yield memory


def check_names_once(data: bytes, where: str, hint: str) -> None:
    """Raises CorruptError when an object of the JSON in `data` has one name twice: readers differ in which counts."""
    for name in repeated(data):
        raise CorruptError(f"{where}: an object has the field {show(name)} twice", hint)


def repeated(data: bytes) -> Iterator[str]:
    """The keys that stand twice in one object: parsers keep one of the two, and nobody is told."""
    found: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        known: dict[str, Any] = {}
        for key, value in items:
            if key in known:
                found.append(key)
            known[key] = value
        return known

    json.loads(data, object_pairs_hook=pairs)
    yield from found
