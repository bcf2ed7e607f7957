"""Events: what the operating system reports of a work tree, collected in threads; and file systems that report nothing."""

from __future__ import annotations

import errno
import logging
import os
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from posixpath import dirname
from typing import TYPE_CHECKING

from memcli.git.tree import RULE_FILES, Tree

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch


_SILENT = frozenset(["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "vboxsf", "prl_fs", "drvfs",
                     "virtiofs", "glusterfs", "lustre", "davfs"])  # fmt: skip
_TABLE = "/proc/self/mountinfo"


def silent_kind(folder: str, table: str = _TABLE) -> str | None:
    """The kind of the file system when files may change on it without an event, as on a network; else None.

    `table` is a mount table in the form of Linux; without one every file system is trusted.
    """
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as lines:
            rows = [line.split(" ") for line in lines]
    except OSError:
        return None
    kind, longest = "", -1
    for row in rows:
        if "-" not in row or len(row) <= row.index("-") + 1:
            continue
        point = row[4]
        for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            point = point.replace(code, char)
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:  # of two on one place the later hides the earlier
            kind, longest = row[row.index("-") + 1], len(point)
    return kind if kind in _SILENT or kind.startswith("fuse.") else None


MAX_NEWS = 1_000
_MAX_WATCHES = 128
_LIMITS = frozenset([errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM])


class EventInbox:
    """The paths that events named, without ignored ones. Beyond MAX_NEWS events it asks for a scan instead: the library
    loses events in bursts, and the system's own queue overflows in larger ones.

    `events` were there since the last time, the last one at `last`, on the monotonic clock.
    """

    def __init__(self, root: str, is_wanted: Callable[[str, bool], bool]) -> None:
        self._prefix = root.rstrip(os.sep) + os.sep
        self._is_wanted = is_wanted
        self._lock = threading.Lock()
        self._bell = threading.Event()
        self._paths: set[str] = set()
        self._needs_scan = False
        self.events = 0
        self.last = 0.0

    def dispatch(self, event: FileSystemEvent) -> None:
        """Takes an event; the library calls it, from a thread of its own."""
        for place in map(os.fsdecode, (event.src_path, event.dest_path)):
            path = place.removeprefix(self._prefix).replace(os.sep, "/")
            if not place.startswith(self._prefix) or not self._is_wanted(path, event.is_directory):
                continue
            with self._lock:
                self.events += 1
                self.last = time.monotonic()
                # What a folder held when it came or went is not reported one by one, and a rule counts for many files.
                self._needs_scan |= event.is_directory or path.rpartition("/")[2] in RULE_FILES
                if self.events <= MAX_NEWS:
                    self._paths.add(path)
                self._bell.set()

    def wait(self, seconds: float) -> bool:
        """Whether there is news, waiting for it at most so long."""
        return self._bell.wait(seconds)

    def ask_for_scan(self) -> None:
        """Makes the next news ask for a scan."""
        with self._lock:
            self._needs_scan = True
            self._bell.set()

    def take(self) -> tuple[frozenset[str], bool]:
        """The paths to look at since the last time, and whether only a scan can find what changed."""
        with self._lock:
            paths, needs_scan = frozenset(self._paths), self._needs_scan or self.events > MAX_NEWS
            self._paths, self.events, self._needs_scan = set(), 0, False
            self._bell.clear()
        return paths, needs_scan


class FolderObserver:
    """Watches on the folders of a tree. Where the system's limits do not allow them, `is_polling` is true instead."""

    def __init__(self, root: str, inbox: EventInbox) -> None:
        self._root = root
        self._inbox = inbox
        self._watches: dict[tuple[str, bool], ObservedWatch] = {}
        self._observer: BaseObserver | None = None
        self.is_polling = False
        # The library reports lost events and races on standard error; scans make up for both.
        logging.getLogger("watchdog").addHandler(logging.NullHandler())
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")

    def follow(self, tree: Tree) -> bool:
        """Watches the folders of `tree` and no others; whether that changed anything. Starts at the first call."""
        if self.is_polling:
            return False
        wanted = plan(tree)
        try:
            if self._observer is None:
                from watchdog.observers import Observer as System

                self._observer = System()
                self._observer.start()
            gone = self._watches.keys() - set(wanted)
            for key in gone:
                self._observer.unschedule(self._watches.pop(key))
            new = [key for key in wanted if key not in self._watches]
            for folder, recursive in new:
                from watchdog import events

                # Without those of opening and reading, which our own reading causes.
                types: list[type[FileSystemEvent]] = [
                    events.FileCreatedEvent, events.FileModifiedEvent, events.FileClosedEvent, events.FileDeletedEvent,
                    events.FileMovedEvent, events.DirCreatedEvent, events.DirDeletedEvent, events.DirMovedEvent,
                ]  # fmt: skip
                place = os.path.join(self._root, folder)
                try:
                    self._watches[folder, recursive] = self._observer.schedule(
                        self._inbox,  # type: ignore[arg-type]
                        place,
                        recursive=recursive,
                        event_filter=types,
                    )
                except OSError as error:
                    if error.errno in _LIMITS:
                        raise
            if sys.platform == "linux":
                # The library hides that a folder below another could not be watched; one more watch shows it.
                self._observer.unschedule(self._observer.schedule(self._inbox, "/"))  # type: ignore[arg-type]
        except OSError:
            self.poll()
            return True
        return bool(gone or new)

    def poll(self) -> None:
        """Gives up on events: from now on `is_polling` is true."""
        self.close()
        self.is_polling = True

    def close(self) -> None:
        """Ends all watches and their threads."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
        self._observer = None
        self._watches.clear()

        # Gone, no folder any more, or not ours to read: scans find what can be found.


def plan(tree: Tree) -> list[tuple[str, bool]]:
    """Which folders to watch, and whether with all below them: the fewest that spare the large folders left out."""
    known = set(tree.folders)
    inside: dict[str, list[str]] = {}
    for folder in tree.folders:
        inside.setdefault(dirname(folder), []).append(folder)
    mixed = set[str]()  # the folders above one that is left out
    for folder in tree.pruned:
        if _has_folders(os.path.join(tree.root, folder)):
            above = folder
            while above:
                above = dirname(above)
                mixed.add(above)
    watches: list[tuple[str, bool]] = []
    queue = deque(folder for folder in tree.folders if not folder or dirname(folder) not in known)
    while queue:
        folder = queue.popleft()
        below = [inner for inner in inside.get(folder, ()) if inner]
        # Each watch is a thread of the library's, so there is a bound on how finely a tree is cut.
        is_cut = folder in mixed and len(watches) + len(queue) + len(below) < _MAX_WATCHES
        watches.append((folder, not is_cut))
        queue.extend(below if is_cut else ())
    return watches


def _has_folders(folder: str) -> bool:
    """One without, such as `__pycache__`, costs one watch at most, which is cheaper than to go round it."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.is_dir(follow_symlinks=False) for entry in entries)
    except OSError:
        return False
