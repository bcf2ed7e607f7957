"""The three-way merge of two versions of a space with their common base.

It goes memory by memory, by id, and field by field. Additions of both sides survive; a deletion holds only where the other
side did not change the memory; where both changed one field differently, the newer value wins and the older one is noted in
`metadata.conflicts`. The result does not depend on which side is called ours.

Merging files: of three large versions of a space, only the memories that differ are decoded.

Memories that all three have, byte for byte, stay where they are in ours, unless they share a path with a memory that differs,
or refer to one. The result has the same bytes as a merge of everything. A file that memcli would write differently is
merged as a whole.

Two memories of one id with different `created_at` are not versions of each other: one was deleted and the id used again. The
newer memory wins whole, and values that only the older one has are noted in `metadata.conflicts`, each with the `created_at`
of the older memory. A purge of the older memory finds these notes by it, and never removes the newer memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import count

from memcli.codec.canonical import encode
from memcli.codec.memory import CORE_DEFAULTS, DELETED, check_memories, memory_from_json, memory_to_json
from memcli.codec.space import (
    Items,
    OddError,
    as_written,
    check_names_once,
    check_writable,
    decode_space,
    encode_space,
    framed,
    policy_from_json,
    policy_to_json,
)
from memcli.codec.splice import SpliceShelf
from memcli.codec.window import ByteWindow, Piece
from memcli.digests import blake2b
from memcli.errors import CorruptError, MemcliError, from_elsewhere
from memcli.model.links import is_found, is_same_memory, refers_to, renamed, without_dangling, without_successor
from memcli.model.memory import Json, Memory, increased
from memcli.model.names import marked, memory_id, short_digest, text_hash
from memcli.model.shapes import ADDED, BY_KEY, FIELDS, OF_TEXT
from memcli.model.space import Change, Space
from memcli.record import Record, field, replace

_ON_THAT_SIDE = "run `memcli check store --repair` on that side, then merge again"


class Conflict(Record):
    """A field that both sides changed in different ways; `id` and `path` are empty for one of the space itself."""

    id: str
    path: str
    field: str


class Merged(Record):
    """The merged space, the conflicts, and the new paths of memories that had to be moved, by id."""

    space: Space
    conflicts: tuple[Conflict, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)


def merge(base: Space, ours: Space, theirs: Space, *, ids: Collection[str] = (), paths: Container[str] = ()) -> Merged:
    """The three-way merge; `base` is an empty space where there is no common one. `ids` and `paths` are those of unchanged
    memories that all three files have and these spaces leave out.

    Raises CorruptError when a side has two memories of one id: the merge would lose one.
    """
    ours, theirs = _with_own_ids(base, ours, theirs, ids)
    before, left, right = (_by_id(space) for space in (base, ours, theirs))
    header, fields = _header(base, ours, theirs)
    conflicts = [Conflict("", "", name) for name in fields]
    objects: dict[str, Memory] = {}
    for name in sorted(left.keys() | right.keys()):
        memory, fields = _memory(before.get(name), (left.get(name), ours), (right.get(name), theirs))
        if memory is not None:
            objects[name] = memory
            conflicts += [Conflict(name, memory.path, field) for field in fields]
    moved = _make_paths_unique(objects, paths, before, left, right)
    present = {*objects, *ids}
    gone = (before.keys() | left.keys() | right.keys()) - present

    def sound(memory: Memory) -> Memory:
        """The memory without references to memories that the merge deletes, and without a successor that is in neither the
        result nor the base."""
        memory, old = without_dangling(memory, lambda name: name not in gone), before.get(memory.id)
        is_known = memory.superseded_by in present or (old is not None and memory.superseded_by == old.superseded_by)
        return memory if is_known else without_successor(memory)

    return Merged(replace(header, objects=_ordered(map(sound, objects.values()))), tuple(conflicts), moved)


def _ordered(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    return tuple(sorted(memories, key=lambda memory: memory.order))


def _with_own_ids(base: Space, ours: Space, theirs: Space, others: Collection[str]) -> tuple[Space, Space]:
    """Both sides with a new id for one of each two different memories that were added under the same id.

    The memory from whose path the id was made keeps it; else the one with the smaller bytes does.
    """
    before, left, right = ({m.id: m for m in space.objects} for space in (base, ours, theirs))
    taken, space = {*before, *left, *right, *others}, min(ours.name, theirs.name)
    ids: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for name in sorted((left.keys() & right.keys()) - before.keys()):
        if is_same_memory(left[name], right[name]):
            continue
        sides = (left[name], right[name])
        side = max((0, 1), key=lambda n: (memory_id(space, sides[n].path) != name, encode(memory_to_json(sides[n]))))
        names = (memory_id(space, sides[side].path, number) for number in count(1))
        ids[side][name] = next(free for free in names if free not in taken)
        taken.add(ids[side][name])
    ours, theirs = (
        replace(side, objects=_ordered(renamed(m, new) for m in side.objects)) if new else side
        for side, new in zip((ours, theirs), ids, strict=True)
    )
    return ours, theirs


def _by_id(space: Space) -> dict[str, Memory]:
    found: dict[str, Memory] = {}
    for memory in space.objects:
        if memory.id in found:
            raise CorruptError(f"two memories have the id {memory.id}", _ON_THAT_SIDE)
        found[memory.id] = memory
    return found


def _memory(
    base: Memory | None, left: tuple[Memory | None, Space], right: tuple[Memory | None, Space]
) -> tuple[Memory | None, list[str]]:
    """One memory of the result, None when it is deleted, and the names of its fields in conflict."""
    (ours, our_space), (theirs, their_space) = left, right
    if ours is None or theirs is None:
        present = ours or theirs
        deleting = our_space if ours is None else their_space
        if base is None:
            return present, []
        # A link added by a check for contradictions is no edit: it must not bring back a purged memory.
        if present is None or _is_same(_without_found_links(present), _without_found_links(base)):
            return None, []
        # A memory that one side edited and the other deleted stays, with a note: a deletion can be repeated, a text cannot.
        note = {"field": DELETED, "value": None, "updated_at": deleting.updated_at}
        return _noted(present, [note]), [DELETED]
    if _is_same(ours, theirs) or (base is not None and _is_same(theirs, base)):
        return ours, []
    if base is not None and _is_same(ours, base):
        return theirs, []
    if ours.created_at != theirs.created_at:
        return _merge_creations(base, ours, theirs)
    data, fields = merge_objects({} if base is None else _json(base), _json(ours), _json(theirs))
    return memory_from_json(data, f"merged {ours.id}"), fields


def _without_found_links(memory: Memory) -> Memory:
    return replace(memory, links=tuple(link for link in memory.links if not is_found(link)))


def _noted(memory: Memory, notes: Iterable[Json]) -> Memory:
    """The memory with these notes among its conflicts."""
    conflicts = _with_conflicts(memory.metadata.get("conflicts", []), notes)
    return replace(memory, metadata={**memory.metadata, "conflicts": conflicts})


def _with_conflicts(known: Json, notes: Iterable[Json]) -> list[Json]:
    """The `known` conflicts and `notes`, each once, in order of time. A value of `known` that is not a list counts as one."""
    every = {encode(note): note for note in [*(known if isinstance(known, list) else [known]), *notes]}

    def order(place: bytes) -> tuple[str, bytes]:
        note = every[place]
        return str(note.get("updated_at", "")) if isinstance(note, dict) else "", place

    return [every[place] for place in sorted(every, key=order)]


def _is_same(first: Memory, second: Memory) -> bool:
    # Bytes decide, because 1, 1.0 and True are equal in Python and differ in JSON.
    return first is second or (first == second and encode(memory_to_json(first)) == encode(memory_to_json(second)))


def _json(memory: Memory) -> dict[str, Json]:
    return {n: list(v) if isinstance(v, tuple) else v for n, v in memory_to_json(memory).items()}


def _header(base: Space, ours: Space, theirs: Space) -> tuple[Space, list[str]]:
    """The merged space without its objects, and the names of its fields in conflict."""
    before, left, right = (
        {
            **s.extra,
            "space": s.name,
            "metadata": s.metadata,
            "policy": policy_to_json(s.policy),
            "updated_at": s.updated_at,
        }
        for s in (base, ours, theirs)
    )
    was, is_ours, is_theirs = (
        (space.version, encode(tree)) for space, tree in zip((base, ours, theirs), (before, left, right), strict=True)
    )
    if is_theirs in (is_ours, was):
        return ours, []
    if is_ours == was:
        return theirs, []
    data, fields = merge_objects(before, left, right)
    space = Space(
        name=data.pop("space"),
        metadata=data.pop("metadata"),
        policy=policy_from_json(data.pop("policy")),
        updated_at=data.pop("updated_at"),
        version=max(ours.version, theirs.version),
        extra=data,
    )
    return space, fields


def _make_paths_unique(
    objects: dict[str, Memory], paths: Container[str], *sides: Mapping[str, Memory]
) -> dict[str, str]:
    """Moves all but one of the memories that the merge brought to one path, to new paths not in `paths`; returns these by id.
    `sides` are the memories of the base, ours and theirs.

    Memories that shared a path on one side already are left as they are: that is no doing of the merge.
    """
    groups: dict[str, list[str]] = {}
    for name, memory in objects.items():
        groups.setdefault(memory.path, []).append(name)
    moved = {}
    for path, names in sorted(groups.items()):
        was, *here = ({n for n in names if n in side and side[n].path == path} for side in sides)
        if len(names) < 2 or len(names) in map(len, here):
            continue
        # The memory that had the path in the base keeps it, else the oldest one.
        _, *others = sorted((n not in was, objects[n].created_at, n) for n in names)
        for _, _, name in others:
            # The path ends in a digest of the id, as with `remember`, which is longer where that path is taken too.
            candidates = (marked(path, short_digest(name, length)) for length in (8, 16, 32))
            moved[name] = next(free for free in candidates if free not in groups and free not in paths)
            groups[moved[name]] = [name]
            objects[name] = replace(objects[name], path=moved[name])
    return moved


_OF_ITS_OWN = frozenset(
    "id created_at updated_at version strength chunks metadata.hash metadata.pii_flags metadata.conflicts".split()
)
"""Fields with no meaning outside of their memory, and `conflicts`, whose notes are copied one by one."""
_NOTHING: tuple[Json, ...] = (None, "", (), [], {})


def _merge_creations(base: Memory | None, first: Memory, second: Memory) -> tuple[Memory, list[str]]:
    """The newer of two memories of one id, with notes of the values that only the older one has, and the fields of these."""
    older, newer = sorted((first, second), key=lambda memory: memory.created_at)
    # What the base had is not noted: whoever deleted the memory and made it anew saw it.
    was = base if base is not None and base.created_at == older.created_at else None
    made = {"created_at": older.created_at, "updated_at": older.updated_at}
    unnoted = {*_OF_ITS_OWN, *(_FOLLOW_TEXT if newer.raw != older.raw else ())}
    there = {(name, encode(value)) for one in (newer, was) if one is not None for name, value in _flat(one)}
    notes = [
        {**made, "field": name, "value": list(value) if isinstance(value, tuple) else value}
        for name, value in _flat(_without_found_links(older))
        if name not in unnoted and value not in _NOTHING and (name, encode(value)) not in there
    ]
    known = older.metadata.get("conflicts", [])
    earlier = [
        {**made, **note} if isinstance(note, dict) else {**made, "field": "metadata.conflicts", "value": note}
        for note in (known if isinstance(known, list) else [known])
    ]
    if not (notes or earlier):
        return newer, []
    return _noted(newer, [*notes, *earlier]), sorted({str(note["field"]) for note in notes})


def without_creations(memory: Memory, until: str) -> Memory:
    """The memory without the notes of memories created until `until`."""
    metadata = without_notes(memory.metadata, lambda note: "" < str(note.get("created_at", "")) <= until)
    return memory if metadata is memory.metadata else replace(memory, metadata=metadata)


def without_notes(metadata: Mapping[str, Json], is_settled: Callable[[Mapping[str, Json]], bool]) -> Mapping[str, Json]:
    """The metadata without the notes of a merge that are settled; the same object if there are none."""
    notes = metadata.get("conflicts")
    if not isinstance(notes, list | tuple):
        return metadata
    left = [note for note in notes if not (isinstance(note, Mapping) and is_settled(note))]
    if len(left) == len(notes):
        return metadata
    rest = {name: value for name, value in metadata.items() if name != "conflicts"}
    return {**rest, "conflicts": left} if left else rest


def _flat(memory: Memory) -> Iterator[tuple[str, Json]]:
    """The fields of a memory with their values; fields that are merged by key are split, as in `metadata.hash`."""
    for name, value in memory_to_json(memory).items():
        if name in _MAPS and isinstance(value, Mapping):
            yield from ((f"{name}.{key}", one) for key, one in value.items())
        else:
            yield name, value


_MISSING = object()
_DEFAULTS: Mapping[str, Json] = {**CORE_DEFAULTS, "policy": {}}
_MAPS = ("policy", *(name for name, row in FIELDS.items() if row.merging == BY_KEY))
_SUMMARIES = tuple(name for name, row in FIELDS.items() if row.like)
_FOLLOW_TEXT = ("metadata.pii_flags", *(name for name, row in FIELDS.items() if row.merging == OF_TEXT))
"""Fields derived from the text: where the texts differ, they are taken from the side whose text wins."""
_UNNOTED = ("links", "chunks", "metadata.hash", "metadata.pii_flags", "metadata.conflicts")
"""Fields whose newer value wins without a note: derived from the text, or a link, whose weight both sides set."""


_SETS: Mapping[str, Callable[[Json], bytes]] = {
    **dict.fromkeys((name for name, row in FIELDS.items() if row.merging == ADDED), encode),
    "metadata.pii_flags": encode, "metadata.conflicts": encode,
    "links": lambda link: encode([link.get("to"), link.get("relation")] if isinstance(link, dict) else link),
}  # fmt: skip
"""The lists that are merged as sets, each with the function that gives the key of an item."""


def merge_objects(
    base: Mapping[str, Json], ours: Mapping[str, Json], theirs: Mapping[str, Json]
) -> tuple[dict[str, Json], list[str]]:
    """The merged object, and the names of the fields in conflict; `base` is empty where there is none.

    The result must not depend on which side is called ours: the newer side is that of the later `updated_at`, then of the
    greater bytes.
    """
    older, newer = sorted((theirs, ours), key=lambda side: (str(side["updated_at"]), encode(side)))
    merging = _FieldMerge(base, newer, older)
    data, conflicts = merging.data, merging.conflicts
    # The text first, because others follow it; the metadata last, because conflicts are noted there.
    for name in sorted(newer.keys() | older.keys(), key=lambda n: (n != "raw", n == "metadata", n)):
        value = merging.merged(name, *(_get(side, name) for side in (base, newer, older)))
        if value is not _MISSING:
            data[name] = value
    if conflicts:
        metadata = data.get("metadata", {})
        notes = [{"field": n, "value": value, "updated_at": at} for n, (value, at) in conflicts.items()]
        data["metadata"] = {**metadata, "conflicts": _with_conflicts(metadata.get("conflicts", []), notes)}
    return data, sorted(conflicts)


class _FieldMerge(Record, frozen=False):
    """The merge of the fields of one object. `data` has those merged so far; `conflicts` has, by field, the older value and
    the `updated_at` of its side."""

    base: Mapping[str, Json]
    newer: Mapping[str, Json]
    older: Mapping[str, Json]
    data: dict[str, Json] = field(default_factory=dict)
    conflicts: dict[str, tuple[Json, Json]] = field(default_factory=dict)

    def merged(self, name: str, base: Json, newer: Json, older: Json) -> Json:
        """The merged value of a field from its three versions, _MISSING where there is none; adds to `conflicts`."""
        if name == "updated_at":
            return max(newer, older)
        if name in ("strength", "version"):
            was, new, old = (1 if n is _MISSING else int(n) for n in (base, newer, older))
            if name == "strength":  # the sum of what both sides added: a confirmation on either side counts
                return max(0, increased(new, old - was))
            # One more when both sides were edited, because neither has the merged text.
            return increased(max(new, old), min(new, old) > was)
        text = _get(self.newer, "raw")
        if name in _FOLLOW_TEXT and not _is_equal(text, _get(self.older, "raw")):
            is_newer = _is_equal(self.data.get("raw", _MISSING), text)
            chosen, lost, loser = (newer, older, self.older) if is_newer else (older, newer, self.newer)
            was_written_by_hand = _is_equal(_get(loser, "raw"), _get(self.base, "raw")) and not _is_equal(lost, base)
            if name in _SUMMARIES and was_written_by_hand and not _is_equal(lost, chosen):
                self.conflicts[name] = lost, loser.get("updated_at", "")
            return chosen
        if name in _MAPS and isinstance(newer, dict) and isinstance(older, dict):
            sides = (base if isinstance(base, dict) else {}, newer, older)
            values = {
                key: self.merged(f"{name}.{key}", *(side.get(key, _MISSING) for side in sides))
                for key in sorted(newer.keys() | older.keys())
            }
            return {key: value for key, value in values.items() if value is not _MISSING}
        if name == "metadata.hash":
            return self._hash(base, newer, older)
        if name in _SETS and isinstance(newer, list) and isinstance(older, list):
            return self._set(name, base if isinstance(base, list) else [], newer, older)
        return self._value(name, base, newer, older)

    def _value(self, name: str, base: Json, newer: Json, older: Json) -> Json:
        """The value that one side changed; where both did, the newer one, with a note of the older. An edit wins over a removal."""
        if _is_equal(newer, older) or _is_equal(older, base):
            return newer
        # Also where the older side has no value: what it removed must not come back when the other side changed
        # something else.
        if _is_equal(newer, base):
            return older
        if older is _MISSING or newer is _MISSING:
            return older if newer is _MISSING else newer
        if name not in _UNNOTED:
            self.conflicts[name] = older, self.older.get("updated_at", "")
        return newer

    def _set(self, name: str, base: Sequence[Json], newer: Sequence[Json], older: Sequence[Json]) -> Json:
        """The items of the base in their order, then those that either side added."""
        if _is_equal(newer, older) or _is_equal(older, base):
            return newer
        if _is_equal(newer, base):
            return older
        key = _SETS[name]
        was, new, old = ({key(item): item for item in side} for side in (base, newer, older))
        places = [*was, *sorted((new.keys() | old.keys()) - was.keys())]
        values = (self._value(name, *(side.get(place, _MISSING) for side in (was, new, old))) for place in places)
        return [value for value in values if value is not _MISSING]

    def _hash(self, base: Json, newer: Json, older: Json) -> Json:
        """The hash of the merged text and content. Neither side has it where one side gave the text and the other the content."""
        text, content = self.data.get("raw", ""), self.data.get("content", _MISSING)
        of_sides = [
            _is_equal(text, _get(s, "raw")) and _is_equal(content, _get(s, "content")) for s in (self.newer, self.older)
        ]
        if all(of_sides):
            return self._value("metadata.hash", base, newer, older)
        if any(of_sides):
            return newer if of_sides[0] else older
        return text_hash(text, b"" if content is _MISSING else encode(content))


def _get(side: Mapping[str, Json], name: str) -> Json:
    return side.get(name, _DEFAULTS.get(name, _MISSING))


def _is_equal(first: Json, second: Json) -> bool:
    # Bytes decide, because 1, 1.0 and True are equal in Python.
    if first is _MISSING or second is _MISSING:
        return first is second
    return first is second or encode(first) == encode(second)


def merge_versions(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """The merged space. Raises CorruptError when ours or theirs is not a space that this version may write.

    A base that cannot be read, or is empty because there is none, counts as an empty space, so that nothing is deleted.
    """
    left, right = _decoded(ours, "ours"), _decoded(theirs, "theirs")
    try:
        before = decode_space(base, "base")
        check_writable(before, "base")
    except CorruptError:
        before = Space(left.name)
    return merge(before, left, right)


def _decoded(data: bytes, where: str) -> Space:
    with from_elsewhere(_ON_THAT_SIDE):
        space = decode_space(data, where)
        check_writable(space, where)
        check_memories(
            space.objects, where, with_hashes=False
        )  # an edit of the file by hand leaves the hash of the text wrong
        if encode_space(space) != data:
            check_names_once(data, where, _ON_THAT_SIDE)
    return space


def merge_files(base: ByteWindow, ours: ByteWindow, theirs: ByteWindow) -> tuple[Merged, Iterable[Piece]]:
    """The result, whose space has only the memories that had to be decoded, and the merged file in pieces. Raises as
    `merge_versions` does."""
    try:
        return _merge_parts(base, ours, theirs)
    except (MemcliError, OddError):
        merged = merge_versions(base[:], ours[:], theirs[:])
        return merged, [encode_space(merged.space)]


def _merge_parts(*files: ByteWindow) -> tuple[Merged, Iterable[Piece]]:
    """`merge_files` without decoding what all three files have. Raises OddError, MemcliError where they must be merged whole."""
    versions = [_read_version(file) for file in files]
    common = frozenset.intersection(*(frozenset(digests) for *_, digests in versions))
    changed: list[list[Memory]] = []
    for _, _, items, digests in versions:
        places = [n for n, digest in enumerate(digests) if digest not in common]
        changed.append([items.memory(n, "a version") for n in places])
        if not all(items.is_canonical(n, memory) for n, memory in zip(places, changed[-1], strict=True)):
            raise OddError
    names = {memory.id for memories in changed for memory in memories}
    paths = {memory.path for memories in changed for memory in memories}
    header, rest, items, digests = versions[1]  # ours
    shared: list[Memory] = []
    ids, taken = set[str](), set[str]()
    for digest, memory in zip(digests, as_written(items, "ours"), strict=True):
        if digest in common:
            ids.add(memory.id)
            taken.add(memory.path)
            if memory.path in paths or refers_to(memory, names):
                shared.append(memory)
    # Only a file as memcli writes it can be spliced; a merge of the whole one reports two memories of one id.
    if len(ids) < len(common) or not ids.isdisjoint(names) or encode_space(header) != rest:
        raise OddError
    parts = [
        replace(version[0], objects=_ordered([*memories, *shared]))
        for version, memories in zip(versions, changed, strict=True)
    ]
    for part, where in zip(parts[1:], ("ours", "theirs"), strict=True):
        check_memories(part.objects, where, with_hashes=False)
    merged = merge(*parts, ids=ids, paths=taken)
    # A memory in a file omits the name of its space, so that another name changes the bytes of all memories.
    if merged.space.name != header.name:
        raise OddError
    left = {memory.id for memory in merged.space.objects}
    gone = frozenset(memory.id for memory in parts[1].objects if memory.id not in left)
    change = Change(merged.space.objects, gone, header=replace(merged.space, objects=()))
    return merged, SpliceShelf(files[1], "ours").spliced(change)


def _read_version(file: ByteWindow) -> tuple[Space, bytes, Items, Sequence[bytes]]:
    """The header of one version, the bytes around its memories, the memories, and their digests in the same order."""
    found = framed(file, "a version")
    if found is None:
        raise OddError
    _, rest, items = found
    header = decode_space(rest, "a version")
    check_writable(header, "a version")
    digests = [blake2b(items.stored(n), digest_size=16).digest() for n in range(len(items))]
    # A memory that occurs twice is damage, which the merge of the whole file reports.
    if len(set(digests)) < len(digests):
        raise OddError
    return header, rest, items, digests
