"""The space file: the canonical bytes of a space, and where each memory stands in them.

Form: the fields of a memory in a space file, by the version of its format.

Version 1 has every core field of a memory: the full form, which servers, exports and digests have as well. Version 2 leaves
out a field that has its default, or the value of the field that it is `like` (see `model/shapes.py`), and in the metadata
the name of the file's own space; so `"space": null` stands for a memory without a space there.

Frame: the bytes between which the memories of a canonical space file, and their fields, stand.

JSON escapes newlines in text, so a newline can only be structure: between the mark of the list and its end, a line of
four spaces and a brace is the edge of a memory, and what stands behind six spaces is the name of one of its fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

from memcli.codec.canonical import MEND, decode, encode, encode_wrapped
from memcli.codec.memory import CORE_DEFAULTS, memory_from_json, memory_to_json
from memcli.digests import sha256
from memcli.errors import CorruptError, MemcliError, NewerError
from memcli.model.memory import Json, Memory
from memcli.model.names import show
from memcli.model.shapes import FIELDS, POLICY_FIELDS, problem, spelled_out
from memcli.model.space import Policy, Space
from memcli.record import Record, replace
from memcli.settings import REPO, is_beside

TYPE_CHECKING = False
if TYPE_CHECKING:  # which imports this module
    from typing import Any

    from memcli.codec.window import ByteWindow

VERSION = 2
"""The version that space files are written in."""
FULL_VERSION = 1


class SpaceForm(Record):
    """How the memories of the space of this name are written."""

    space: str
    version: int = VERSION

    def to_json(self, memory: Memory) -> dict[str, Json]:
        """The JSON object that stands for the memory."""
        fields = memory_to_json(memory)
        if self.version == FULL_VERSION:
            return fields
        fields["tags"] = list(memory.tags)
        fields["metadata"] = metadata = {"space": None, **memory.metadata}
        if metadata["space"] == self.space:
            del metadata["space"]
        for name in [name for name in CORE_DEFAULTS if fields[name] == _implied(name, fields)]:
            del fields[name]
        return fields

    def from_json(self, data: Mapping[str, Json], where: str) -> Memory:
        """The memory that a JSON object stands for. Raises CorruptError naming `where` and the field."""
        if self.version == FULL_VERSION:
            return memory_from_json(data, where)
        fields = dict(data)
        for name in CORE_DEFAULTS:
            if name not in fields:
                fields[name] = _implied(name, fields)
        if isinstance(metadata := fields["metadata"], dict):
            if metadata.get("space", self.space) is None:
                fields["metadata"] = {name: value for name, value in metadata.items() if name != "space"}
            else:
                fields["metadata"] = {"space": self.space, **metadata}
        return memory_from_json(fields, where)


def _implied(name: str, fields: Mapping[str, Json]) -> Json:
    """What a field is where it is left out, by the fields above it."""
    like = FIELDS[name].like
    return fields[like] if like else CORE_DEFAULTS[name]


def form_of(header: Mapping[str, Json], space: str = "") -> SpaceForm:
    """How the memories of a file are written, by its header, which may be damaged: then the file is that of `space`."""
    name, version = header.get("space"), header.get("version")
    return SpaceForm(name if isinstance(name, str) else space, version if type(version) is int else VERSION)


OBJECTS = b'\n  "objects": ['
"""What the list of memories begins with."""
END = b"\n  ]"
"""What it ends with, behind the last memory."""
INDENT = b"\n    "
"""The new line of a memory: before its first brace, and before each of its lines."""
OPEN = INDENT + b"{\n"
CLOSE = INDENT + b"}"
USUAL_END = CLOSE + END + b',\n  "policy": '
"""The end of the list as it nearly always is, with the last memory before it and a policy behind it."""


def of_space(name: str) -> bytes:
    """What stands before the value of a field of the space."""
    return f'\n  "{name}": '.encode()


def of_memory(name: str) -> bytes:
    """What stands before the value of a field of a memory."""
    return f'\n      "{name}": '.encode()


FORMAT = "memcli/space"

_HEADER_TYPES: Mapping[str, type] = {
    "space": str, "objects": list, "metadata": dict, "updated_at": str,
}  # fmt: skip
_REQUIRED = ("space", "objects")
_BLOCK = 1 << 18
_DEPTH = len(INDENT) - 1
_KNOWN = frozenset(("format", "version", "space", "metadata", "policy", "updated_at", "objects"))


Span = tuple[int, int]
"""Where a memory begins and ends in a space file, in bytes."""


def new_space(name: str) -> Space:
    """A space that is not there yet; those beside the default one are not for git from the beginning."""
    if not is_beside(name):
        return Space(name)
    return Space(name, policy=Policy(visibility="derived" if name == REPO else "private"))


def encode_memory(memory: Memory) -> bytes:
    """The bytes of one memory in full form, from brace to brace: as servers hold it, and as digests are made of it."""
    return encode(memory_to_json(memory)).replace(b"\n", INDENT)


def encode_item(memory: Memory, form: SpaceForm) -> bytes:
    """The bytes of one memory as they stand in a file of this form, from brace to brace."""
    return encode_memory(memory) if form.version == FULL_VERSION else encode_wrapped(form.to_json(memory), _DEPTH)


def decode_item(data: bytes, form: SpaceForm, where: str) -> Memory:
    """The memory with these bytes in a file, or on a server. Raises CorruptError."""
    tree = decode(data, where)
    if not isinstance(tree, dict):
        raise CorruptError(f"{where}: a memory is not a JSON object", MEND)
    return form.from_json(tree, where)


def memory_digest(memory: Memory) -> str:
    """SHA-256 over the bytes of a memory in full form."""
    return sha256(encode_memory(memory)).hexdigest()


def encode_space(space: Space) -> bytes:
    """The bytes of a whole space file."""
    header = {**header_to_json(space), "version": max(VERSION, space.version)}
    return encode_wrapped({**header, "objects": list(map(SpaceForm(space.name).to_json, space.objects))}) + b"\n"


def encode_full(space: Space) -> bytes:
    """The canonical bytes of a space in full form, which is that of version 1 of the file."""
    return encode({**header_to_json(space), "objects": list(map(memory_to_json, space.objects))}) + b"\n"


def header_to_json(space: Space) -> dict[str, Json]:
    """The space in full form, but for its objects."""
    return {
        **space.extra,
        "format": FORMAT,
        "version": space.version,
        "space": space.name,
        "metadata": space.metadata,
        "policy": policy_to_json(space.policy),
        "updated_at": space.updated_at,
    }


def decode_space(data: bytes, where: str) -> Space:
    """The space that `data` holds. Raises CorruptError naming `where` and the damage."""
    return space_from_json(decode(data, where), where)


def space_from_json(tree: Json, where: str) -> Space:
    """The space that the JSON value `tree` holds. Raises CorruptError naming `where` and the damage."""
    space, form = _header(tree, where), form_of(tree)
    objects = []
    for n, item in enumerate(tree["objects"], 1):
        if not isinstance(item, dict):
            raise CorruptError(f"{where}: object {n} is not a JSON object", MEND)
        objects.append(form.from_json(item, f"{where}: object {n}"))
    return replace(space, objects=tuple(sorted(objects, key=lambda m: m.order)))


def decode_header(head: bytes, tail: bytes, where: str) -> Space:
    """The space without its objects, from what stands before and behind them. Raises CorruptError."""
    return _header(decode(head + tail, where), where)


def decode_form(head: bytes, tail: bytes, where: str) -> SpaceForm:
    """How the memories of a file are written, from what stands before and behind them. Raises CorruptError."""
    tree = decode(head + tail, where)
    _header(tree, where)
    return form_of(tree)


def header_ends(begin: bytes, end: bytes) -> tuple[bytes, bytes] | None:
    """What stands before and behind the memories of a canonical file, in its first and its last bytes.

    None when either does not reach that far, or the file is not canonical.
    """
    first, last = begin.find(OBJECTS + OPEN), end.rfind(USUAL_END)
    if first < 0 or last < 0 or b"\n}" in begin[:first]:
        return None
    return begin[: first + len(OBJECTS)], end[last + len(CLOSE) :]


def check_writable(space: Space, where: str, is_accepted: Callable[[], bool] = lambda: True) -> None:
    """Raises CorruptError when the file is of a newer format, which this version must not rewrite, and when a field of its
    policy does not fit: what it would have forbidden is not known. In a store that nobody has accepted it forbids nothing.
    """
    if space.version > VERSION:
        raise NewerError(
            f"{where}: written by a newer memcli (format version {space.version}; this one writes {VERSION})",
            "upgrade memcli; nothing was changed",
        )
    wrong = policy_problems(space.policy)
    if wrong and is_accepted():
        first = next(iter(wrong.values()))
        raise CorruptError(f"{where}: policy: {first}", "correct it with `memcli space policy`; nothing was changed")


def spans(data: Any) -> list[Span] | None:
    """Where each memory stands in a canonical file (bytes, or a window on them); None when it is not canonical.

    Reads structure alone, so that an index can find what changed without parsing the rest.
    """
    start = data.find(OBJECTS)
    if start < 0:
        return None
    start += len(OBJECTS)
    if data[start : start + 1] == b"]":
        return []
    found: list[Span] = []
    while data[start : start + len(OPEN)] == OPEN:
        end = data.find(CLOSE, start)
        if end < 0:
            return None
        end += len(CLOSE)
        found.append((start + len(INDENT), end))
        start = end + (data[end : end + 1] == b",")
        block, at = data[start : start + _BLOCK], 0  # in which those that are whole are found faster
        while block.startswith(OPEN, at):
            end = block.find(CLOSE, at) + len(CLOSE)
            if end < len(CLOSE) or not block.startswith(b",", end):
                break
            found.append((start + at + len(INDENT), start + end))
            at = end + 1
        start += at
    return found if found and data[start : start + len(END)] == END else None


def may_have(data: bytes, keys: Collection[str]) -> bool:
    """Whether one of the keys, if there are any, may stand in the stored bytes of a memory."""
    return not keys or any(f'"{key}":'.encode() in data for key in keys)


def find_memory(data: bytes, name: str, where: str) -> Memory | None:
    """The memory of this id in a space file, which is not parsed whole where that can be helped. Raises CorruptError."""
    quoted = encode(name)
    place = data.find(of_memory("id") + quoted)
    if place >= 0:
        start, end = data.rfind(OPEN, 0, place), data.find(CLOSE, place)
        header: dict[str, Json] = {}
        for field in ("space", "version"):  # each is on one line; there is none in a damaged file
            key = of_space(field)
            line = data.rfind(key) + len(key)
            with suppress(CorruptError):
                header[field] = decode(data[line : data.find(b"\n", line)].removesuffix(b","), field)
        form = form_of(header)
        with suppress(MemcliError):
            memory = decode_item(data[start : end + len(CLOSE)], form, where)
            if memory.id == name:
                return memory
    elif quoted not in data:
        return None
    return next((m for m in decode_space(data, where).objects if m.id == name), None)


def policy_to_json(policy: Policy) -> dict[str, Json]:
    """The policy's fields that are not default."""
    default = Policy()
    known = {n: getattr(policy, n) for n in POLICY_FIELDS if getattr(policy, n) != getattr(default, n)}
    return {**known, **policy.extra}


