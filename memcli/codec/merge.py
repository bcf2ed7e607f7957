"""Merge: two versions of a space and the one that both came from, made into one.

Memory by memory, by id, and field by field. Either side's additions survive, a deletion stands only where the other
side left the memory as it was, and where both changed one field in different ways the newer value stays while the
older is kept under `metadata.conflicts`. A memory that was made anew under its id stays as it is, and what it replaced
is kept there. It does not matter which side is called ours.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from itertools import count

from memcli.codec.canonical import encode
from memcli.codec.creations import merge_creations
from memcli.codec.items import check_names_once
from memcli.codec.memory import check_memories, memory_from_json, memory_to_json
from memcli.codec.merge_fields import DELETED, MergeSide, add_conflicts, merge_objects
from memcli.codec.space import check_writable, decode_space, encode_space, policy_from_json, policy_to_json
from memcli.errors import CorruptError, from_elsewhere
from memcli.model.links import is_found
from memcli.model.memory import Json, Memory
from memcli.model.names import marked, memory_id, short_digest
from memcli.model.references import is_same_memory, renamed, without_dangling, without_successor
from memcli.model.space import Space
from memcli.record import Record, field, replace

_ON_THAT_SIDE = "run `memcli check store --repair` on that side, then merge again"


class Conflict(Record):
    """A field that both sides changed in different ways; `id` and `path` are empty for one of the space itself."""

    id: str
    path: str
    field: str


class Merged(Record):
    """The space that comes out, what could not be decided without loss, and the paths that had to change (id to path)."""

    space: Space
    conflicts: tuple[Conflict, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)


def merge(base: Space, ours: Space, theirs: Space, *, ids: Collection[str] = (), paths: Container[str] = ()) -> Merged:
    """The three-way merge; `base` is an empty space where the two have no common one. `ids` and `paths` are those of
    memories that all three have beside these, and nobody changed.

    Raises CorruptError when a side has two memories of one id, of which a merge would lose one.
    """
    ours, theirs = _told_apart(base, ours, theirs, ids)
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
        """The memory without references to what the merge deletes, and without a successor that neither the result nor
        the base has."""
        memory, old = without_dangling(memory, lambda name: name not in gone), before.get(memory.id)
        is_known = memory.superseded_by in present or (old is not None and memory.superseded_by == old.superseded_by)
        return memory if is_known else without_successor(memory)

    ordered = tuple(sorted(map(sound, objects.values()), key=lambda m: m.order))
    return Merged(replace(header, objects=ordered), tuple(conflicts), moved)


def _told_apart(base: Space, ours: Space, theirs: Space, others: Collection[str]) -> tuple[Space, Space]:
    """Both sides with an id of its own for each memory; two that each side added may have come to one id.

    The one that the id was made for, by its path, keeps it; else the one of the smaller bytes.
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
    return _reidentified(ours, ids[0]), _reidentified(theirs, ids[1])


def _reidentified(space: Space, ids: Mapping[str, str]) -> Space:
    if not ids:
        return space
    return replace(space, objects=tuple(sorted((renamed(m, ids) for m in space.objects), key=lambda m: m.order)))


def _by_id(space: Space) -> dict[str, Memory]:
    found = {m.id: m for m in space.objects}
    if len(found) < len(space.objects):
        seen: set[str] = set()
        twice = next(m.id for m in space.objects if m.id in seen or seen.add(m.id))  # type: ignore[func-returns-value]
        raise CorruptError(f"two memories have the id {twice}", _ON_THAT_SIDE)
    return found


def _memory(
    base: Memory | None, left: tuple[Memory | None, Space], right: tuple[Memory | None, Space]
) -> tuple[Memory | None, list[str]]:
    """One memory of the result, or None when it is deleted, and the fields in conflict."""
    (ours, our_space), (theirs, their_space) = left, right
    if ours is None or theirs is None:
        kept = ours or theirs
        deleting = our_space if ours is None else their_space
        if base is None:
            return kept, []
        if kept is None or _same(_as_told(kept), _as_told(base)):
            return None, []
        return _edited_and_deleted(kept, deleting.updated_at), [DELETED]
    if _same(ours, theirs) or (base is not None and _same(theirs, base)):
        return ours, []
    if base is not None and _same(ours, base):
        return theirs, []
    if ours.created_at != theirs.created_at:
        return merge_creations(base, ours, theirs)
    before = {} if base is None else _json(base)
    data, fields = merge_objects(before, _side(_json(ours)), _side(_json(theirs)))
    return memory_from_json(data, f"merged {ours.id}"), fields


