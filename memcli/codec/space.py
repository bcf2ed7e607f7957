"""The space file: the canonical bytes of a space, and where each memory stands in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from memcli.codec.canonical import MEND, decode, encode
from memcli.codec.frame import CLOSE, END, INDENT, OBJECTS, OPEN, USUAL_END, of_memory
from memcli.codec.memory import memory_from_json, memory_to_json
from memcli.digests import sha256
from memcli.errors import CorruptError, MemcliError, NewerError
from memcli.model.memory import Json, Memory
from memcli.model.shapes import POLICY_FIELDS, problem, spelled_out
from memcli.model.space import Policy, Space
from memcli.record import Record, replace
from memcli.settings import REPO, is_beside

FORMAT = "memcli/space"
VERSION = 1

_HEADER_TYPES: Mapping[str, type] = {
    "space": str, "objects": list, "metadata": dict, "updated_at": str,
}  # fmt: skip
_REQUIRED = ("space", "objects")
_BLOCK = 1 << 18
_KNOWN = frozenset(("format", "version", "space", "metadata", "policy", "updated_at", "objects"))


class Span(Record):
    """Where a memory stands in a space file, in bytes."""

    start: int
    end: int


def new_space(name: str) -> Space:
    """A space that is not there yet; those beside the default one are not for git from the beginning."""
    if not is_beside(name):
        return Space(name)
    return Space(name, policy=Policy(visibility="derived" if name == REPO else "private"))


def encode_memory(memory: Memory) -> bytes:
    """The bytes of one memory as they stand in a space file, from brace to brace."""
    return encode(memory_to_json(memory)).replace(b"\n", INDENT)


def decode_memory(data: bytes, where: str) -> Memory:
    """The memory with these bytes. Raises CorruptError."""
    tree = decode(data, where)
    if not isinstance(tree, dict):
        raise CorruptError(f"{where}: a memory is not a JSON object", MEND)
    return memory_from_json(tree, where)


def memory_digest(memory: Memory) -> str:
    """SHA-256 over the bytes of a memory as they are stored."""
    return sha256(encode_memory(memory)).hexdigest()


def encode_space(space: Space) -> bytes:
    """The canonical bytes of a whole space file."""
    frame = encode({**header_to_json(space), "objects": []})
    if space.objects:
        items = (b"," + INDENT).join(encode_memory(m) for m in space.objects)
        frame = frame.replace(OBJECTS + b"]", OBJECTS + INDENT + items + END, 1)
    return frame + b"\n"


def header_to_json(space: Space) -> dict[str, Json]:
    """The space as it is stored, but for its objects."""
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
    space = _header(tree, where)
    objects = tuple(
        memory_from_json(item, f"{where}: object {n}") if isinstance(item, dict) else _no_object(where, n)
        for n, item in enumerate(tree["objects"], 1)
    )
    return replace(space, objects=tuple(sorted(objects, key=lambda m: m.order)))


def decode_header(head: bytes, tail: bytes, where: str) -> Space:
    """The space without its objects, from what stands before and behind them. Raises CorruptError."""
    return _header(decode(head + tail, where), where)


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
        told = next(iter(wrong.values()))
        raise CorruptError(f"{where}: policy: {told}", "correct it with `memcli space policy`; nothing was changed")


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
        found.append(Span(start + len(INDENT), end))
        start = end + (data[end : end + 1] == b",")
        block, at = data[start : start + _BLOCK], 0  # in which those that are whole are found faster
        while block.startswith(OPEN, at):
            end = block.find(CLOSE, at) + len(CLOSE)
            if end < len(CLOSE) or not block.startswith(b",", end):
                break
            found.append(Span(start + at + len(INDENT), start + end))
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
        with suppress(MemcliError):
            memory = memory_from_json(decode(data[start : end + len(CLOSE)], where), where)
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
        version=version,
        extra={name: value for name, value in tree.items() if name not in _KNOWN},
    )


def _no_object(where: str, n: int) -> Memory:
    raise CorruptError(f"{where}: object {n} is not a JSON object", MEND)
