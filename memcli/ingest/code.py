"""The files of a work tree that memories are anchored to, read without following a link out of it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress

from memcli.code.anchors import is_inside
from memcli.errors import MemcliError, NotFoundError, UsageError
from memcli.git.repository import Repository, UnfitError, read_bytes, to_text
from memcli.model.names import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.git.work_tree import Changes

_ENDING = re.compile(r"\.\w{1,20}")
_MAX_CACHED = 64 << 20  # bytes
_MANY = 4
"""For fewer commits, git is run once a commit."""
_WHY = {
    "vanished": "there is no such file", "link": "it is a symbolic link, or behind one", "special": "it is not a regular file",
    "huge": "it is larger than 1 MB", "binary": "it is not text", "encoding": "it is not UTF-8",
    "unreadable": "it cannot be read",
}  # fmt: skip


class WorkTree:
    """The work tree at `root`. Files are read once and cached: make a new one to see later changes."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._given = os.path.abspath(root)
        self._cache: dict[str, bytes | UnfitError] = {}
        self._room = _MAX_CACHED
        self._since: dict[str, Changes | None] = {}
        self._listed: dict[str, tuple[Sequence[str], frozenset[str]]] = {}
        self._past: dict[tuple[str, str], str | None] = {}

    def name(self, path: str) -> str:
        """The path from the root of a path that a user gave, relative to the working directory; "" for the root. Raises
        UsageError."""
        full = os.path.abspath(path)
        folder, leaf = os.path.split(full)
        # The path to the work tree may have links; the path inside it may not.
        real = os.path.join(os.path.realpath(folder), leaf)
        for base, place in ((self._root, full), (self._given, full), (self._root, real)):
            if place == base:
                return ""
            inside = place.removeprefix(base.rstrip(os.sep) + os.sep)
            if inside != place and is_inside(name := inside.replace(os.sep, "/")):
                return name
        raise UsageError(
            f"cannot anchor to {show(path)}",
            f"name a file inside {show(self._given)}, outside .git and .memory",
        )

    def text(self, file: str) -> str:
        """The text of a file by its path from the root. Raises UsageError or NotFoundError with the reason why it has none."""
        try:
            return to_text(self._bytes(file))
        except UnfitError as unfit:
            if unfit.reason == "empty":
                return ""
            kind = NotFoundError if unfit.reason == "vanished" else UsageError
            raise kind(f"cannot anchor to {show(file)}: {_WHY[unfit.reason]}", "name a text file") from None

    def commits(self, files: Sequence[str]) -> dict[str, str]:
        """The current commit, for each file that is equal to its version there; empty where git fails."""
        from memcli.git.work_tree import unchanged_files

        with suppress(MemcliError):
            commit, same = unchanged_files(self._root, "HEAD", {file: self._now(file) for file in files})
            return {file: commit for file in files if commit and file in same}
        return {}

    def renamed(self, file: str, commit: str) -> str | None:
        """The current name of a file renamed since `commit` (empty: the last commit that had the file); None where git finds none."""
        if not commit:
            log = ("log", "-1", "--no-renames", "--diff-filter=D", "--format=%P", "HEAD", "--", file)
            with suppress(MemcliError):
                commit = Repository(self._root).run("--literal-pathspecs", *log).strip().partition(" ")[0] or "HEAD"
        changes = self._changes(commit)
        name = changes.renamed.get(file) if changes else None
        return name if name and is_inside(name) else None

    def look_back(self, commits: Sequence[str]) -> None:
        """Reads the changes since many commits at once, so that `renamed` and `others` need not run git for each."""
        from memcli.git.work_tree import changes_since_each

        new = [commit for commit in dict.fromkeys(commits) if commit and commit not in self._since]
        if len(new) >= _MANY:
            with suppress(MemcliError):
                self._since.update(changes_since_each(self._root, new))

    def others(self, file: str, commit: str, limit: int) -> list[str]:
        """At most `limit` other files with the ending of `file` that changed since `commit` (empty: any), those first that
        share the most folders with it."""
        ending = os.path.splitext(file)[1]
        if not _ENDING.fullmatch(ending):
            return []
        if ending not in self._listed:
            self._listed[ending] = self._list(ending)
        tracked, edited = self._listed[ending]
        changes = self._changes(commit) if commit else None
        found = {name for name in changes.files if name.endswith(ending)} if changes else {*tracked}
        folders = file.split("/")[:-1]

        def distance(name: str) -> tuple[int, str]:
            theirs = name.split("/")[:-1]
            same = next((n for n, (a, b) in enumerate(zip(folders, theirs, strict=False)) if a != b), None)
            shared = min(len(folders), len(theirs)) if same is None else same
            return len(folders) + len(theirs) - 2 * shared, name

        return sorted((one for one in {*found, *edited} if one != file and is_inside(one)), key=distance)[:limit]

    def texts_at(self, places: Sequence[tuple[str, str]]) -> list[str | None]:
        """The text of each file, given with its commit; None where the commit does not have it, it is not text, or git fails."""
        new = [place for place in dict.fromkeys(places) if place[0] and place not in self._past]
        self._past.update(dict.fromkeys(new))
        if new:
            with suppress(MemcliError), Repository(self._root).objects() as objects:
                for place, data in [(place, objects.read(":".join(place))) for place in new]:
                    with suppress(UnfitError):
                        self._past[place] = None if data is None else to_text(data)
        return [self._past.get(place) for place in places]

    def changed(self, revision: str, files: Sequence[str]) -> frozenset[str]:
        """The files that differ from their version at a commit. Raises UsageError, NotFoundError, ProviderError."""
        from memcli.git.work_tree import unchanged_files

        commit = Repository(self._root).resolve(revision)
        _, same = unchanged_files(self._root, commit, {file: self._now(file) for file in files})
        return frozenset(files) - same

    def files(self) -> list[str]:
        """All existing files that are not ignored; none where git fails."""
        from memcli.git.work_tree import existing_files

        with suppress(MemcliError):
            return [name for name in existing_files(self._root) if is_inside(name)]
        return []

    def deleted(self, since: str) -> Sequence[tuple[str, str, str]]:
        """The files deleted or renamed since a time, the latest first, each with a commit that has it and the time of the
        deletion, empty for one that is not committed; none where git fails."""
        from memcli.git.work_tree import deletions

        with suppress(MemcliError):
            return deletions(self._root, since)
        return ()

    def time_of(self, name: str) -> tuple[str, str] | None:
        """The tag or commit `name` and its time, RFC 3339 in UTC; None where there is neither."""
        from memcli.git.revisions import time_of

        return time_of(self._root, name)

    def _changes(self, commit: str) -> Changes | None:
        """The changes since a commit, cached; None where git fails."""
        from memcli.git.work_tree import changes_since

        if commit not in self._since:
            self._since[commit] = None
            with suppress(MemcliError):
                self._since[commit] = changes_since(self._root, commit)
        return self._since[commit]

    def _list(self, ending: str) -> tuple[Sequence[str], frozenset[str]]:
        """The tracked files with this ending, and those with unstaged changes or not tracked; both empty where git fails."""
        from memcli.git.work_tree import tracked_files

        with suppress(MemcliError):
            known = tracked_files(self._root, ending)
            edited = set(known)
            for name, stamp in known.items():
                with suppress(OSError, ValueError):
                    facts = os.lstat(os.path.join(self._root, name))
                    if (facts.st_mtime_ns, facts.st_size) == stamp:
                        edited.remove(name)
            untracked = ("ls-files", "-z", "--others", "--exclude-standard", "--", f"*{ending}")
            new = filter(None, Repository(self._root).run(*untracked).split("\0"))
            return tuple(known), frozenset([*edited, *new])
        return (), frozenset()

    def _now(self, file: str) -> bytes | None:
        with suppress(UnfitError):
            return self._bytes(file)
        return None

    def _bytes(self, file: str) -> bytes:
        """The content of a file, cached. Raises UnfitError."""
        if file not in self._cache:
            if self._room < 0:
                self._cache.clear()
                self._room = _MAX_CACHED
            place = os.path.join(self._root, *file.split("/"))
            data: bytes | UnfitError
            try:
                if not is_inside(file) or not place.startswith(self._root.rstrip(os.sep) + os.sep):
                    raise UnfitError("vanished")
                # A link below the root may lead out of it: a clone may have one from `src` to anywhere.
                if os.path.realpath(place) != place:
                    raise UnfitError("link")
                data = read_bytes(place, self._root)
                self._room -= len(data)
            except UnfitError as unfit:
                data = unfit
            except (OSError, ValueError):
                data = UnfitError("unreadable")
            self._cache[file] = data
        cached = self._cache[file]
        if isinstance(cached, UnfitError):
            raise cached
        return cached