NO_POLICY = ""
"""The name under which what is no object stays in the place of a policy."""


def policy_from_json(data: Json) -> Policy:
    """The policy that `data` holds. A field that does not fit has its default, and stays as it is in `extra`, where
    `policy_problems` finds it; the space is private where that is the visibility, which may be what was meant."""
    if not isinstance(data, dict):
        return Policy(extra={NO_POLICY: data})
    data = spelled_out(data)
    known: dict[str, Any] = {
        name: value
        for name, value in data.items()
        if name in POLICY_FIELDS and problem(value, POLICY_FIELDS[name], name) is None
    }
    extra = {name: value for name, value in data.items() if name not in known}
    if "auto_pin" in known:
        known["auto_pin"] = tuple(known["auto_pin"])
    if "visibility" in extra:
        known["visibility"] = "private"
    return Policy(**known, extra=extra)


def policy_problems(policy: Policy) -> dict[str, str]:
    """What is wrong with the fields of a policy that do not fit, by their names."""
    shapes = {**POLICY_FIELDS, NO_POLICY: {"type": "object"}}
    wrong = sorted(policy.extra.keys() & shapes.keys())
    return {name: problem(policy.extra[name], shapes[name], name or "it") or "" for name in wrong}


def _header(tree: Json, where: str) -> Space:
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise CorruptError(f'{where}: not a space file (no "format": "{FORMAT}")', MEND)
    version = tree.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise CorruptError(f"{where}: version is missing or not a number", MEND)
    for name, kind in _HEADER_TYPES.items():
        if not isinstance(tree.get(name, None if name in _REQUIRED else kind()), kind):
            raise CorruptError(f"{where}: {name} is missing or has the wrong type", MEND)
    return Space(
        name=tree["space"],
        metadata=tree.get("metadata", {}),
        policy=policy_from_json(tree.get("policy", {})),
        updated_at=tree.get("updated_at", ""),
        version=version if version > VERSION else FULL_VERSION,
        extra={name: value for name, value in tree.items() if name not in _KNOWN},
    )


