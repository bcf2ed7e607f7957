"""The damage in a space file, memory by memory, and the repaired file; and what can be read of a file that is no JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import orjson

from memcli.codec.audit import verify
from memcli.codec.canonical import decode, encode
from memcli.codec.memory import SAME_ID, WRONG_HASH, belongs, check_memory, right_hash
from memcli.codec.space import (
    CLOSE,
    FULL_VERSION,
    OPEN,
    VERSION,
    Items,
    OddError,
    decode_header,
    encode_full,
    encode_memory,
    encode_space,
    form_of,
    framed,
    of_space,
    policy_from_json,
    policy_problems,
    policy_to_json,
    repeated,
)
from memcli.errors import CorruptError, MemcliError, UsageError
from memcli.model.findings import OUTDATED, UNCHECKED, Damage
from memcli.model.links import known_among, without_dangling
from memcli.model.memory import Json, Memory
from memcli.model.names import marked
from memcli.model.space import Space
from memcli.policy.triggers import check_triggers
from memcli.record import Record, replace

_FIELDS = tuple(map(of_space, ("metadata", "policy", "space", "version")))
_ENDS = (b"\n", b"\n  }")
"""The ends of a field of the header, which is on one line or on several."""


def salvage(data: bytes) -> tuple[dict[str, Any], str]:
    """The memories and fields of the header that are intact in a damaged file, as JSON of a space; and a clause for the
    message about what is lost. Of a file with conflict markers, both sides are merged. Never raises."""
    merged = _both_sides(data)
    if merged is not None:
        return merged, " (from both sides of an unfinished merge)"
    objects = list(_framed(data)) or list(_in_sequence(data))
    saved: dict[str, Any] = {"objects": objects} if objects else {}
    for key in _FIELDS:
        value = _field(data, key)
        if value is not None:
            saved[key.decode().strip('\n ":')] = value
    lost = "" if b'"policy"' in data and "policy" in saved else ", but its policy cannot"
    return saved, lost if objects else ""


def _both_sides(data: bytes) -> dict[str, Any] | None:
    """The JSON of a file with git's conflict markers, with the objects of both sides; None if there are no markers, or a side
    is no JSON."""
    sides: tuple[list[bytes], list[bytes]] = ([], [])
    on: tuple[int, ...] = (0, 1)
    for line in data.splitlines(keepends=True):
        if line.startswith(b"<<<<<<< "):
            on = (0,)
        # Git puts the common ancestor here with merge.conflictStyle diff3: it is of neither side.
        elif line.startswith(b"||||||| "):
            on = ()
        elif line.rstrip() == b"=======":
            on = (1,)
        elif line.startswith(b">>>>>>> "):
            on = (0, 1)
        else:
            for side in on:
                sides[side].append(line)
    if sides[0] == sides[1]:
        return None
    try:
        ours, theirs = (orjson.loads(b"".join(lines)) for lines in sides)
        return {**theirs, **ours, "objects": [*ours["objects"], *theirs["objects"]]}
    except (orjson.JSONDecodeError, TypeError, KeyError):
        return None


def _framed(data: bytes) -> Iterator[dict[str, Any]]:
    """The intact objects of a file in memcli's layout, each between lines of four spaces and a brace."""
    at = data.find(OPEN)
    while at >= 0:
        end = data.find(CLOSE, at)
        # The next opening, not what follows this end: the end of a truncated object is missing, or that of a later one.
        following = data.find(OPEN, at + 1)
        value = None
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(data[at : end + len(CLOSE)]) if end >= 0 else None
        if isinstance(value, dict) and "id" in value:
            yield value
        at = following


