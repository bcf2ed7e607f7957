"""Survey: a work tree as it is now against how it was when last told of."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from memcli.code.noise import folder_noise, noise
from memcli.code.patterns import compile_patterns
from memcli.errors import NotFoundError, UsageError
from memcli.git.ignore import RULE_FILES, Ignore
from memcli.git.reading import UnfitError, read_bytes
from memcli.git.tree import Tree
from memcli.ingest.state import Stamp
from memcli.model.names import show
from memcli.record import Record

Known = Mapping[str, Stamp]


class Finding(Record):
    """What a look at the tree found: files new or with other content, files gone, and all stamps that differ."""

    changed: tuple[str, ...]
    removed: tuple[str, ...]
    stamps: Known

    def applied_to(self, known: Known) -> Known:
        """`known`, brought up to date."""
        if not self.stamps and not self.removed:
            return known
        gone = frozenset(self.removed)
        return {path: stamp for path, stamp in {**known, **self.stamps}.items() if path not in gone}

    def parts(self, size: int) -> list[Finding]:
        """The same in parts of at most `size` changed files; what is gone, and what is no news, is in the first."""
        if len(self.changed) <= size:
            return [self]
        later = frozenset(self.changed[size:])
        first = {path: stamp for path, stamp in self.stamps.items() if path not in later}
        slices = [self.changed[at : at + size] for at in range(size, len(self.changed), size)]
        rest = [Finding(files, (), {path: self.stamps[path] for path in files}) for files in slices]
        return [Finding(self.changed[:size], self.removed, first), *rest]


class Survey:
    """The part of a work tree that is followed: within `paths` (all when empty), and matching one of `globs`.

    Content decides, not time: a file that was only touched is not changed.
    """

    def __init__(self, root: str, paths: Sequence[str], globs: Sequence[str]) -> None:
        self._root = root
        self._scope = _outermost(_inside(root, path) for path in paths) or [""]
        self._globs = compile_patterns(os.fsencode(glob) for glob in globs)
        self._has_globs = bool(globs)
        self._ignore = Ignore(root)
        self._folders: frozenset[str] = frozenset()
        self.tree = Tree(root, self._ignore)

    def may_matter(self, path: str, is_folder: bool) -> bool:
        """Whether news of the file or folder is worth a look. Called from other threads."""
        if self._ignore.covers(path, is_folder=is_folder):
            return False
        if is_folder:
            return not folder_noise(path.rpartition("/")[2])
        return path.rpartition("/")[2] in RULE_FILES or self._is_followed(path)

    def scan(self, known: Known, suspects: frozenset[str], stop: threading.Event) -> Finding | None:
        """All that differs from `known`; None when stopped on the way. Raises NotFoundError when the tree is gone.

        The content of `suspects` is read even when their size and time are as known.
        """
        if not os.path.isdir(self._root):
            raise NotFoundError(f"the work tree is gone: {show(self._root)}", "start again where it is now")
        # Rules may have changed unheard: what git keeps them in is not watched, and bursts lose events.
        self._ignore = Ignore(self._root)
        tree = Tree(self._root, self._ignore)
        seen = set()
        stamps = {}
        for start in self._scope:
            folder = start if os.path.isdir(os.path.join(self._root, start)) else start.rpartition("/")[0]
            for path, facts in tree.files(folder):
                if stop.is_set():
                    return None
                if not self._is_followed(path):
                    continue
                old = known.get(path)
                if old and path not in suspects and (old.size, old.mtime_ns) == (facts.st_size, facts.st_mtime_ns):
                    seen.add(path)
                elif stamp := self._stamp(path, old):
                    seen.add(path)
                    stamps[path] = stamp
        self.tree, self._folders = tree, frozenset(tree.folders)
        missing = (path for path in known if path not in seen and not _is_below(path, tree.unread))
        return _finding(known, stamps, filter(self._is_followed, missing))

    def look(self, known: Known, paths: Iterable[str]) -> Finding:
        """What differs among these files, in folders that the last scan walked."""
        stamps = {}
        gone = []
        for path in paths:
            if path.rpartition("/")[0] not in self._folders or not self._is_followed(path):
                continue
            if stamp := self._stamp(path, known.get(path)):
                stamps[path] = stamp
            elif path in known:
                gone.append(path)
        return _finding(known, stamps, gone)

    def _is_followed(self, path: str) -> bool:
        return not noise(path) and _is_below(path, self._scope) and (not self._has_globs or self._matches_glob(path))

    def _matches_glob(self, path: str) -> bool:
        """Whether the file, or else the nearest folder above it that any glob speaks of, matches."""
        is_folder = False
        while path:
            verdict = self._globs.verdict(path, is_folder=is_folder)
            if verdict is not None:
                return verdict
            path, is_folder = path.rpartition("/")[0], True
        return False

    def _stamp(self, path: str, old: Stamp | None) -> Stamp | None:
        """The file as it is; None when it is gone or no file any more. One that cannot be read stays as it was."""
        place = os.path.join(self._root, path)
        try:
            facts = os.lstat(place)
            if not stat.S_ISREG(facts.st_mode):
                return None
            digest = sha256(read_bytes(place)).hexdigest()
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


def _finding(known: Known, stamps: Known, gone: Iterable[str]) -> Finding:
    changed = [path for path, stamp in stamps.items() if _is_news(known.get(path), stamp)]
    differing = {path: stamp for path, stamp in stamps.items() if known.get(path) != stamp}
    return Finding(tuple(sorted(changed)), tuple(sorted(gone)), differing)


def _is_news(old: Stamp | None, new: Stamp) -> bool:
    if old is None or old.digest != new.digest:
        return True
    return not new.digest and old != new


def _inside(root: str, path: str) -> str:
    """The path as told from the work tree. Raises NotFoundError, UsageError."""
    place = os.path.realpath(path)
    if not os.path.exists(place):
        raise NotFoundError(f"no such file: {show(path)}", "name a file or a folder that exists")
    if place == root:
        return ""
    if not place.startswith(root.rstrip(os.sep) + os.sep):
        raise UsageError(f"outside the work tree: {show(path)}", "watch files and folders of one work tree")
    return os.path.relpath(place, root).replace(os.sep, "/")


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not _is_below(path, kept):
            kept.append(path)
    return kept


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(not folder or path == folder or path.startswith(f"{folder}/") for folder in folders)
