"""Observe: the system's news of changed files, gathered in a thread of its own until the watcher asks for it."""

from __future__ import annotations

import errno
import logging
import os
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from memcli.git.tree import Tree
from memcli.record import Record

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

MAX_NEWS = 1_000
_MAX_WATCHES = 128
_LIMITS = frozenset([errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM])


class News(Record):
    """What was heard since the last time: paths to look at, and whether only a scan can tell."""

    paths: frozenset[str]
    needs_scan: bool


class Inbox:
    """The paths that events named, without ignored ones. Beyond MAX_NEWS events it asks for a scan instead: the library
    loses events in bursts, and the system's own queue overflows in larger ones."""

    def __init__(self, root: str, is_wanted: Callable[[str, bool], bool]) -> None:
        self._prefix = root.rstrip(os.sep) + os.sep
        self._is_wanted = is_wanted
        self._lock = threading.Lock()
        self._bell = threading.Event()
        self._paths: set[str] = set()
        self._events = 0
        self._needs_scan = False
        self._last = 0.0

    def dispatch(self, event: FileSystemEvent) -> None:
        """Takes an event; the library calls it, from a thread of its own."""
        for name in (event.src_path, event.dest_path):
            path = os.fsdecode(name)
            if path.startswith(self._prefix):
                self._put(path.removeprefix(self._prefix).replace(os.sep, "/"), is_folder=event.is_directory)

    def wait(self, seconds: float) -> bool:
        """Whether there is news, waiting for it at most so long."""
        return self._bell.wait(seconds)

    @property
    def events(self) -> int:
        """How many events since the last time."""
        return self._events

    def quiet(self) -> float:
        """Seconds since the last event."""
        return time.monotonic() - self._last

    def ask_for_scan(self) -> None:
        """Makes the next news want a scan."""
        with self._lock:
            self._needs_scan = True
            self._bell.set()

    def take(self) -> News:
        """All news since the last time."""
        with self._lock:
            news = News(frozenset(self._paths), self._needs_scan or self._events > MAX_NEWS)
            self._paths, self._events, self._needs_scan = set(), 0, False
            self._bell.clear()
        return news

    def _put(self, path: str, *, is_folder: bool) -> None:
        if not self._is_wanted(path, is_folder):
            return
        with self._lock:
            self._events += 1
            self._last = time.monotonic()
            # What a folder held when it came or went is not told one by one.
            self._needs_scan |= is_folder
            if self._events <= MAX_NEWS:
                self._paths.add(path)
            self._bell.set()


class Observer:
    """Watches on the folders of a tree. Where the system's limits do not allow them, `is_polling` is true instead."""

    def __init__(self, root: str, inbox: Inbox) -> None:
        self._root = root
        self._inbox = inbox
        self._watches: dict[tuple[str, bool], ObservedWatch] = {}
        self._observer: BaseObserver | None = None
        self.is_polling = False
        # What the library has to say of lost events and races would go to standard error; scans are the remedy.
        logging.getLogger("watchdog").addHandler(logging.NullHandler())
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")

    def follow(self, tree: Tree) -> bool:
        """Watches the folders of `tree` and no others; whether that changed anything. Starts at the first call."""
        if self.is_polling:
            return False
        wanted = plan(tree)
        try:
            return self._follow(wanted)
        except OSError:
            self.poll()
            return True

    def poll(self) -> None:
        """Gives up on being told: from now on `is_polling` is true."""
        self.stop()
        self.is_polling = True

    def stop(self) -> None:
        """Ends all watches and their threads."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
        self._observer = None
        self._watches.clear()

    def _follow(self, wanted: Sequence[tuple[str, bool]]) -> bool:
        if self._observer is None:
            from watchdog.observers import Observer as System

            self._observer = System()
            self._observer.start()
        gone = self._watches.keys() - set(wanted)
        for key in gone:
            self._observer.unschedule(self._watches.pop(key))
        new = [key for key in wanted if key not in self._watches]
        for folder, recursive in new:
            self._schedule(folder, recursive=recursive)
        self._probe()
        return bool(gone or new)

    def _schedule(self, folder: str, *, recursive: bool) -> None:
        assert self._observer
        try:
            watch = self._observer.schedule(
                self._inbox,  # type: ignore[arg-type]
                os.path.join(self._root, folder),
                recursive=recursive,
                event_filter=_event_types(),
            )
        except OSError as error:
            if error.errno in _LIMITS:
                raise
            return  # gone, no folder any more, or not ours to read: scans tell what they can of it
        self._watches[folder, recursive] = watch

    def _probe(self) -> None:
        """The library hides that a folder below another could not be watched; one more watch shows it."""
        assert self._observer
        if sys.platform == "linux":
            self._observer.unschedule(self._observer.schedule(self._inbox, "/"))  # type: ignore[arg-type]


def plan(tree: Tree) -> list[tuple[str, bool]]:
    """Which folders to watch, and whether with all below them: the fewest that spare the large folders left out."""
    known = set(tree.folders)
    inside: dict[str, list[str]] = {}
    for folder in tree.folders:
        inside.setdefault(_parent(folder), []).append(folder)
    mixed = {
        above for folder in tree.pruned if _has_folders(os.path.join(tree.root, folder)) for above in _above(folder)
    }
    watches: list[tuple[str, bool]] = []
    queue = deque(folder for folder in tree.folders if not folder or _parent(folder) not in known)
    while queue:
        folder = queue.popleft()
        below = [inner for inner in inside.get(folder, ()) if inner]
        # Each watch is a thread of the library's, so there is a bound on how finely a tree is cut.
        is_cut = folder in mixed and len(watches) + len(queue) + len(below) < _MAX_WATCHES
        watches.append((folder, not is_cut))
        queue.extend(below if is_cut else ())
    return watches


def _parent(folder: str) -> str:
    return folder.rpartition("/")[0]


def _above(folder: str) -> Iterator[str]:
    while folder:
        folder = _parent(folder)
        yield folder


def _has_folders(folder: str) -> bool:
    """One without, such as `__pycache__`, costs one watch at most, which is cheaper than to go round it."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.is_dir(follow_symlinks=False) for entry in entries)
    except OSError:
        return False


def _event_types() -> list[type[FileSystemEvent]]:
    """Without those of opening and reading: our own reading would be news."""
    from watchdog import events

    return [events.FileCreatedEvent, events.FileModifiedEvent, events.FileClosedEvent, events.FileDeletedEvent,
            events.FileMovedEvent, events.DirCreatedEvent, events.DirDeletedEvent, events.DirMovedEvent]  # fmt: skip