class OddError(Exception):
    """A file is not as memcli would write it; where an item is no JSON, only the file as a whole can say where."""


class Items:
    """The items of a file and the form in which they are memories: values that were decoded with the rest of it, or the places
    in the bytes `data` where they stand. To get one raises OddError if there it is no JSON."""

    def __init__(
        self, entries: Sequence[Json] | Sequence[Span], form: SpaceForm, data: bytes | ByteWindow = b""
    ) -> None:
        self._entries = entries
        self._data = data
        self.form = form

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, n: int) -> Json:
        if not self._data:
            return self._entries[n]
        try:
            return decode(self.stored(n), "an item")
        except CorruptError:
            raise OddError from None

    def memory(self, n: int, where: str) -> Memory:
        """An item as a memory. Raises CorruptError naming `where`, OddError."""
        item = self[n]
        if not isinstance(item, dict):
            raise CorruptError(f"{where}: not a JSON object")
        return self.form.from_json(item, where)

    def is_canonical(self, n: int, memory: Memory) -> bool:
        """Whether this item is the memory as memcli writes it in this form."""
        return self.stored(n) == encode_item(memory, self.form)

    def stored(self, n: int) -> bytes:
        """The bytes of an item in the file; none where that is not known."""
        return self._data[slice(*self._entries[n])] if self._data else b""


def framed(data: bytes | ByteWindow, where: str) -> tuple[dict[str, Any], bytes, Items] | None:
    """The file without its objects, as JSON and as bytes, and these; None where it must be decoded whole."""
    found = spans(data)
    if found is None or any(data[end:start] != b"," + INDENT for (_, end), (start, _) in pairwise(found)):
        return None
    rest = data[: found[0][0] - len(INDENT)] + data[found[-1][1] + len(END) - 1 :] if found else data[:]
    try:
        tree = decode(rest, where)
    except CorruptError:
        return None
    if not isinstance(tree, dict) or tree.get("objects") != [] or any(repeated(rest)):
        return None
    return tree, rest, Items(found, form_of(tree), data)


def as_written(items: Items, where: str) -> Iterator[Memory]:
    """The memories that the items are, for as long as they stand in order and as memcli writes them. Raises OddError for one
    that does not, CorruptError."""
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
    """The keys that stand twice in one object: parsers keep one of the two without a word."""
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
