"""Soundness: what is wrong with a space file, object by object, and the file as it could be mended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memcli.codec.canonical import decode, encode
from memcli.codec.memory import memory_from_json
from memcli.codec.salvage import salvage
from memcli.codec.space import VERSION, decode_header, decode_space, encode_space
from memcli.errors import CorruptError, MemcliError
from memcli.model.memory import Json, Memory
from memcli.model.names import check_id, check_path, marked, text_hash
from memcli.model.references import without_dangling
from memcli.model.shapes import MEMORY_FIELDS, check_fields
from memcli.model.space import Space
from memcli.record import Record, replace

UNTIDY = ("format", "order", "leftover", "strange")
"""The kinds of finding that lose nothing: the file reads well, but is not as memcli would write it."""


class Finding(Record):
    """One thing that is wrong. `object` is the id of a memory, or `object 3`; `repair` is what mends it, if anything."""

    file: str
    kind: str
    message: str
    object: str = ""
    repair: str = ""

    @property
    def is_damage(self) -> bool:
        """Whether data is lost, or cannot be believed."""
        return self.kind not in UNTIDY

    def to_json(self) -> dict[str, Json]:
        names = ("file", "kind", "object", "message", "repair")
        return {name: getattr(self, name) for name in names if getattr(self, name)}


class Examined(Record):
    """What was found in a file. `mended` are the bytes to write in its place; empty when nothing of it can be saved,
    None when nothing needs to be written or this version must not."""

    findings: tuple[Finding, ...] = ()
    mended: bytes | None = None


def examine(data: bytes, name: str, where: str, known: Mapping[str, frozenset[str]]) -> Examined:
    """Looks at all of the file of space `name`. `known` are the ids in each space of the store, for links."""
    found: list[Finding] = []
    tree, whole = _parse(data, where, found)
    if _is_newer(tree):
        told = f"written by a newer memcli (format version {tree['version']}); not checked further"
        return Examined((Finding(where, "version", told),))
    header = _header(tree, name, where, found if whole else [])
    memories = _unique(_memories(tree.get("objects", []), where, found), where, found)
    ids = {m.id for m in memories}.union(*(ids for space, ids in known.items() if space != name))
    mended = [_mended(memory, ids, where, found) for memory in memories]
    if not whole and not mended:
        return Examined(tuple(found), b"")
    space = replace(header, objects=tuple(sorted(mended, key=lambda m: m.order)))
    after = encode_space(space)
    if after == data:
        return Examined(tuple(found))
    if not any(finding.is_damage for finding in found):
        found.append(_untidy(data, space, where))
    return Examined(tuple(found), after)


def _parse(data: bytes, where: str, found: list[Finding]) -> tuple[dict[str, Any], bool]:
    """The JSON of the file, or what can be saved of it; and whether it was whole."""
    try:
        tree: Json = decode(data, where)
    except CorruptError as error:
        saved, lost = salvage(data)
        told = (
            f"{error.message.removeprefix(where).lstrip(':')}; {len(saved.get('objects', []))} can be recovered{lost}"
        )
        found.append(Finding(where, "torn", told, repair="keep what can be recovered, move the file to quarantine"))
        return saved, False
    if not _is_newer(tree) and (not isinstance(tree, dict) or not isinstance(tree.get("objects"), list)):
        saved, _ = salvage(data)
        told = f"not a space file; {len(saved.get('objects', []))} memories can be recovered"
        found.append(Finding(where, "torn", told, repair="keep what can be recovered, move the file to quarantine"))
        return saved, False
    told = "the key {!r} occurs twice in one object"
    repair = "keep the last one"
    found.extend(Finding(where, "repeated", told.format(key), repair=repair) for key in _repeated(data))
    return tree, True


def _is_newer(tree: object) -> bool:
    version = tree.get("version") if isinstance(tree, dict) else None
    return isinstance(version, int) and version > VERSION


def _repeated(data: bytes) -> Iterator[str]:
    """The keys that stand twice in one object: parsers keep one of the two, and nobody is told."""
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        known: dict[str, Any] = {}
        for key, value in items:
            if key in known:
                repeated.append(key)
            known[key] = value
        return known

    json.loads(data, object_pairs_hook=pairs)
    yield from repeated


def _header(tree: Mapping[str, Any], name: str, where: str, found: list[Finding]) -> Space:
    bare = {"format": "memcli/space", "version": VERSION, "space": name}
    try:
        space = decode_header(encode({**tree, "objects": []}), b"", where)
    except CorruptError as error:
        if tree:
            found.append(Finding(where, "header", error.message.removeprefix(f"{where}: "), repair="use the default"))
        space = decode_header(encode({**bare, **_sound_fields(tree, bare, where), "objects": []}), b"", where)
    if space.name != name:
        told = f"it contains space {space.name!r}"
        found.append(Finding(where, "name", told, repair=f"rename the space to {name}, like the file"))
    return replace(space, name=name)


def _sound_fields(tree: Mapping[str, Any], bare: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of a header that are sound by themselves."""
    sound = {}
    for field, value in tree.items():
        if field in (*bare, "objects"):
            continue
        try:
            decode_header(encode({**bare, field: value, "objects": []}), b"", where)
        except MemcliError:
            continue
        sound[field] = value
    return sound


