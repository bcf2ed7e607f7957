"""Events: the changes of a work tree that the operating system reports, collected in threads; and file systems without events."""

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
from contextlib import suppress
from posixpath import dirname
from typing import TYPE_CHECKING

from memcli.git.tree import RULE_FILES, Tree

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch


# File systems that other machines, or the host of a virtual one, change: the kernel here does not see that.
_SILENT = frozenset(["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "vboxsf", "prl_fs", "drvfs",
                     "virtiofs", "glusterfs", "lustre", "davfs"])  # fmt: skip
_TABLE = "/proc/self/mountinfo"


def silent_kind(folder: str, table: str = _TABLE) -> str | None:
    """The type of the file system of a folder if files on it may change without an event, as on a network; else None.

    `table` is the path of a mount table of Linux. Where there is none, all file systems count as reporting every change.
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
        # The kernel writes these characters of a path in octal, so that the fields are divided by blanks.
        for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            point = point.replace(code, char)
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:  # a later mount on the same place hides an earlier one
            kind, longest = row[row.index("-") + 1], len(point)
    return kind if kind in _SILENT or kind.startswith("fuse.") else None


# Of 10,000 files that were written at once, watchdog reported a tenth.
MAX_NEWS = 1_000
_MAX_WATCHES = 128
# The errors of a system whose limits on watches, open files or memory are reached.
_LIMITS = frozenset([errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM])


class EventInbox:
    """The paths of files that events named since the last `take`, without ignored ones. More than MAX_NEWS events call for a
    scan instead: the library loses events in bursts, and the queue of the system overflows in larger ones.

    `events` is their number, `last` the time of the last one in seconds of the monotonic clock.
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
        """Receives an event. The library calls it from a thread of its own."""
        for place in map(os.fsdecode, (event.src_path, event.dest_path)):
            path = place.removeprefix(self._prefix).replace(os.sep, "/")
            if not place.startswith(self._prefix) or not self._is_wanted(path, event.is_directory):
                continue
            with self._lock:
                self.events += 1
                self.last = time.monotonic()
                # The files of a folder that is moved have no events of their own, and an ignore rule concerns many files.
                self._needs_scan |= event.is_directory or path.rpartition("/")[2] in RULE_FILES
                if self.events <= MAX_NEWS:
                    self._paths.add(path)
                self._bell.set()

    def wait(self, seconds: float) -> bool:
        """Waits for an event for `seconds` at most. Returns whether there was one."""
        return self._bell.wait(seconds)

    def ask_for_scan(self) -> None:
        """Makes the next `take` call for a scan, and ends the wait for events."""
        with self._lock:
            self._needs_scan = True
            self._bell.set()

    def take(self) -> tuple[frozenset[str], bool]:
        """The paths that events named since the last call, and whether only a scan can find the changes."""
        with self._lock:
            paths, needs_scan = frozenset(self._paths), self._needs_scan or self.events > MAX_NEWS
            self._paths, self.events, self._needs_scan = set(), 0, False
            self._bell.clear()
        return paths, needs_scan


class FolderObserver:
    """The watches of the system on the folders of a tree. Where its limits do not allow them, `is_polling` is true instead."""

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
        """Watches the folders of `tree` and no others. Returns whether that changed the watches. Starts at the first call."""
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

                # Not those of opening and reading, which scans cause themselves.
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
                    # A folder that is gone, no folder any more, or unreadable: scans find what can be found.
                    if error.errno in _LIMITS:
                        raise
            if sys.platform == "linux":
                # The library hides the error for a folder below another one; it shows with one watch more.
                self._observer.unschedule(self._observer.schedule(self._inbox, "/"))  # type: ignore[arg-type]
        except OSError:
            self.poll()
            return True
        return bool(gone or new)

    def poll(self) -> None:
        """Ends all watches for good: `is_polling` is true from now on."""
        self.close()
        self.is_polling = True

    def close(self) -> None:
        """Ends all watches and their threads."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
        self._observer = None
        self._watches.clear()


def plan(tree: Tree) -> list[tuple[str, bool]]:
    """The folders to watch, each with whether its watch is recursive: the fewest watches without the folders that are ignored."""
    known = set(tree.folders)
    inside: dict[str, list[str]] = {}
    for folder in tree.folders:
        inside.setdefault(dirname(folder), []).append(folder)
    mixed = set[str]()  # the folders above an ignored one
    for folder in tree.pruned:
        has_folders = False
        # One that has none, such as `__pycache__`, costs a recursive watch one more at most: excluding it costs more.
        with suppress(OSError), os.scandir(os.path.join(tree.root, folder)) as entries:
            has_folders = any(entry.is_dir(follow_symlinks=False) for entry in entries)
        above = folder if has_folders else ""
        while above:
            above = dirname(above)
            mixed.add(above)
    watches: list[tuple[str, bool]] = []
    queue = deque(folder for folder in tree.folders if not folder or dirname(folder) not in known)
    while queue:
        folder = queue.popleft()
        below = [inner for inner in inside.get(folder, ()) if inner]
        # The library has a thread for each watch, which limits their number.
        is_cut = folder in mixed and len(watches) + len(queue) + len(below) < _MAX_WATCHES
        watches.append((folder, not is_cut))
        queue.extend(below if is_cut else ())
    return watches
