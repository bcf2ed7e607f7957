"""The index of a work tree, read from its file: starting git would take longer than a whole short command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from memcli.record import NamedTuple, Record

_HEADER = 12
_STAT = 40  # ten numbers of four bytes: the status of the file when git last read it
_EXTENDED = 0x4000
_SKIPPED = 0x4000  # the extended flag skip-worktree of a sparse checkout
_NAME = 0x0FFF
_HASHES = (20, 32)
_MAX_BYTES = 1 << 30
_MAX_LINE = 1 << 12
_MAX_CONFIG = 1 << 16
_COMPRESSED = 4  # the version in which a path omits the prefix that it shares with the path before


class TrackedFile(NamedTuple):
    """A tracked file: its path from the root of the work tree, and the file that git wrote or read there.

    `seconds` and `nanoseconds` are its time of change, `inode` its number cut to 32 bits, 0 where there is none.
    `is_sparse`: a sparse checkout does not have it; the path of a whole folder that is missing so ends in a slash.
    """

    path: str
    seconds: int
    nanoseconds: int
    inode: int
    is_sparse: bool = False

    def is_file(self, status: os.stat_result) -> bool:
        """Whether the file with this status is unchanged since git read it."""
        # The index stores the low 32 bits of each number, and 0 nanoseconds where git was built without them.
        changed = divmod(status.st_mtime_ns, 1_000_000_000)
        same = self.seconds == changed[0] & 0xFFFFFFFF and self.nanoseconds in (0, changed[1])
        return same and self.inode in (0, status.st_ino & 0xFFFFFFFF)


class IndexFile(Record):
    """The index of the work tree at `work_tree`, in the folder `git_dir`."""

    work_tree: str
    git_dir: str

    def fingerprint(self) -> str:
        """A text that changes whenever the index does; empty when there is none."""
        try:
            status = os.stat(os.path.join(self.git_dir, "index"))
        except OSError:
            return ""
        return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"

    def below(self, folders: Sequence[str]) -> list[TrackedFile]:
        """The tracked files below these folders, whatever the case of their names. Raises OSError, ValueError."""
        wanted = tuple(os.fsencode(f"{folder}/").lower() for folder in folders)
        found: dict[bytes, TrackedFile] = {}
        names: list[str] = []
        with suppress(FileNotFoundError):
            names = [n for n in os.listdir(self.git_dir) if n == "index" or n.startswith("sharedindex.")]
        for name in sorted(
            names, reverse=True
        ):  # in a split index, "index" overrides the shared part, so it is read last
            with open(os.path.join(self.git_dir, name), "rb") as file:
                data = file.read(_MAX_BYTES)
            plain = data[4:8] != _COMPRESSED.to_bytes(4, "big")
            lowered = data.lower()
            if plain and not any(folder in lowered for folder in wanted) and b"sdir" not in data:
                continue
            for path, entry in _entries(data):
                lower = path.lower()
                if lower.startswith(wanted) or (path.endswith(b"/") and any(f.startswith(lower) for f in wanted)):
                    found[path] = entry
        return [found[path] for path in sorted(found)]


def find_index(work_tree: str) -> IndexFile | None:
    """The index of the work tree at `work_tree`; None when it is not one of git's."""
    dot_git = os.path.join(work_tree, ".git")
    if os.path.isdir(dot_git):
        return IndexFile(work_tree, dot_git)
    folder = _linked(work_tree)
    return None if folder is None else IndexFile(work_tree, folder)


def common_dir(git_dir: str) -> str:
    """The git folder with the refs and objects that a linked work tree shares; else `git_dir` itself."""
    named = _first_line(os.path.join(git_dir, "commondir"))
    return os.path.normpath(os.path.join(git_dir, named)) if named else git_dir


def shared_folder(work_tree: str) -> str | None:
    """The folder of the repository that the work tree at `work_tree` belongs to, shared by all of its work trees.

    None where there is no repository, or where only the work tree names it: a `.git` file may have come in an archive
    and name any repository of this machine, so the repository must name the work tree too, as it does for linked work
    trees and submodules.
    """
    dot_git = os.path.join(work_tree, ".git")
    if os.path.islink(dot_git):
        return None
    if os.path.isdir(dot_git):
        return dot_git if os.path.lexists(os.path.join(dot_git, "HEAD")) else None
    folder = _linked(work_tree)
    if folder is None:
        return None
    here = os.path.realpath(work_tree)
    if back := _first_line(os.path.join(folder, "gitdir")):
        common = os.path.realpath(common_dir(folder))
        is_known = os.path.realpath(os.path.dirname(os.path.join(folder, back))) == here
        return common if is_known and os.path.dirname(folder) == os.path.join(common, "worktrees") else None
    with suppress(OSError), open(os.path.join(folder, "config"), encoding="utf-8", errors="surrogateescape") as file:
        for line in file.read(_MAX_CONFIG).splitlines():  # of a submodule
            name, _, value = line.partition("=")
            if name.strip().lower() == "worktree":
                named = value.strip().strip('"')
                return folder if named and os.path.realpath(os.path.join(folder, named)) == here else None
    return None


def work_trees(shared: str) -> list[str]:
    """The work trees that the repository in the folder `shared` names: the one that contains it, and the linked ones."""
    linked = os.path.join(shared, "worktrees")
    names = sorted(os.listdir(linked)) if os.path.isdir(linked) else []
    files = (_first_line(os.path.join(linked, name, "gitdir")) for name in names)
    return [os.path.dirname(shared), *(os.path.dirname(file) for file in files if os.path.isabs(file))]


def _linked(work_tree: str) -> str | None:
    """The git folder of a linked work tree; None for a main work tree, and for any other folder."""
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


def _entries(data: bytes) -> Iterator[tuple[bytes, TrackedFile]]:
    """The paths and entries of an index of version 2 to 4. Raises ValueError for anything else."""
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, _COMPRESSED):
        raise ValueError("unsupported index format")
    hash_length = next((length for length in _HASHES if _fits(data, length, version)), _HASHES[0])
    at, path = _HEADER, b""
    for _ in range(count):
        flags_at = at + _STAT + hash_length
        is_extended = bool(int.from_bytes(data[flags_at : flags_at + 2], "big") & _EXTENDED)
        name = flags_at + (4 if is_extended else 2)
        is_sparse = is_extended and bool(int.from_bytes(data[flags_at + 2 : flags_at + 4], "big") & _SKIPPED)
        if version == _COMPRESSED:
            cut, name = _varint(data, name)
            end = data.index(b"\0", name)
            path = path[: len(path) - cut] + data[name:end]
            after = end + 1
        else:
            end = data.index(b"\0", name)
            path = data[name:end]
            after = at + (end - at + 8) // 8 * 8
        seconds, nanoseconds, inode = (int.from_bytes(data[at + n : at + n + 4], "big") for n in (8, 12, 20))
        is_left_out = is_sparse or path.endswith(b"/")
        yield path, TrackedFile(os.fsdecode(path), seconds, nanoseconds, inode, is_left_out)
        at = after


def _fits(data: bytes, hash_length: int, version: int) -> bool:
    """Whether the first entry is valid with hashes of this length; the index does not record it."""
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
    """The variable-length number before a path of version 4, and the offset of its end. Raises ValueError."""
    if at >= len(data):
        raise ValueError("the index is truncated")
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        if at >= len(data):
            raise ValueError("the index is truncated")
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1