def _memories(items: Iterable[Any], where: str, found: list[Finding]) -> list[Memory]:
    memories = []
    for n, item in enumerate(items):
        label = item["id"] if isinstance(item, dict) and isinstance(item.get("id"), str) else f"object {n}"
        try:
            memories.append(_memory(item, f"{where}: {label}"))
        except MemcliError as error:
            told = error.message.removeprefix(f"{where}: {label}: ")
            found.append(Finding(where, "object", told, label, "move it to quarantine"))
    return memories


def _memory(item: Any, where: str) -> Memory:
    """The memory in `item`, every field looked at down to its leaves. Raises CorruptError, UsageError."""
    if not isinstance(item, dict):
        raise CorruptError(f"{where}: not a JSON object")
    memory = memory_from_json(item, where)
    check_fields({k: v for k, v in item.items() if k in MEMORY_FIELDS and v is not None}, MEMORY_FIELDS)
    if check_id(memory.id) != memory.id or check_path(memory.path) != memory.path:
        raise CorruptError(f"{where}: its id or path is not in normal form")
    return memory


def _unique(memories: list[Memory], where: str, found: list[Finding]) -> list[Memory]:
    """The memories with each id and each path once; of two with one id the newer stays."""
    by_id: dict[str, Memory] = {}
    for memory in sorted(memories, key=lambda m: (m.order, m.version, encode_space(Space("", (m,))))):
        if memory.id in by_id:
            same = by_id[memory.id] == memory
            told = "it is an exact duplicate" if same else "another memory has the same id"
            found.append(Finding(where, "twice", told, memory.id, "keep the newer one, move the other to quarantine"))
        by_id[memory.id] = memory
    by_path: dict[str, str] = {}
    for memory in sorted(by_id.values(), key=lambda m: (m.created_at, m.id)):
        if memory.path in by_path:
            path = marked(memory.path, memory.id[-8:])
            told = f"its path {memory.path!r} belongs to {by_path[memory.path]}"
            found.append(Finding(where, "path", told, memory.id, f"move it to {path}"))
            by_id[memory.id] = replace(memory, path=path)
        by_path.setdefault(memory.path, memory.id)
    return list(by_id.values())


def _mended(memory: Memory, ids: set[str], where: str, found: list[Finding]) -> Memory:
    """`memory` with a hash that is right and without links into nowhere."""
    content = encode(memory.content) if memory.content is not None else b""
    digest = text_hash(memory.raw, content)
    if memory.hash and memory.hash != digest:
        told = "its hash does not match its text (edited by hand?)"
        found.append(Finding(where, "hash", told, memory.id, "recompute the hash"))
        memory = replace(memory, metadata={**memory.metadata, "hash": digest})
    gone = [str(link["to"]) for link in memory.links if link["to"] not in ids]
    if gone:
        told = f"it links to {', '.join(gone)}, which does not exist"
        found.append(Finding(where, "link", told, memory.id, "remove the link"))
    if memory.superseded_by and memory.superseded_by not in ids:
        told = f"it is superseded by {memory.superseded_by}, which does not exist"
        found.append(Finding(where, "link", told, memory.id, "make it current again"))
    return without_dangling(memory, ids.__contains__)


def _untidy(data: bytes, space: Space, where: str) -> Finding:
    ids = [item["id"] for item in json.loads(data)["objects"]]
    if ids != [m.id for m in space.objects]:
        return Finding(where, "order", "its memories are not sorted by updated_at and id", repair="sort them")
    return Finding(where, "format", "it is not canonical", repair="format it")


def is_canonical(data: bytes, where: str) -> tuple[bool, bytes]:
    """Whether the file is as memcli would write it, and how that would be. Raises CorruptError."""
    after = encode_space(decode_space(data, where))
    return after == data, after
