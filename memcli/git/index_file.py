"""The index of a work tree, read as a file: a process of git's would cost more than all of a short command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from memcli.record import Record

_HEADER = 12
_STAT = 40  # ten numbers of four bytes: the status of the file when git last saw it
_EXTENDED = 0x4000
_NAME = 0x0FFF
_HASHES = (20, 32)
_MAX_BYTES = 1 << 30
_MAX_LINE = 1 << 12
_MAX_TREES = 64
_COMPRESSED = 4  # the version whose paths leave out what they share with the one before


class Entry(NamedTuple):
    """A tracked file: its path from the root of the work tree, and the file that git wrote or read there.

    `seconds` and `nanoseconds` are its time of change, `inode` its number cut to 32 bits, 0 where there is none.
    """

    path: str
    seconds: int
    nanoseconds: int
    inode: int

    def is_file(self, status: os.stat_result) -> bool:
        """Whether the file of this status is the one that git knows: nobody has written it since."""
        changed = divmod(status.st_mtime_ns, 1_000_000_000)
        same = self.seconds == changed[0] & 0xFFFFFFFF and self.nanoseconds in (0, changed[1])
        return same and self.inode in (0, status.st_ino & 0xFFFFFFFF)


class IndexFile(Record):
    """The index of the work tree at `work_tree`, in the folder `git_dir`."""

    work_tree: str
    git_dir: str

    def fingerprint(self) -> str:
        """Changes with the index; empty when there is none."""
        try:
            status = os.stat(os.path.join(self.git_dir, "index"))
        except OSError:
            return ""
        return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"

    def below(self, folders: Sequence[str]) -> list[Entry]:
        """The tracked files below these folders, whatever the case of their names. Raises OSError, ValueError."""
        wanted = tuple(os.fsencode(f"{folder}/").lower() for folder in folders)
        found: dict[bytes, Entry] = {}
        for name in self._parts():
            with open(os.path.join(self.git_dir, name), "rb") as file:
                data = file.read(_MAX_BYTES)
            plain = data[4:8] != _COMPRESSED.to_bytes(4, "big")
            if plain and not any(folder in data.lower() for folder in wanted):
                continue
            found |= {path: entry for path, entry in _entries(data) if path.lower().startswith(wanted)}
        return [found[path] for path in sorted(found)]

    def _parts(self) -> list[str]:
        names = []
        with suppress(FileNotFoundError):
            names = [n for n in os.listdir(self.git_dir) if n == "index" or n.startswith("sharedindex.")]
        return sorted(names, reverse=True)  # of a split index the own part counts more


def find_index(work_tree: str) -> IndexFile | None:
    """The index of the work tree at `work_tree`; None when git does not work there."""
    dot_git = os.path.join(work_tree, ".git")
    if os.path.isdir(dot_git):
        return IndexFile(work_tree, dot_git)
    folder = _linked(work_tree)
    return None if folder is None else IndexFile(work_tree, folder)


def sibling_trees(work_tree: str) -> list[str]:
    """The other work trees of the repository that has the one at `work_tree`.

    Each must name the repository, and the repository it: what one side alone says may have come in an archive.
    """
    own = _linked(work_tree)
    common = os.path.realpath(os.path.join(work_tree, ".git") if own is None else os.path.join(own, "..", ".."))
    if own is not None and os.path.dirname(own) != os.path.join(common, "worktrees"):
        return []
    trees = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    with suppress(OSError):
        for name in sorted(os.listdir(os.path.join(common, "worktrees")))[:_MAX_TREES]:
            linked = os.path.join(common, "worktrees", name)
            tree = os.path.dirname(os.path.join(linked, _first_line(os.path.join(linked, "gitdir"))))
            trees += [tree] if _linked(tree) == linked else []
    here = os.path.realpath(work_tree)
    known = [os.path.realpath(tree) for tree in trees]
    return [tree for tree in known if tree != here] if here in known else []


def _linked(work_tree: str) -> str | None:
    """The folder of a linked work tree in its repository; None for a main one, and for what is none."""
    name, _, folder = _first_line(os.path.join(work_tree, ".git")).partition(": ")
    return os.path.realpath(os.path.join(work_tree, folder)) if name == "gitdir" else None


def _first_line(path: str) -> str:
    """The first line of a small file; empty when it cannot be read."""
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(_MAX_LINE).rstrip("\n")
    except OSError:
        return ""


def _entries(data: bytes) -> Iterator[tuple[bytes, Entry]]:
    """The entries of an index of the versions 2 to 4. Raises ValueError for anything else."""
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, _COMPRESSED):
        raise ValueError("unsupported index format")
    hash_length = next((length for length in _HASHES if _fits(data, length, version)), _HASHES[0])
    at, path = _HEADER, b""
    for _ in range(count):
        flags_at = at + _STAT + hash_length
        name = flags_at + (4 if int.from_bytes(data[flags_at : flags_at + 2], "big") & _EXTENDED else 2)
        if version == _COMPRESSED:
            cut, name = _varint(data, name)
            end = data.index(b"\0", name)
            path = path[: len(path) - cut] + data[name:end]
            after = end + 1
        else:
            end = data.index(b"\0", name)
            path = data[name:end]
            after = at + (end - at + 8) // 8 * 8
        numbers = [int.from_bytes(data[at + n : at + n + 4], "big") for n in (8, 12, 20)]
        yield path, Entry(os.fsdecode(path), *numbers)
        at = after


def _fits(data: bytes, hash_length: int, version: int) -> bool:
    """Whether the first entry makes sense with hashes of this length."""
    flags_at = _HEADER + _STAT + hash_length
    flags = int.from_bytes(data[flags_at : flags_at + 2], "big")
    name = flags_at + (4 if flags & _EXTENDED else 2)
    if version == _COMPRESSED:
        _, name = _varint(data, name)
    length = flags & _NAME
    return length == _NAME or (
        data[name + length : name + length + 1] == b"\0" and b"\0" not in data[name : name + length]
    )


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number as git packs it before a path of version 4, and where it ends. Raises ValueError."""
    if at >= len(data):
        raise ValueError("the index is truncated")
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        if at >= len(data):
            raise ValueError("the index is truncated")
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1
