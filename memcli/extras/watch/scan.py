"""The part of a work tree that is watched, and how it differs from what was seen before, with files that moved.

State: what a watch has seen, as values; `storing.py` keeps it.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from posixpath import basename
from types import MappingProxyType
from typing import Any, NamedTuple

from memcli.code.globs import Patterns
from memcli.errors import NotFoundError, UsageError
from memcli.git.repository import UnfitError, read_bytes
from memcli.git.tree import RULE_FILES, Ignore, Tree, folder_noise, noise
from memcli.model.names import show
from memcli.record import Record, field, replace

_RAW = "//"


class Stamp(NamedTuple):
    """How a file was when it was last seen. `digest` is empty for one too large to read."""

    size: int
    mtime_ns: int
    digest: str


class WatchState(Record):
    """The files seen, by path, and the last commit seen: None when commits were never followed, empty when there were
    none yet."""

    head: str | None = None
    files: Mapping[str, Stamp] = field(default_factory=lambda: MappingProxyType({}))

    def doubting(self, paths: Iterable[str]) -> WatchState:
        """The state when it is not known what became of these files: the next scan finds each changed, or gone."""
        return replace(self, files={**self.files, **dict.fromkeys(paths, UNKNOWN)})

    def to_json(self) -> dict[str, Any]:
        """The state as plain JSON values, sorted."""
        return {"head": self.head, "files": {name_to_json(path): list(self.files[path]) for path in sorted(self.files)}}

    @classmethod
    def from_json(cls, value: object) -> WatchState:
        """The state that `to_json` gave. Whatever cannot be understood is left out, and so will be read again."""
        data = value if isinstance(value, dict) else {}
        head, files = data.get("head"), data.get("files")
        stamps = {}
        for path, facts in files.items() if isinstance(files, dict) else ():
            match facts:
                case [int(size), int(mtime_ns), str(digest)] if isinstance(path, str):
                    stamps[name_from_json(path)] = Stamp(size, mtime_ns, digest)
        return cls(head if isinstance(head, str) else None, stamps)


UNKNOWN = Stamp(-1, -1, "")


def name_to_json(path: str) -> str:
    """The path as JSON can hold it: as `//` and hex where it is not UTF-8; no relative path begins with `//`."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return _RAW + os.fsencode(path).hex()
    return path


def name_from_json(path: str) -> str:
    """The path that `name_to_json` gave; what cannot be decoded stays as it is."""
    if not path.startswith(_RAW):
        return path
    try:
        return os.fsdecode(bytes.fromhex(path.removeprefix(_RAW)))
    except ValueError:
        return path


