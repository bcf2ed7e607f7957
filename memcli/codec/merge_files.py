"""Merging files: of three large versions of a space, no more is decoded at once than what differs between them.

What all three have, byte for byte, stays where it stands in ours, unless it shares a path with what differs, or refers to
it. The result is that of a merge of everything, and so are the bytes. A file that is not as memcli would write it is
merged as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memcli.codec.items import Items, OddError, TornError, as_written, framed
from memcli.codec.memory import check_memories
from memcli.codec.merge import Merged, merge, merge_versions
from memcli.codec.space import check_writable, decode_space, encode_space
from memcli.codec.splice import SpliceShelf
from memcli.codec.window import ByteWindow, Piece
from memcli.digests import blake2b
from memcli.errors import MemcliError
from memcli.model.memory import Memory
from memcli.model.references import refers_to
from memcli.model.space import Change, Space
from memcli.record import Record, replace


def merge_files(base: ByteWindow, ours: ByteWindow, theirs: ByteWindow) -> tuple[Merged, Iterable[Piece]]:
    """What comes out, of which the space has no more than what had to be looked at, and the file in pieces. Raises as
    `merge_versions` does."""
    try:
        return _merge_parts(base, ours, theirs)
    except (MemcliError, TornError, OddError):
        merged = merge_versions(base[:], ours[:], theirs[:])
        return merged, [encode_space(merged.space)]


class _MergeInput(Record):
    """One version: its header, the bytes around its memories, these, and their digests in the same order."""

    header: Space
    rest: bytes
    items: Items
    digests: Sequence[bytes]

    def changed(self, common: frozenset[bytes]) -> list[Memory]:
        """The memories that are not among the common ones. Raises OddError for one that is not as memcli writes it."""
        places = [n for n, digest in enumerate(self.digests) if digest not in common]
        memories = [self.items.memory(n, "a version") for n in places]
        if not all(self.items.is_canonical(n, memory) for n, memory in zip(places, memories, strict=True)):
            raise OddError
        return memories


def _merge_parts(*files: ByteWindow) -> tuple[Merged, Iterable[Piece]]:
    versions = [_version(file) for file in files]
    common = frozenset.intersection(*(frozenset(version.digests) for version in versions))
    changed = [version.changed(common) for version in versions]
    names = {memory.id for memories in changed for memory in memories}
    paths = {memory.path for memories in changed for memory in memories}
    ours = versions[1]
    shared: list[Memory] = []
    ids, taken = set[str](), set[str]()
    for digest, memory in zip(ours.digests, as_written(ours.items, "ours"), strict=True):
        if digest in common:
            ids.add(memory.id)
            taken.add(memory.path)
            if memory.path in paths or refers_to(memory, names):
                shared.append(memory)
    if len(ids) < len(common) or not ids.isdisjoint(names) or encode_space(ours.header) != ours.rest:
        raise OddError
    parts = [
        replace(version.header, objects=tuple(sorted([*memories, *shared], key=lambda memory: memory.order)))
        for version, memories in zip(versions, changed, strict=True)
    ]
    for part, where in zip(parts[1:], ("ours", "theirs"), strict=True):
        check_memories(part.objects, where, with_hashes=False)
    merged = merge(*parts, ids=ids, paths=taken)
    if merged.space.name != ours.header.name:
        raise OddError
    left = {memory.id for memory in merged.space.objects}
    gone = frozenset(memory.id for memory in parts[1].objects if memory.id not in left)
    change = Change(merged.space.objects, gone, header=replace(merged.space, objects=()))
    return merged, SpliceShelf(files[1], "ours").spliced(change)


def _version(file: ByteWindow) -> _MergeInput:
    found = framed(file, "a version")
    if found is None:
        raise OddError
    _, rest, items = found
    header = decode_space(rest, "a version")
    check_writable(header, "a version")
    digests = [blake2b(items.stored(n), digest_size=16).digest() for n in range(len(items))]
    if len(set(digests)) < len(digests):
        raise OddError
    return _MergeInput(header, rest, items, digests)
