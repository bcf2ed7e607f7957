"""Scans of the watched part of a work tree: how it differs from the last state, and which files have moved.

The state is a value; `storing.py` saves it.
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
    """A file when it was last read: size in bytes, time in nanoseconds, SHA-256; `digest` is empty if it is too large to read."""

    size: int
    mtime_ns: int
    digest: str


class WatchState(Record):
    """The last stamps of files by path, and the last commit: None if commits were never followed, empty if there were none
    yet."""

    head: str | None = None
    files: Mapping[str, Stamp] = field(default_factory=lambda: MappingProxyType({}))

    def doubting(self, paths: Iterable[str]) -> WatchState:
        """The state with the stamps of these files made unknown: the next scan finds each of them changed or gone."""
        return replace(self, files={**self.files, **dict.fromkeys(paths, UNKNOWN)})

    def to_json(self) -> dict[str, Any]:
        """The state as plain JSON values, sorted."""
        return {"head": self.head, "files": {name_to_json(path): list(self.files[path]) for path in sorted(self.files)}}

    @classmethod
    def from_json(cls, value: object) -> WatchState:
        """The state that `to_json` returned. A file whose stamp is malformed is left out, so that it is read again."""
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
    """A path as JSON can represent it: `//` and hexadecimal digits if it is not UTF-8; no relative path begins with `//`."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return _RAW + os.fsencode(path).hex()
    return path


def name_from_json(path: str) -> str:
    """The path that `name_to_json` was given; a text that cannot be decoded stays as it is."""
    if not path.startswith(_RAW):
        return path
    try:
        return os.fsdecode(bytes.fromhex(path.removeprefix(_RAW)))
    except ValueError:
        return path


class ScanScope:
    """The files at or below `paths`, relative to the working directory, that match one of `globs` in the syntax of gitignore.
    No paths or no globs stand for all. Generated files are never in scope.

    Raises NotFoundError; UsageError for a path outside of the work tree `root`.
    """

    def __init__(self, root: str, paths: Sequence[str], globs: Sequence[str]) -> None:
        self.starts: list[str] = []
        """The files and folders that have all files in scope; none is below another."""
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
        """Whether a file, by its path relative to the root, is in scope."""
        if noise(path) or not is_below(path, self.starts):
            return False
        is_folder = False
        # The verdict is that of the file, else of the nearest folder above it that a glob names.
        while self._has_globs and path:
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
    """The difference of a scan from known stamps: files that are new or changed, files that are gone, and all new stamps."""

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stamps: Known = field(default_factory=lambda: MappingProxyType({}))

    def applied_to(self, known: Known) -> Known:
        """The known stamps with this difference applied."""
        if not self.stamps and not self.removed:
            return known
        gone = frozenset(self.removed)
        return {path: stamp for path, stamp in {**known, **self.stamps}.items() if path not in gone}

    def parts(self, size: int) -> list[Difference]:
        """The difference in parts of at most `size` changed files. The first has all files that are gone, or have only a new stamp."""
        if len(self.changed) <= size:
            return [self]
        later = frozenset(self.changed[size:])
        first = {path: stamp for path, stamp in self.stamps.items() if path not in later}
        slices = [self.changed[at : at + size] for at in range(size, len(self.changed), size)]
        rest = [Difference(files, (), {path: self.stamps[path] for path in files}) for files in slices]
        return [Difference(self.changed[:size], self.removed, first), *rest]


class Scanner:
    """Reads the files of the work tree `root` that are in scope and not ignored. A file has changed if its content has,
    whatever its time.

    `tree` has the folders of the last scan.
    """

    def __init__(self, root: str, scope: ScanScope) -> None:
        self.root = root
        self._scope = scope
        self._ignore = Ignore(root)
        self._folders: frozenset[str] = frozenset()
        self.tree = Tree(root, self._ignore)

    def may_matter(self, path: str, is_folder: bool) -> bool:
        """Whether an event of a file or folder may concern the scope. Called from other threads."""
        if self._ignore.covers(path, is_folder=is_folder):
            return False
        if is_folder:
            return not folder_noise(path.rpartition("/")[2])
        return path.rpartition("/")[2] in RULE_FILES or self._scope.contains(path)

    def scan(self, known: Known, suspects: frozenset[str], stop: threading.Event) -> Difference | None:
        """Reads the work tree. Returns its difference from `known`; None if `stop` is set meanwhile. Raises NotFoundError if
        the work tree is gone.

        The content of `suspects` is read even if their size and time are as known.
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
        # A file in a folder that cannot be read is not gone, nor is one out of the scope of a narrower watch.
        missing = (path for path in known if path not in seen and not is_below(path, tree.unread))
        return _difference(known, stamps, filter(self._scope.contains, missing))

    def look(self, known: Known, paths: Iterable[str]) -> Difference:
        """The difference of these files, if they are in folders of the last scan, and of the old paths of those that moved."""
        stamps = {}
        gone = []
        for path in paths:
            if path.rpartition("/")[0] not in self._folders or not self._scope.contains(path):
                continue
            if stamp := self._stamp(path, known.get(path)):
                stamps[path] = stamp
            elif path in known:
                gone.append(path)
        # A file with the content of a new one may be gone, too: its own event may come half a second later, and the move would
        # count as a new file.
        new = {stamp.digest for path, stamp in stamps.items() if path not in known and stamp.digest and stamp.size}
        olds = {path for path, stamp in known.items() if stamp.digest in new}.difference(gone) if new else ()
        gone += [path for path in olds if self._scope.contains(path) and not self._is_there(path)]
        return _difference(known, stamps, gone)

    def _is_there(self, path: str) -> bool:
        try:
            os.lstat(os.path.join(self.root, path))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:  # it cannot be looked at, which does not say that it is gone
            return True
        return True

    def _stamp(self, path: str, old: Stamp | None) -> Stamp | None:
        """The stamp of a file; None if it is gone, or not a regular file. One that cannot be read has its old stamp."""
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
    # A file too large to read has no digest: only its size and time show a change.
    changed = [
        path
        for path, new in differing.items()
        if (old := known.get(path)) is None or old.digest != new.digest or not new.digest
    ]
    return Difference(tuple(sorted(changed)), tuple(sorted(gone)), differing)


def find_moves(root: str, known: Known, found: Difference) -> tuple[tuple[str, str], ...]:
    """The files that moved, as pairs of old and new path, in order of the new one; each file is in one pair at most.

    Of several old files with the content of a new one, that of the same name is chosen, else the first. A file that replaced
    another one has not moved: the memories of that one are at its path. Nor has one that still exists and is ignored now.
    """
    gone = defaultdict(list)
    for path in found.removed:
        # Empty files have the same content, and prove no move.
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
