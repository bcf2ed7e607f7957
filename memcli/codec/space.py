"""The space file: the canonical bytes of a space, and the positions of its memories in them.

Form: the fields of a memory in a space file, by the version of the format.

Version 1 has every core field of a memory. This is the full form, which is also that of servers, exports and digests. Version 2
leaves out a field with its default, or with the value of the field that it is `like` (see `model/shapes.py`), and in the
metadata the name of the file's own space; so `"space": null` is a memory without a space in its metadata.

Frame: the bytes before, between and after the memories of a canonical space file, and before their fields.

JSON escapes newlines in text, so a newline is always structure: within the list of memories, a line of four spaces and a brace
begins or ends a memory, and a line of six spaces begins one of its fields.
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
"""The format version of new space files."""
FULL_VERSION = 1


class SpaceForm(Record):
    """The form of the memories in the file of the space named `space`."""

    space: str
    version: int = VERSION

    def to_json(self, memory: Memory) -> dict[str, Json]:
        """The JSON object of the memory in this form."""
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
        """The memory of a JSON object in this form. Raises CorruptError naming `where` and the field."""
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
    """The value of a field that is left out, given the other fields."""
    like = FIELDS[name].like
    return fields[like] if like else CORE_DEFAULTS[name]


def form_of(header: Mapping[str, Json], space: str = "") -> SpaceForm:
    """The form of the memories in a file, by its header. Where the header is damaged, it is the form of `space`."""
    name, version = header.get("space"), header.get("version")
    return SpaceForm(name if isinstance(name, str) else space, version if type(version) is int else VERSION)


OBJECTS = b'\n  "objects": ['
"""The bytes before the first memory."""
END = b"\n  ]"
"""The bytes after the last memory."""
INDENT = b"\n    "
"""The newline and indentation before each line of a memory."""
OPEN = INDENT + b"{\n"
CLOSE = INDENT + b"}"
USUAL_END = CLOSE + END + b',\n  "policy": '
"""The end of the last memory and of the list, followed by a policy, as in nearly every file."""


def of_space(name: str) -> bytes:
    """The bytes before the value of a field of the space."""
    return f'\n  "{name}": '.encode()


def of_memory(name: str) -> bytes:
    """The bytes before the value of a field of a memory."""
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
"""The offsets of the first byte of a memory and of the byte after its last."""


def new_space(name: str) -> Space:
    """A new space. Spaces beside the default one are derived or private from the beginning, so that git ignores them."""
    if not is_beside(name):
        return Space(name)
    return Space(name, policy=Policy(visibility="derived" if name == REPO else "private"))


def encode_memory(memory: Memory) -> bytes:
    """The bytes of one memory in full form, from brace to brace, which servers store and digests are computed over."""
    return encode(memory_to_json(memory)).replace(b"\n", INDENT)


def encode_item(memory: Memory, form: SpaceForm) -> bytes:
    """The bytes of one memory in a file of this form, from brace to brace."""
    return encode_memory(memory) if form.version == FULL_VERSION else encode_wrapped(form.to_json(memory), _DEPTH)


def decode_item(data: bytes, form: SpaceForm, where: str) -> Memory:
    """The memory of the bytes that `encode_item` returned. Raises CorruptError."""
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
    """The canonical bytes of a space in full form."""
    return encode({**header_to_json(space), "objects": list(map(memory_to_json, space.objects))}) + b"\n"


def header_to_json(space: Space) -> dict[str, Json]:
    """The fields of a space in full form, without its objects."""
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
    """The space in `data`. Raises CorruptError naming `where` and the damage."""
    return space_from_json(decode(data, where), where)


def space_from_json(tree: Json, where: str) -> Space:
    """The space in the JSON value `tree`. Raises CorruptError naming `where` and the damage."""
    space, form = _header(tree, where), form_of(tree)
    objects = []
    for n, item in enumerate(tree["objects"], 1):
        if not isinstance(item, dict):
            raise CorruptError(f"{where}: object {n} is not a JSON object", MEND)
        objects.append(form.from_json(item, f"{where}: object {n}"))
    return replace(space, objects=tuple(sorted(objects, key=lambda m: m.order)))


def decode_header(head: bytes, tail: bytes, where: str) -> Space:
    """The space without its objects, from the bytes before and after them. Raises CorruptError."""
    return _header(decode(head + tail, where), where)


def decode_form(head: bytes, tail: bytes, where: str) -> SpaceForm:
    """The form of the memories in a file, from the bytes before and after them. Raises CorruptError."""
    tree = decode(head + tail, where)
    _header(tree, where)
    return form_of(tree)


def header_ends(begin: bytes, end: bytes) -> tuple[bytes, bytes] | None:
    """The bytes before and after the memories of a canonical file, from its first bytes `begin` and its last bytes `end`.

    None when either is too short, or the file is not canonical.
    """
    first, last = begin.find(OBJECTS + OPEN), end.rfind(USUAL_END)
    # A header that ends before the memories would hide them, and the space would look empty.
    if first < 0 or last < 0 or b"\n}" in begin[:first]:
        return None
    return begin[: first + len(OBJECTS)], end[last + len(CLOSE) :]


def check_writable(space: Space, where: str, is_accepted: Callable[[], bool] = lambda: True) -> None:
    """Raises CorruptError when the file has a newer format, which this version must not rewrite, or an invalid field in its
    policy, since it is unknown what that field was to forbid. In a store that nobody has accepted a policy forbids nothing,
    so that the second error is not raised where `is_accepted` is false.
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
    """The span of each memory in a canonical file (bytes, or a window on them); None when it is not canonical.

    Searches newlines and braces alone, so that an index can find changed memories without parsing the others.
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
        block, at = data[start : start + _BLOCK], 0  # slicing each memory off a window is slower
        while block.startswith(OPEN, at):
            end = block.find(CLOSE, at) + len(CLOSE)
            if end < len(CLOSE) or not block.startswith(b",", end):
                break
            found.append((start + at + len(INDENT), start + end))
            at = end + 1
        start += at
    return found if found and data[start : start + len(END)] == END else None


def may_have(data: bytes, keys: Collection[str]) -> bool:
    """Whether a memory may have one of the keys, by its stored bytes; true for no keys."""
    return not keys or any(f'"{key}":'.encode() in data for key in keys)


def find_memory(data: bytes, name: str, where: str) -> Memory | None:
    """The memory with the id `name` in a space file, which is parsed whole only where a search fails. Raises CorruptError."""
    quoted = encode(name)
    place = data.find(of_memory("id") + quoted)
    if place >= 0:
        start, end = data.rfind(OPEN, 0, place), data.find(CLOSE, place)
        header: dict[str, Json] = {}
        for field in ("space", "version"):  # each is on one line; a damaged file may have neither
            key = of_space(field)
            line = data.rfind(key) + len(key)
            with suppress(CorruptError):
                header[field] = decode(data[line : data.find(b"\n", line)].removesuffix(b","), field)
        form = form_of(header)
        with suppress(MemcliError):
            memory = decode_item(data[start : end + len(CLOSE)], form, where)
            if memory.id == name:  # in a file of another layout, the line may be part of a nested object
                return memory
    elif quoted not in data:
        return None
    return next((m for m in decode_space(data, where).objects if m.id == name), None)


def policy_to_json(policy: Policy) -> dict[str, Json]:
    """The fields of the policy that differ from their default."""
    default = Policy()
    known = {n: getattr(policy, n) for n in POLICY_FIELDS if getattr(policy, n) != getattr(default, n)}
    return {**known, **policy.extra}


NO_POLICY = ""
"""The key in `Policy.extra` of a policy that is not a JSON object."""


def policy_from_json(data: Json) -> Policy:
    """The policy in `data`. An invalid field has its default, and its value is preserved in `extra`, where `policy_problems`
    finds it. An invalid visibility is read as private, the safe meaning."""
    if not isinstance(data, dict):
        return Policy(extra={NO_POLICY: data})
    data = spelled_out(data)
    known: dict[str, Any] = {
        name: value
        for name, value in data.items()
        if name in POLICY_FIELDS and problem(value, POLICY_FIELDS[name], name) is None
    }
    # One field of a wrong type must not make all memories of the space unreadable.
    extra = {name: value for name, value in data.items() if name not in known}
    if "auto_pin" in known:
        known["auto_pin"] = tuple(known["auto_pin"])
    if "visibility" in extra:
        known["visibility"] = "private"
    return Policy(**known, extra=extra)


def policy_problems(policy: Policy) -> dict[str, str]:
    """The messages about invalid fields of a policy, by the names of the fields."""
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
        # In memory, memories of all known versions are in full form. A newer version stays, so that `check_writable` refuses it.
        version=version if version > VERSION else FULL_VERSION,
        extra={name: value for name, value in tree.items() if name not in _KNOWN},
    )


class OddError(Exception):
    """A file is not in the layout that memcli writes, or an item is not JSON. Decoding the whole file gives the position."""


class Items:
    """The items of a file and the form of the memories that they are. `entries` are decoded values, or, with `data`, spans
    in these bytes, which are decoded on access; that raises OddError for an item that is not JSON."""

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
        """Whether the bytes of this item are those that memcli writes for the memory in this form."""
        return self.stored(n) == encode_item(memory, self.form)

    def stored(self, n: int) -> bytes:
        """The bytes of an item in the file; empty for decoded values."""
        return self._data[slice(*self._entries[n])] if self._data else b""


def framed(data: bytes | ByteWindow, where: str) -> tuple[dict[str, Any], bytes, Items] | None:
    """The file without its objects, as JSON and as bytes, and the objects; None for a file that must be decoded whole."""
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
    """Yields the memories of the items. Raises OddError at the first one out of order, or not in the layout that memcli
    writes, and CorruptError."""
    last = "", ""
    for n in range(len(items)):
        memory = items.memory(n, where)
        if memory.order < last or not items.is_canonical(n, memory):
            raise OddError
        last = memory.order
        yield memory


def check_names_once(data: bytes, where: str, hint: str) -> None:
    """Raises CorruptError when an object of the JSON in `data` has a name twice: parsers differ in which value they use."""
    for name in repeated(data):
        raise CorruptError(f"{where}: an object has the field {show(name)} twice", hint)


def repeated(data: bytes) -> Iterator[str]:
    """The keys that occur twice in one object, of which JSON parsers drop one silently."""
    found: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        known: dict[str, Any] = {}
        for key, value in items:
            if key in known:
                found.append(key)
            known[key] = value
        return known

    # The parser of the other functions has no hook for the pairs of an object; it drops one of two silently.
    json.loads(data, object_pairs_hook=pairs)
    yield from found