def _as_told(memory: Memory) -> Memory:
    """A memory without the links that the check of another one gave it: they are no reason to bring back what is purged."""
    return replace(memory, links=tuple(link for link in memory.links if not is_found(link)))


def _edited_and_deleted(memory: Memory, at: str) -> Memory:
    """What one side changed and the other deleted stays, and says so: a deletion can be repeated, a text cannot."""
    note = {"field": DELETED, "value": None, "updated_at": at}
    conflicts = add_conflicts(memory.metadata.get("conflicts", []), [note])
    return replace(memory, metadata={**memory.metadata, "conflicts": conflicts})


def _same(first: Memory, second: Memory) -> bool:
    # Python takes 1, 1.0 and True for equal, so that equal values may still be different bytes.
    return first is second or (first == second and encode(memory_to_json(first)) == encode(memory_to_json(second)))


def _json(memory: Memory) -> dict[str, Json]:
    return {n: list(v) if isinstance(v, tuple) else v for n, v in memory_to_json(memory).items()}


def _side(data: Mapping[str, Json]) -> MergeSide:
    return MergeSide(data, (str(data["updated_at"]), encode(data)))


def _header(base: Space, ours: Space, theirs: Space) -> tuple[Space, list[str]]:
    """The merged space without its objects, and the fields of it in conflict."""
    if _same_header(ours, theirs) or _same_header(theirs, base):
        return ours, []
    if _same_header(ours, base):
        return theirs, []
    data, fields = merge_objects(_header_json(base), _side(_header_json(ours)), _side(_header_json(theirs)))
    space = Space(
        name=data.pop("space"),
        metadata=data.pop("metadata"),
        policy=policy_from_json(data.pop("policy")),
        updated_at=data.pop("updated_at"),
        version=max(ours.version, theirs.version),
        extra=data,
    )
    return space, fields


def _same_header(first: Space, second: Space) -> bool:
    return first.version == second.version and encode(_header_json(first)) == encode(_header_json(second))


def _header_json(space: Space) -> dict[str, Json]:
    return {
        **space.extra, "space": space.name, "metadata": space.metadata, "policy": policy_to_json(space.policy),
        "updated_at": space.updated_at,
    }  # fmt: skip


def _make_paths_unique(
    objects: dict[str, Memory], paths: Container[str], *sides: Mapping[str, Memory]
) -> dict[str, str]:
    """Gives all but one of the memories that the merge brought to one path a path of their own, none of `paths`; id to new
    path.

    Memories that shared a path on one side already are left as they are: that is no doing of the merge.
    """
    base, *versions = sides
    groups: dict[str, list[str]] = {}
    for name, memory in objects.items():
        groups.setdefault(memory.path, []).append(name)
    moved = {}
    for path, names in sorted(groups.items()):
        if len(names) < 2 or any(all(_is_at(side, n, path) for n in names) for side in versions):
            continue
        # Who was there before stays; then who was made first.
        _, *others = sorted(names, key=lambda n: (not _is_at(base, n, path), objects[n].created_at, n))
        for name in others:
            moved[name] = _free_path(path, name, groups, paths)
            groups[moved[name]] = [name]
            objects[name] = replace(objects[name], path=moved[name])
    return moved


def _is_at(side: Mapping[str, Memory], name: str, path: str) -> bool:
    return name in side and side[name].path == path


def _free_path(path: str, name: str, *taken: Container[str]) -> str:
    """`path` with a digest of the id, as `remember` makes one; a longer digest where even that is taken."""
    candidates = (marked(path, short_digest(name, length)) for length in (8, 16, 32))
    return next(candidate for candidate in candidates if not any(candidate in paths for paths in taken))


def merge_versions(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """The merged space. Raises CorruptError when ours or theirs is no space that this version may write.

    A base that cannot be read, or is empty because there is none, counts as an empty space: then nothing is deleted.
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
        check_memories(space.objects, where, with_hashes=False)  # a text that a hand changed is merged as it is
        if encode_space(space) != data:
            check_names_once(data, where, _ON_THAT_SIDE)
    return space