def _in_sequence(data: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a file in another layout, up to the first broken one."""
    text = data.decode("utf-8", "replace")
    at = text.find('"objects"')
    at = text.find("[", at) + 1 if at >= 0 else 0
    decoder = json.JSONDecoder()
    while at > 0:
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict) and "id" in value:
            yield value


def _field(data: bytes, key: bytes) -> Any:
    """The value of a field of the header; None if it is missing or broken."""
    start = data.find(key)
    if start < 0:
        return None
    start += len(key)
    for end in _ENDS:
        stop = data.find(end, start) + len(end)
        try:
            return orjson.loads(data[start:stop].rstrip().removesuffix(b","))
        except orjson.JSONDecodeError:
            continue
    return None


_Exists = Callable[[str], bool]
"""Whether the store has a memory with this id."""


def check_chain(data: bytes, where: str) -> Damage | None:
    """The finding about an audit log: it was modified, or a part of it cannot be checked. None if it is intact."""
    log = verify(data)
    if log.broken:
        return Damage(where, "audit", f"line {log.broken} of the audit log: {log.reason}")
    return Damage(where, UNCHECKED, f"audit log: {log.gap}") if log.gap else None


class Examined(Record):
    """The damage in a file. `mended` is the content of the repaired file: empty if nothing can be recovered, None if nothing
    needs to be written, if no repair was requested, or if a newer version wrote the file."""

    findings: tuple[Damage, ...] = ()
    mended: bytes | None = None


# Only outlines of the memories are held at once; the few that are needed again are decoded again, so that a large file
# does not take twice its size in memory.
class _Outline(Record):
    """The fields by which the memories of a file are compared. `n` is the index among the items.

    `is_canonical`: its bytes are as memcli writes them; `is_sound`: its hash is right, and it refers to no other memory.
    """

    n: int
    id: str
    path: str
    created_at: str
    order: tuple[str, str]
    version: int
    is_canonical: bool
    is_sound: bool


class _Contents(Record):
    """A decoded file. `rest` is the text around its items; empty if the file is not in memcli's layout. `is_whole`: nothing of
    it was lost."""

    tree: Mapping[str, Any]
    items: Items
    rest: bytes = b""
    is_whole: bool = True


def examine(data: bytes, name: str, where: str, known: Mapping[str, frozenset[str]], *, mend: bool = True) -> Examined:
    """Checks the file of space `name`. `known` has the ids in each space of the store, for links. Without `mend`, the content
    of the repaired file is not made."""
    # In memcli's layout, items are decoded one by one, so that a large file is not held twice; any other is decoded whole.
    parts = framed(data, where)
    if parts and not _is_newer(parts[0]):
        tree, rest, items = parts
        try:
            return _examine(_Contents(tree, items, rest), [], name, where, known, mend)
        except OddError:
            pass  # an item is no JSON: only the whole file tells where it ends
    found: list[Damage] = []
    return _examine(_parse(data, name, where, found), found, name, where, known, mend)


def _examine(
    contents: _Contents, found: list[Damage], name: str, where: str, known: Mapping[str, frozenset[str]], mend: bool
) -> Examined:
    """As `examine`, for a decoded file; `found` has the findings of decoding. Raises OddError."""
    tree, items = contents.tree, contents.items
    if _is_newer(tree):
        message = f"written by a newer memcli (format version {tree['version']}); not checked further"
        return Examined((Damage(where, "version", message),))
    objects: list[Damage] = []
    outlines = list(_outlines(items, where, found, objects))
    # Of a torn file it is reported that it is torn; what its header lacks follows from that.
    header = _header(tree, name, where, found if contents.is_whole else [])
    found += objects
    unique, paths = _unique(outlines, items, where, found)
    ids = {one.id for one in unique}.union(*(ids for space, ids in known.items() if space != name))
    mended = dict(_mended(unique, paths, items, known_among(ids, known), where, found))
    if not contents.is_whole and not unique:
        return Examined(tuple(found), b"")
    in_order = sorted(unique, key=lambda one: one.order)
    is_sorted = [one.n for one in in_order] == list(range(len(items)))
    is_old = items.form.version == FULL_VERSION
    written = encode_full(header) if is_old else encode_space(header)
    is_same = is_sorted and not mended and all(one.is_canonical for one in unique) and contents.rest == written
    if is_same and not is_old:  # an intact file of the old format is reported below, since the next write changes it
        return Examined(tuple(found))
    # A file with damage is rewritten anyway, so that its layout is no finding of its own.
    if not any(finding.is_damage for finding in found):
        if is_same:
            message = f"it is in format {FULL_VERSION}; the next write rewrites it in format {VERSION}"
            found.append(Damage(where, OUTDATED, message, repair="format it"))
        elif not is_sorted:
            found.append(Damage(where, "order", "its memories are not sorted by updated_at and id", repair="sort them"))
        else:
            found.append(Damage(where, "format", "it is not canonical", repair="format it"))
    if not mend:
        return Examined(tuple(found))
    objects_now = tuple(mended[one.id] if one.id in mended else items.memory(one.n, where) for one in in_order)
    return Examined(tuple(found), encode_space(replace(header, objects=objects_now)))


def _parse(data: bytes, name: str, where: str, found: list[Damage]) -> _Contents:
    """The content of a file, or what can be recovered of it; damage is added to `found`."""
    try:
        tree: Json = decode(data, where)
    except CorruptError as error:
        saved, lost = salvage(data)
        message = (
            f"{error.message.removeprefix(where).lstrip(':')}; {len(saved.get('objects', []))} can be recovered{lost}"
        )
        found.append(Damage(where, "torn", message, repair="keep what can be recovered, move the file to quarantine"))
        return _contents(saved, name, is_whole=False)
    if isinstance(tree, dict) and _is_newer(tree):
        return _contents({**tree, "objects": []}, name)
    if not isinstance(tree, dict) or not isinstance(tree.get("objects"), list):
        saved, _ = salvage(data)
        message = f"not a space file; {len(saved.get('objects', []))} memories can be recovered"
        found.append(Damage(where, "torn", message, repair="keep what can be recovered, move the file to quarantine"))
        return _contents(saved, name, is_whole=False)
    found.extend(_twice(data, where))
    return _contents(tree, name)


def _contents(tree: Mapping[str, Any], name: str, *, is_whole: bool = True) -> _Contents:
    return _Contents(tree, Items(tree.get("objects", []), form_of(tree, name)), is_whole=is_whole)


def _twice(data: bytes, where: str) -> Iterator[Damage]:
    """A finding for each key that occurs twice in one object of these bytes."""
    message = "the key {!r} occurs twice in one object"
    return (Damage(where, "repeated", message.format(key), repair="keep the last one") for key in repeated(data))


def _is_newer(tree: object) -> bool:
    version = tree.get("version") if isinstance(tree, dict) else None
    return isinstance(version, int) and version > VERSION


def _header(tree: Mapping[str, Any], name: str, where: str, found: list[Damage]) -> Space:
    """The space without its memories, with defaults for invalid fields; damage is added to `found`."""
    bare = {"format": "memcli/space", "version": VERSION, "space": name}
    try:
        space = decode_header(encode({**tree, "objects": []}), b"", where)
    except CorruptError as error:
        if tree:
            found.append(Damage(where, "header", error.message.removeprefix(f"{where}: "), repair="use the default"))
        # Each field is tried alone, so that one invalid field does not cost the others.
        fields = dict[str, Any]()
        for field, value in tree.items():
            if field not in (*bare, "objects"):
                with suppress(MemcliError):
                    decode_header(encode({**bare, field: value, "objects": []}), b"", where)
                    fields[field] = value
        space = decode_header(encode({**bare, **fields, "objects": []}), b"", where)
    wrong = policy_problems(space.policy)
    found += [Damage(where, "header", f"policy: {message}", repair="use the default") for message in wrong.values()]
    sound = {field: value for field, value in policy_to_json(space.policy).items() if field not in wrong}
    space = replace(space, policy=policy_from_json(sound))
    if space.name != name:
        message = f"it contains space {space.name!r}"
        found.append(Damage(where, "name", message, repair=f"rename the space to {name}, like the file"))
    return replace(space, name=name)


def _outlines(items: Items, where: str, found: list[Damage], objects: list[Damage]) -> Iterator[_Outline]:
    """The outlines of the items that are valid memories. Repeated keys are added to `found`, invalid items to `objects`."""
    for n in range(len(items)):
        item, stored = items[n], items.stored(n)
        label = item["id"] if isinstance(item, dict) and isinstance(item.get("id"), str) else f"object {n + 1}"
        memory = None
        try:
            found_memory = items.memory(n, f"{where}: {label}")
            check_memory(found_memory)
            memory = found_memory
        except MemcliError as error:
            message = error.message.removeprefix(f"{where}: {label}: ")
            objects.append(Damage(where, "object", message, label, "move it to quarantine"))
        if memory is not None and memory.enforce and memory.active:
            try:
                check_triggers(memory.triggers)
            except UsageError as error:  # no repair: without the trigger, nothing would enforce the memory
                objects.append(Damage(where, "trigger", f"enforced, but {error.message}", label))
        is_canonical = memory is not None and items.is_canonical(n, memory)
        if stored and not is_canonical:  # canonical bytes have no key twice
            found.extend(_twice(stored, where))
        if memory is not None:
            # A memory without links and with the right hash can be judged alone; the others are decoded again, when all ids
            # are known.
            is_sound = right_hash(memory) in ("", memory.hash) and not memory.links and not memory.superseded_by
            m = memory
            yield _Outline(n, m.id, m.path, m.created_at, m.order, m.version, is_canonical, is_sound)


def _unique(
    outlines: Sequence[_Outline], items: Items, where: str, found: list[Damage]
) -> tuple[list[_Outline], dict[str, str]]:
    """The memories with each id once, the newer of two, and by id the new paths of those whose path another memory has.
    Damage is added to `found`."""
    often = Counter(one.id for one in outlines)

    def rank(one: _Outline) -> tuple[tuple[str, str], int, bytes]:
        # The bytes come last, so that of two of one time and version the same one stays, whatever their order in the file.
        return one.order, one.version, encode_memory(items.memory(one.n, where)) if often[one.id] > 1 else b""

    by_id: dict[str, _Outline] = {}
    for one in sorted(outlines, key=rank):
        if one.id in by_id:
            same = items.memory(by_id[one.id].n, where) == items.memory(one.n, where)
            message = "it is an exact duplicate" if same else SAME_ID
            found.append(Damage(where, "twice", message, one.id, "keep the newer one, move the other to quarantine"))
        by_id[one.id] = one
    by_path: dict[str, str] = {}
    paths: dict[str, str] = {}
    # Of two memories at one path, the older one had it first.
    for one in sorted(by_id.values(), key=lambda one: (one.created_at, one.id)):
        if one.path in by_path:
            paths[one.id] = marked(one.path, one.id[-8:])
            message = belongs(one.path, by_path[one.path])
            found.append(Damage(where, "path", message, one.id, f"move it to {paths[one.id]}"))
        by_path.setdefault(one.path, one.id)
    return list(by_id.values()), paths


def _mended(
    outlines: Sequence[_Outline],
    paths: Mapping[str, str],
    items: Items,
    exists: _Exists,
    where: str,
    found: list[Damage],
) -> Iterator[tuple[str, Memory]]:
    """The memories that a repair changes, by id, with right hashes, new paths and without dangling links. Damage is added to
    `found`."""
    for one in outlines:
        if one.is_sound and one.id not in paths:
            continue
        memory = items.memory(one.n, where)
        mended = replace(memory, path=paths.get(one.id, memory.path))
        digest = right_hash(mended)
        if digest not in ("", memory.hash):
            message = f"{WRONG_HASH} (edited by hand?)"
            found.append(Damage(where, "hash", message, one.id, "recompute the hash"))
            mended = replace(mended, metadata={**memory.metadata, "hash": digest})
        links = tuple(link for link in memory.links if exists(str(link["to"])))
        if dangling := [str(link["to"]) for link in memory.links if link not in links]:
            message = f"it links to {', '.join(dangling)}, which does not exist"
            found.append(Damage(where, "link", message, one.id, "remove the link"))
        if memory.superseded_by and not exists(memory.superseded_by):
            message = f"it is superseded by {memory.superseded_by}, which does not exist"
            found.append(Damage(where, "link", message, one.id, "make it current again"))
        mended = without_dangling(replace(mended, links=links), exists)
        if mended != memory:
            yield one.id, mended
