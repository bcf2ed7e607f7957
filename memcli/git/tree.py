"""Tree: the files under a folder that are worth a look, in a total order, with a count of those that are not."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator

from memcli.code.noise import folder_noise, noise
from memcli.git.ignore import OURS, Ignore
from memcli.record import Record, field


class Tree(Record, frozen=False):
    """A walk of the folder `root`. Paths are relative to it, with `/`; links are never followed.

    `folders` are those walked, `unread` those that could not be, `pruned` those left out.
    """

    root: str
    ignore: Ignore
    skipped: Counter[str] = field(default_factory=Counter)
    folders: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    pruned: list[str] = field(default_factory=list)

    def files(self, start: str = "") -> Iterator[tuple[str, os.stat_result]]:
        """Each file below the folder `start`, with its facts, sorted by name within its folder."""
        # A stack of our own: a tree may be deeper than Python's.
        stack = [start]
        while stack:
            folder = stack.pop()
            entries = self._list(folder, is_start=folder == start)
            inner = []
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if self._is_wanted_folder(path, entry.name):
                        inner.append(path)
                elif (facts := self._facts(path, entry)) is not None:
                    yield path, facts
            stack.extend(reversed(inner))

    def _list(self, folder: str, *, is_start: bool) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self.root, folder)) as entries:
                found = sorted(entries, key=lambda entry: os.fsencode(entry.name))
        except OSError:
            self.unread.append(folder)
            self.skipped["unreadable"] += 1
            return []
        if not is_start and any(entry.name == ".git" for entry in found):
            # A repository of its own, or a submodule: its files are another project's.
            self.skipped["repository"] += 1
            self.pruned.append(folder)
            return []
        self.folders.append(folder)
        return found

    def _is_wanted_folder(self, path: str, name: str) -> bool:
        reason = "ignored" if self.ignore.covers(path, is_folder=True) else folder_noise(name)
        if reason:
            self.pruned.append(path)
            # Every tree has those, so to count them would tell nobody anything.
            if name not in OURS:
                self.skipped[reason] += 1
        return not reason

    def _facts(self, path: str, entry: os.DirEntry[str]) -> os.stat_result | None:
        if self.ignore.covers(path):
            reason = "ignored"
        elif not (reason := noise(path)):
            try:
                facts = entry.stat(follow_symlinks=False)
            except OSError:
                reason = "vanished"
            else:
                if stat.S_ISREG(facts.st_mode):
                    return facts
                reason = "link" if stat.S_ISLNK(facts.st_mode) else "special"
        self.skipped[reason] += 1
        return None
