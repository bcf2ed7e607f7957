"""Scope: the part of a work tree that is watched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from memcli.code.noise import noise
from memcli.code.patterns import compile_patterns
from memcli.errors import NotFoundError, UsageError
from memcli.model.names import show


class Scope:
    """What is in `paths` (all when empty; from the current directory), and matches one of `globs` (gitignore's syntax).

    Generated files never are. Raises NotFoundError, UsageError for a path that is not in the work tree `root`.
    """

    def __init__(self, root: str, paths: Sequence[str], globs: Sequence[str]) -> None:
        self.starts = _outermost(_inside(root, path) for path in paths) or [""]
        """Files and folders below which everything in scope is."""
        self._globs = compile_patterns(os.fsencode(glob) for glob in globs)
        self._has_globs = bool(globs)

    def contains(self, path: str) -> bool:
        """Whether the file, by its path from the root, is in scope."""
        return not noise(path) and is_below(path, self.starts) and (not self._has_globs or self._matches_glob(path))

    def _matches_glob(self, path: str) -> bool:
        """Whether the file matches, or else the nearest folder above it that a glob includes or excludes."""
        is_folder = False
        while path:
            verdict = self._globs.verdict(path, is_folder=is_folder)
            if verdict is not None:
                return verdict
            path, is_folder = path.rpartition("/")[0], True
        return False


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether the path is one of these folders or below one."""
    return any(not folder or path == folder or path.startswith(f"{folder}/") for folder in folders)


def _inside(root: str, path: str) -> str:
    """The path from the work tree. Raises NotFoundError, UsageError."""
    place = os.path.realpath(path)
    if not os.path.exists(place):
        raise NotFoundError(f"no such file: {show(path)}", "name a file or a folder that exists")
    if place == root:
        return ""
    if not place.startswith(root.rstrip(os.sep) + os.sep):
        raise UsageError(f"outside the work tree: {show(path)}", "watch only files and folders of this work tree")
    return os.path.relpath(place, root).replace(os.sep, "/")


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not is_below(path, kept):
            kept.append(path)
    return kept
