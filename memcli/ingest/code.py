"""Code: the files of the work tree that memories are anchored to, read so that nothing leads out of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from memcli.errors import MemcliError, NotFoundError, UsageError
from memcli.ingest.text import UnfitError, read_bytes, to_text
from memcli.model.names import show
from memcli.policy.anchoring import is_inside

_MAX_KEPT = 64 << 20
_WHY = {
    "vanished": "there is no such file", "link": "it is a symbolic link, or behind one", "special": "it is no plain file",
    "huge": "it is larger than 1 MB", "binary": "it is no text", "encoding": "it is no UTF-8",
    "unreadable": "it cannot be read",
}  # fmt: skip


class WorkTree:
    """The work tree at `root`. What was read is kept: a new one sees the files as they are then."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._given = os.path.abspath(root)
        self._kept: dict[str, bytes | UnfitError] = {}
        self._room = _MAX_KEPT

    def name(self, path: str) -> str:
        """The path from the root of what a user names from the working directory; "" for the root. Raises UsageError."""
        full = os.path.abspath(path)
        folder, leaf = os.path.split(full)
        # The way to the work tree may lead over links; the way within it may not.
        real = os.path.join(os.path.realpath(folder), leaf)
        for base, place in ((self._root, full), (self._given, full), (self._root, real)):
            if place == base:
                return ""
            inside = place.removeprefix(base.rstrip(os.sep) + os.sep)
            if inside != place and is_inside(name := inside.replace(os.sep, "/")):
                return name
        raise UsageError(
            f"no place for an anchor: {show(path)}",
            f"name a file inside {show(self._given)}, outside .git and .memory",
        )

    def text(self, file: str) -> str:
        """The text of a file by its path from the root. Raises UsageError and NotFoundError saying why there is none."""
        try:
            return to_text(self._bytes(file))
        except UnfitError as unfit:
            if unfit.reason == "empty":
                return ""
            kind = NotFoundError if unfit.reason == "vanished" else UsageError
            raise kind(f"cannot anchor to {show(file)}: {_WHY[unfit.reason]}", "name a text file") from None

    def commits(self, files: Sequence[str]) -> dict[str, str]:
        """The current commit, for each of the files that is just as it is there. Without git, nothing."""
        from memcli.git.work_tree import unchanged_files

        with suppress(MemcliError):
            commit, same = unchanged_files(self._root, "HEAD", {file: self._now(file) for file in files})
            return {file: commit for file in files if commit and file in same}
        return {}

    def renamed(self, files: Mapping[str, str]) -> dict[str, str]:
        """Where files are now that were renamed since a commit (empty: since the last one), as far as git knows."""
        from memcli.git.work_tree import renamed_files

        found: dict[str, str] = {}
        for commit in sorted({*files.values()}):
            with suppress(MemcliError):
                names = renamed_files(self._root, commit or "HEAD")
                found |= {old: new for old, new in names.items() if files.get(old) == commit and is_inside(new)}
        return found

    def changed(self, revision: str, files: Sequence[str]) -> frozenset[str]:
        """Which of the files are not as they were at a commit. Raises UsageError, NotFoundError, ProviderError."""
        from memcli.git.repository import Repository
        from memcli.git.work_tree import unchanged_files

        commit = Repository(self._root).resolve(revision)
        _, same = unchanged_files(self._root, commit, {file: self._now(file) for file in files})
        return frozenset(files) - same

    def _now(self, file: str) -> bytes | None:
        with suppress(UnfitError):
            return self._bytes(file)
        return None

    def _bytes(self, file: str) -> bytes:
        if file not in self._kept:
            if self._room < 0:
                self._kept.clear()
                self._room = _MAX_KEPT
            self._kept[file] = self._read(file)
        kept = self._kept[file]
        if isinstance(kept, UnfitError):
            raise kept
        return kept

    def _read(self, file: str) -> bytes | UnfitError:
        place = os.path.join(self._root, *file.split("/"))
        if not is_inside(file) or not place.startswith(self._root.rstrip(os.sep) + os.sep):
            return UnfitError("vanished")
        try:
            # A link below the root would lead out of it: a clone may have one from `src` to anywhere.
            if os.path.realpath(place) != place:
                return UnfitError("link")
            data = read_bytes(place)
        except UnfitError as unfit:
            return unfit
        except (OSError, ValueError):
            return UnfitError("unreadable")
        self._room -= len(data)
        return data
