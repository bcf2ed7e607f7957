"""Code: the files of the work tree that memories are anchored to, read so that nothing leads out of it."""

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
_MAX_KEPT = 64 << 20
_MANY = 4
"""For fewer commits git is run once a commit."""
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
        self._kept: dict[str, bytes | UnfitError] = {}
        self._room = _MAX_KEPT
        self._since: dict[str, Changes | None] = {}
        self._listed: dict[str, tuple[Sequence[str], frozenset[str]]] = {}
        self._past: dict[tuple[str, str], str | None] = {}

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
            f"cannot anchor to {show(path)}",
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

    def renamed(self, file: str, commit: str) -> str | None:
        """The name now of a file that was renamed since a commit (empty: where git last had it), as far as git knows."""
        if not commit:  # the last one that had it
            log = ("log", "-1", "--no-renames", "--diff-filter=D", "--format=%P", "HEAD", "--", file)
            with suppress(MemcliError):
                commit = Repository(self._root).run("--literal-pathspecs", *log).strip().partition(" ")[0] or "HEAD"
        changes = self._changes(commit)
        name = changes.renamed.get(file) if changes else None
        return name if name and is_inside(name) else None

    def look_back(self, commits: Sequence[str]) -> None:
        """Asks git at once what changed since each of the commits; `renamed` and `others` then ask no more."""
        from memcli.git.work_tree import changes_since_each

        new = [commit for commit in dict.fromkeys(commits) if commit and commit not in self._since]
        if len(new) >= _MANY:
            with suppress(MemcliError):
                self._since.update(changes_since_each(self._root, new))

    def others(self, file: str, commit: str, limit: int) -> list[str]:
        """At most `limit` other files with the ending of `file`, nearest first, that are not as they were at a commit;
        without a commit, whatever they were."""
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

        # Those first that share the most folders with `file`; then by name.
        return sorted((one for one in {*found, *edited} if one != file and is_inside(one)), key=distance)[:limit]

    def texts_at(self, places: Sequence[tuple[str, str]]) -> list[str | None]:
        """The text of each file at a commit; None where it was not there, is no text, or git fails."""
        new = [place for place in dict.fromkeys(places) if place[0] and place not in self._past]
        self._past.update(dict.fromkeys(new))
        if new:
            with suppress(MemcliError), Repository(self._root).objects() as objects:
                for place, data in [(place, objects.read(":".join(place))) for place in new]:
                    with suppress(UnfitError):
                        self._past[place] = None if data is None else to_text(data)
        return [self._past.get(place) for place in places]

    def changed(self, revision: str, files: Sequence[str]) -> frozenset[str]:
        """Which of the files are not as they were at a commit. Raises UsageError, NotFoundError, ProviderError."""
        from memcli.git.work_tree import unchanged_files

        commit = Repository(self._root).resolve(revision)
        _, same = unchanged_files(self._root, commit, {file: self._now(file) for file in files})
        return frozenset(files) - same

    def files(self) -> list[str]:
        """All files that are there and not ignored; none where git cannot tell."""
        from memcli.git.work_tree import existing_files

        with suppress(MemcliError):
            return [name for name in existing_files(self._root) if is_inside(name)]
        return []

    def deleted(self, since: str) -> Sequence[tuple[str, str, str]]:
        """The files that were deleted or renamed since a time, the last ones first, each with a commit that had it and when
        that was, empty when it is not committed."""
        from memcli.git.work_tree import deletions

        with suppress(MemcliError):
            return deletions(self._root, since)
        return ()

    def time_of(self, name: str) -> tuple[str, str] | None:
        """The tag or commit that a name names, and when it was made, RFC 3339 in UTC; None where it names neither."""
        from memcli.git.revisions import time_of

        return time_of(self._root, name)

    def _changes(self, commit: str) -> Changes | None:
        """What changed since a commit, cached; None where git fails."""
        from memcli.git.work_tree import changes_since

        if commit not in self._since:
            self._since[commit] = None
            with suppress(MemcliError):
                self._since[commit] = changes_since(self._root, commit)
        return self._since[commit]

    def _list(self, ending: str) -> tuple[Sequence[str], frozenset[str]]:
        """The tracked files that end so, and those that are edited and not staged, or not tracked yet."""
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
            data = read_bytes(place, self._root)
        except UnfitError as unfit:
            return unfit
        except (OSError, ValueError):
            return UnfitError("unreadable")
        self._room -= len(data)
        return data