class ScanScope:
    """What is in `paths` (all when empty; from the current directory), and matches one of `globs` (gitignore's syntax).

    Generated files never are. Raises NotFoundError, UsageError for a path that is not in the work tree `root`.
    """

    def __init__(self, root: str, paths: Sequence[str], globs: Sequence[str]) -> None:
        self.starts: list[str] = []
        """Files and folders below which everything in scope is."""
        inside = set()
        for path in paths:
            place = os.path.realpath(path)
            if not os.path.exists(place):
                raise NotFoundError(f"no such file: {show(path)}", "name a file or a folder that exists")
            if place != root and not place.startswith(root.rstrip(os.sep) + os.sep):
                raise UsageError(
                    f"outside the work tree: {show(path)}", "watch only files and folders of this work tree"
                )
            inside.add("" if place == root else os.path.relpath(place, root).replace(os.sep, "/"))
        for path in sorted(inside) or [""]:
            if not is_below(path, self.starts):
                self.starts.append(path)
        self._globs = Patterns(os.fsencode(glob) for glob in globs)
        self._has_globs = bool(globs)

    def contains(self, path: str) -> bool:
        """Whether the file, by its path from the root, is in scope."""
        if noise(path) or not is_below(path, self.starts):
            return False
        is_folder = False
        while self._has_globs and path:  # the file decides, or else the nearest folder above it that a glob names
            verdict = self._globs.verdict(path, is_folder=is_folder)
            if verdict is not None:
                return verdict
            path, is_folder = path.rpartition("/")[0], True
        return not self._has_globs


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether the path is one of these folders or below one."""
    return any(not folder or path == folder or path.startswith(f"{folder}/") for folder in folders)


Known = Mapping[str, Stamp]


class Difference(Record):
    """Files that are new or have other content, files that are gone, and all stamps that differ."""

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stamps: Known = field(default_factory=lambda: MappingProxyType({}))

    def applied_to(self, known: Known) -> Known:
        """`known`, brought up to date."""
        if not self.stamps and not self.removed:
            return known
        gone = frozenset(self.removed)
        return {path: stamp for path, stamp in {**known, **self.stamps}.items() if path not in gone}

    def parts(self, size: int) -> list[Difference]:
        """The same in parts of at most `size` changed files; the first has all that is gone or only has another stamp."""
        if len(self.changed) <= size:
            return [self]
        later = frozenset(self.changed[size:])
        first = {path: stamp for path, stamp in self.stamps.items() if path not in later}
        slices = [self.changed[at : at + size] for at in range(size, len(self.changed), size)]
        rest = [Difference(files, (), {path: self.stamps[path] for path in files}) for files in slices]
        return [Difference(self.changed[:size], self.removed, first), *rest]


class Scanner:
    """Reads the files of the work tree `root` that are in scope and not ignored. Content decides, not time: a file
    that was only touched has not changed.

    `tree` is the walk of the last scan.
    """

    def __init__(self, root: str, scope: ScanScope) -> None:
        self.root = root
        self._scope = scope
        self._ignore = Ignore(root)
        self._folders: frozenset[str] = frozenset()
        self.tree = Tree(root, self._ignore)

    def may_matter(self, path: str, is_folder: bool) -> bool:
        """Whether an event on the file or folder is worth a look. Called from other threads."""
        if self._ignore.covers(path, is_folder=is_folder):
            return False
        if is_folder:
            return not folder_noise(path.rpartition("/")[2])
        return path.rpartition("/")[2] in RULE_FILES or self._scope.contains(path)

    def scan(self, known: Known, suspects: frozenset[str], stop: threading.Event) -> Difference | None:
        """All that differs from `known`; None when stopped on the way. Raises NotFoundError when the tree is gone.

        The content of `suspects` is read even when their size and time are as known.
        """
        if not os.path.isdir(self.root):
            raise NotFoundError(
                f"the work tree no longer exists: {show(self.root)}", "start the watch again in its new place"
            )
        # Rules may have changed without an event: git's own files are not watched, and bursts lose events.
        self._ignore = Ignore(self.root)
        tree = Tree(self.root, self._ignore)
        seen = set()
        stamps = {}
        for start in self._scope.starts:
            folder = start if os.path.isdir(os.path.join(self.root, start)) else start.rpartition("/")[0]
            for path, facts in tree.files(folder):
                if stop.is_set():
                    return None
                if not self._scope.contains(path):
                    continue
                old = known.get(path)
                if old and path not in suspects and (old.size, old.mtime_ns) == (facts.st_size, facts.st_mtime_ns):
                    seen.add(path)
                elif stamp := self._stamp(path, old):
                    seen.add(path)
                    stamps[path] = stamp
        self.tree, self._folders = tree, frozenset(tree.folders)
        missing = (path for path in known if path not in seen and not is_below(path, tree.unread))
        return _difference(known, stamps, filter(self._scope.contains, missing))

    def look(self, known: Known, paths: Iterable[str]) -> Difference:
        """What differs among these files, in folders that the last scan walked, and where those that moved were before."""
        stamps = {}
        gone = []
        for path in paths:
            if path.rpartition("/")[0] not in self._folders or not self._scope.contains(path):
                continue
            if stamp := self._stamp(path, known.get(path)):
                stamps[path] = stamp
            elif path in known:
                gone.append(path)
        # The files that new ones have the content of, and that are gone: their own events may come half a second later, and a
        # move would be taken for a new file.
        new = {stamp.digest for path, stamp in stamps.items() if path not in known and stamp.digest and stamp.size}
        olds = {path for path, stamp in known.items() if stamp.digest in new}.difference(gone) if new else ()
        gone += [path for path in olds if self._scope.contains(path) and not self._is_there(path)]
        return _difference(known, stamps, gone)

    def _is_there(self, path: str) -> bool:
        try:
            os.lstat(os.path.join(self.root, path))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return True

    def _stamp(self, path: str, old: Stamp | None) -> Stamp | None:
        """The file as it is; None when it is gone or no file any more. One that cannot be read stays as it was."""
        place = os.path.join(self.root, path)
        try:
            facts = os.lstat(place)
            if not stat.S_ISREG(facts.st_mode):
                return None
            digest = sha256(read_bytes(place, self.root)).hexdigest()
        except FileNotFoundError:
            return None
        except UnfitError as unfit:
            if unfit.reason == "unreadable":
                return old
            if unfit.reason != "huge":
                return None
            digest = ""
        except OSError:
            return old
        return Stamp(facts.st_size, facts.st_mtime_ns, digest)


def _difference(known: Known, stamps: Known, gone: Iterable[str]) -> Difference:
    differing = {path: stamp for path, stamp in stamps.items() if known.get(path) != stamp}
    # Of a file too large to read only size and time say whether its content is another.
    changed = [
        path
        for path, new in differing.items()
        if (old := known.get(path)) is None or old.digest != new.digest or not new.digest
    ]
    return Difference(tuple(sorted(changed)), tuple(sorted(gone)), differing)


def find_moves(root: str, known: Known, found: Difference) -> tuple[tuple[str, str], ...]:
    """Pairs of the old and the new path of a file, in order of the new one; each file is in one pair at most.

    Of several with the same content, the one of the same name is taken, else the first. A file that took the place
    of another is no move: what was there has a history of its own; nor is one that is merely ignored from now on.
    """
    gone = defaultdict(list)
    for path in found.removed:
        stamp = known.get(path)
        if stamp and stamp.digest and stamp.size and not os.path.lexists(os.path.join(root, path)):
            gone[stamp.digest].append(path)
    moves = []
    for new in found.changed:
        if new not in known and (olds := gone.get(found.stamps[new].digest)):
            old = next((path for path in olds if basename(path) == basename(new)), olds[0])
            olds.remove(old)
            moves.append((old, new))
    return tuple(moves)
