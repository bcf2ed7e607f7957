"""A memory to and from JSON: defaults left out, unknown fields kept, every field checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.clock import normalize_time
from memcli.codec.canonical import MEND
from memcli.errors import CorruptError, UsageError
from memcli.model.memory import Json, Memory
from memcli.model.names import is_id, show
from memcli.model.shapes import CORE_FIELDS, MEMORY_FIELDS, TIME, check_fields
from memcli.record import defaults
from memcli.regex import regex

MAX_DEPTH = 60
"""How deep a field may be nested, in objects and lists."""
LIST_FIELDS = ("tags", "links", "triggers", "chunks", "context", "anchors")
_NORMAL_TIME = regex(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ\Z")  # what needs no look
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


def memory_to_json(memory: Memory) -> dict[str, Json]:
    """The JSON object that is stored: core fields always, the others when they are not default."""
    data = dict(memory.extra)
    for name in CORE_FIELDS:
        data[name] = getattr(memory, name)
    for name, default in _OPTIONAL.items():
        value = getattr(memory, name)
        if value != default:
            data[name] = value
    return data


def memory_from_json(data: Mapping[str, Json], where: str) -> Memory:
    """The memory that a stored object holds. Raises CorruptError naming `where` and the field.

    Checks the type of every known field, which is what the rest of the code relies on; what lies
    deeper was checked when it was written (`checked_fields`).
    """
    for name in ("id", "path", "kind", "created_at", "updated_at"):
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
            if name in _TIMES and not _NORMAL_TIME.match(value):
                known[name] = _stored_time(value, name, where)
        else:
            raise CorruptError(f"{where}: {name} has the wrong type", "correct the file; see `memcli schema object`")
    if not is_id(known["id"]):
        raise CorruptError(f"{where}: not an id: {show(known['id'])}", MEND)
    return Memory(**known, extra=extra)


def _stored_time(value: str, name: str, where: str) -> str:
    """A time that somebody wrote by hand, in the one form that compares as text."""
    try:
        return normalize_time(value)
    except UsageError as error:
        raise CorruptError(f"{where}: {name} is {error.message}", error.hint) from None


def checked_fields(data: Mapping[str, Json]) -> dict[str, Json]:
    """The fields that a user gave, with times normalized and nulls left out.

    Raises UsageError naming the first field whose value does not fit.
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
    if "raw" in given and "\0" in given["raw"]:
        raise UsageError("the text contains NUL characters: it looks binary", "store text, or the path of the file")
    return given


def _is_deep(value: Json) -> bool:
    """Whether a value is nested deeper than allowed; looked at level by level, so that no depth exhausts the stack."""
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
