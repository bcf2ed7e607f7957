"""A memory to and from JSON: defaults are left out, unknown fields preserved, all fields checked.

Every memory is validated once when it enters a store: fields from a user or a program by `checked_fields`, whole memories from
another store by `check_memories`, which makes the same checks and those of ids, paths and hashes. `check store` makes the same
checks on the stored memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType

from memcli.clock import normalize_time
from memcli.codec.canonical import MEND, encode
from memcli.errors import CorruptError, UsageError
from memcli.model.memory import Json, Memory
from memcli.model.names import check_id, check_path, is_id, show, text_hash
from memcli.model.shapes import CORE_FIELDS, FIELDS, LIST_FIELDS, MEMORY_FIELDS, TIME, check_fields
from memcli.record import defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DELETED = "deleted"
"""The name of the field in a note of `metadata.conflicts` about a memory that one side edited and the other deleted."""
MAX_DEPTH = 60
"""The deepest nesting of objects and lists in a field."""
MAX_TEXT_BYTES = 1 << 20
MAX_BYTES = 16 << 20
"""The most bytes of all fields of a memory as JSON."""
_TEXTS = ("raw", *(name for name, row in FIELDS.items() if row.like))
_TIMES = frozenset(name for name, shape in MEMORY_FIELDS.items() if shape is TIME)
_TYPES: Mapping[str, tuple[type, ...]] = {
    name: {
        "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,),
        "object": (dict,),
    }[shape["type"]]
    for name, shape in MEMORY_FIELDS.items() if "type" in shape
}  # fmt: skip
_OPTIONAL: Mapping[str, Json] = {
    name: default for name, default in defaults(Memory).items() if name not in CORE_FIELDS and name != "extra"
}
CORE_DEFAULTS: Mapping[str, Json] = {
    name: list(default) if isinstance(default, tuple) else default
    for name, default in defaults(Memory).items() if name in CORE_FIELDS and default is not None
}  # fmt: skip
"""The core fields that have a default, as JSON."""
REQUIRED = tuple(name for name in CORE_FIELDS if name not in CORE_DEFAULTS)
"""The fields that every version of a space file has."""
_DEFAULTS = tuple(_OPTIONAL.values())
_core = attrgetter(*CORE_FIELDS)
_optional = attrgetter(*_OPTIONAL)


def memory_to_json(memory: Memory) -> dict[str, Json]:
    """The JSON object of a memory: all core fields, and others that differ from their default."""
    data = {**memory.extra, **dict(zip(CORE_FIELDS, _core(memory), strict=True))}
    values = _optional(memory)
    if values != _DEFAULTS:
        data.update((name, value) for name, value in zip(_OPTIONAL, values, strict=True) if value != _OPTIONAL[name])
    return data


def memory_from_json(data: Mapping[str, Json], where: str) -> Memory:
    """The memory that a stored object holds. Raises CorruptError naming `where` and the field.

    Checks the type of every known field, on which other code relies. Nested values were checked when they were stored
    (`checked_fields`).
    """
    for name in REQUIRED:
        if name not in data:
            raise CorruptError(f"{where}: {name} is missing", MEND)
    known: dict[str, Any] = {}
    extra: dict[str, Json] = {}
    for name, value in data.items():
        types = _TYPES.get(name)
        if types is None:
            (known if name == "content" else extra)[name] = value
        elif type(value) in types:
            known[name] = tuple(value) if name in LIST_FIELDS else value
            if name in _TIMES:
                try:  # in a hand-edited file; times are compared as text, so they must have one form
                    known[name] = normalize_time(value)
                except UsageError as error:
                    raise CorruptError(f"{where}: {name} is {error.message}", error.hint) from None
        else:
            raise CorruptError(f"{where}: {name} has the wrong type", "correct the file; see `memcli schema object`")
    if not is_id(known["id"]):
        raise CorruptError(f"{where}: not an id: {show(known['id'])}", MEND)
    return Memory(**known, extra=extra)


def checked_fields(data: Mapping[str, Json]) -> dict[str, Json]:
    """The fields `data` with times and the path normalized, without nulls.

    Raises UsageError naming the first field with an invalid value.
    """
    given = {name: value for name, value in data.items() if value is not None}
    for name, value in given.items():
        if isinstance(value, (dict, list)) and _is_deep(value):
            raise UsageError(f"{show(name)} is nested deeper than {MAX_DEPTH}", "flatten it, or store it as text")
    check_fields(given, MEMORY_FIELDS)
    for name in _TIMES:
        if name in given:
            given[name] = normalize_time(given[name])
    for name in LIST_FIELDS:
        if name in given:
            given[name] = tuple(given[name])
    for name, check in (("path", check_path), ("id", check_id)):
        if name in given:
            given[name] = check(given[name])
    if "\0" in given.get("raw", ""):
        raise UsageError("the text contains NUL characters: it looks binary", "store text, or the path of the file")
    for name in _TEXTS:
        size = len(given.get(name, "").encode())
        if size > MAX_TEXT_BYTES:
            what = "the text" if name == "raw" else name
            raise UsageError(
                f"{what} is {size / 1e6:.1f} MB; a text of a memory holds at most {MAX_TEXT_BYTES >> 20} MiB",
                "store the relevant part, or run `memcli ingest` on the file",
            )
    # `str` is much faster than `encode`, and each of its characters is at most 64 bytes of indented JSON.
    if len(str(given)) > MAX_BYTES >> 6 and (size := len(encode(given))) > MAX_BYTES:
        raise UsageError(
            f"the memory is {size / 1e6:.1f} MB; one holds at most {MAX_BYTES >> 20} MiB", "store it in parts"
        )
    check_validity(given)
    return given


def check_validity(fields: Mapping[str, Any]) -> None:
    """Raises UsageError when `valid_until` is before `valid_from`."""
    start, end = fields.get("valid_from"), fields.get("valid_until")
    if start and end and end < start:
        raise UsageError(f"valid_until {end} is before valid_from {start}", "swap them, or omit one")


def check_memory(memory: Memory) -> None:
    """Checks the fields of a stored memory, which must be normalized already. Raises UsageError."""
    if checked_fields(memory_to_json(memory))["path"] != memory.path:
        raise UsageError(f"the path {show(memory.path)} is not in Unicode normal form C")


def right_hash(memory: Memory) -> str:
    """The correct hash of the text and content of a memory; empty for a memory without a hash."""
    content = encode(memory.content) if memory.content is not None else b""
    return text_hash(memory.raw, content) if memory.hash else ""


AT_ITS_SOURCE = "correct it where it comes from: `memcli check store` there lists all that is wrong"
WRONG_HASH = "its hash does not match its text"
SAME_ID = "another memory has the same id"


def belongs(path: str, name: str) -> str:
    """The message about a memory whose path another one has, the one with the id `name`."""
    return f"its path {path!r} belongs to {name}"


def check_memories(
    memories: Iterable[Memory],
    where: str,
    *,
    with_hashes: bool = True,
    checked: Mapping[str, Memory] = MappingProxyType({}),
) -> None:
    """Checks the memories of a space from another store, each by itself, and their ids and paths for duplicates. Memories
    equal to those in `checked`, by id, are only checked for duplicates. Raises CorruptError naming `where`, the memory and
    the fault."""
    ids: set[str] = set()
    paths: dict[str, str] = {}
    for memory in memories:
        try:
            if checked.get(memory.id) != memory:
                check_memory(memory)
                if with_hashes and right_hash(memory) not in ("", memory.hash):
                    raise UsageError(WRONG_HASH)
            if memory.id in ids:
                raise UsageError(SAME_ID)
            if (other := paths.setdefault(memory.path, memory.id)) != memory.id:
                raise UsageError(belongs(memory.path, other))
        except UsageError as error:
            raise CorruptError(f"{where}: memory {memory.id}: {error.message}", AT_ITS_SOURCE) from None
        ids.add(memory.id)


def check_hashes(memories: Iterable[Memory], where: str) -> None:
    """Raises CorruptError naming `where` and the first memory whose hash does not match its text."""
    for memory in memories:
        if right_hash(memory) not in ("", memory.hash):
            raise CorruptError(f"{where}: memory {memory.id}: {WRONG_HASH}", AT_ITS_SOURCE)


def _is_deep(value: Json) -> bool:
    """Whether a value is nested deeper than MAX_DEPTH. Goes level by level, since recursion could exhaust the stack."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list, tuple))
        ]
        if not level:
            return False
    return True
