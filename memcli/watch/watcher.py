"""Watcher: does what the loop decides, and yields what changed in batches."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing

from memcli.git.head import Head
from memcli.git.repository import find_repository
from memcli.model.changes import Batch
from memcli.watch import loop
from memcli.watch.events import EventInbox, FolderObserver, silent_kind
from memcli.watch.scan import Difference, Scanner, ScanScope, find_moves
from memcli.watch.state import WatchState

_PART = 1_000


class Watcher:
    """Yields what changed in a work tree since `state`, and then as it happens until `stop` is set.

    `paths` and `globs` narrow what is watched (see `ScanScope`); ignored files never are. Without a `state` all that is
    there now counts as seen. With `once` it ends after one scan. `warn` gets what the user should read.

    Many changes come in several batches. Now and then, while nothing happens, comes one that is only idle.
    """

    def __init__(
        self,
        work_tree: str,
        *,
        paths: Sequence[str] = (),
        globs: Sequence[str] = (),
        with_git: bool = True,
        quiet: float = loop.QUIET,
        state: WatchState | None = None,
        stop: threading.Event | None = None,
        warn: Callable[[str], None] | None = None,
        once: bool = False,
    ) -> None:
        root = os.path.realpath(work_tree)
        self._scanner = Scanner(root, ScanScope(root, paths, globs))
        self._head = Head(find_repository(root)) if with_git else None
        self._seen = state
        self._inbox = EventInbox(root, self._scanner.may_matter)
        self._stop = stop or threading.Event()
        self._warn = warn or (lambda _: None)
        self._quiet = quiet
        self._once = once

    @property
    def state(self) -> WatchState:
        """What has been seen, the last batch included: save it once that batch is stored, and nothing is lost."""
        return self._seen or WatchState()

    def recheck(self) -> None:
        """Puts all files into a batch again, since what was made of them may be lost; between two batches only."""
        self._seen = self.state.doubting(self.state.files)
        self._inbox.ask_for_scan()

    def batches(self) -> Iterator[Batch]:
        """What changed, whenever something has. Raises NotFoundError when the work tree is gone."""
        if self._once:
            found = self._scanner.scan(self.state.files, frozenset(), self._stop)
            yield from self._tell(found) if found else ()
            return
        with closing(FolderObserver(self._scanner.root, self._inbox)) as observer:
            if kind := silent_kind(self._scanner.root):
                observer.poll()
                self._warn(f"the file system ({kind}) does not report all changes: polling instead")
            yield from self._follow(observer)

    def _follow(self, observer: FolderObserver) -> Iterator[Batch]:
        state = loop.Loop(self._quiet, observer.is_polling)
        actions: tuple[loop.Action, ...] = (loop.Take(),)
        while not self._stop.is_set():
            event: loop.Event | None = None
            for action in actions:
                event = yield from self._perform(action, observer)
            if event is None:
                return
            state, actions = loop.step(state, event)

    def _perform(self, action: loop.Action, observer: FolderObserver) -> Generator[Batch, None, loop.Event | None]:
        match action:
            case loop.Take():
                return loop.Took(time.monotonic(), *self._inbox.take())
            case loop.Look(paths):
                found = self._scanner.look(self.state.files, paths)
                return loop.Looked(time.monotonic(), found, bool(paths))
            case loop.Scan(suspects):
                return self._scan(suspects, observer)
            case loop.Tell(found):
                yield from self._tell(found)
                return loop.Told(time.monotonic())
            case loop.Wait(seconds):
                return self._woke(self._inbox.wait(seconds))
            case loop.Sleep(seconds):
                self._stop.wait(seconds)
                return self._woke(True)
            case loop.Rest():
                yield Batch(is_idle=True)
            case loop.Warn(text):
                self._warn(text)
        return None

    def _woke(self, has_news: bool) -> loop.Woke:
        has_news = has_news or (self._head is not None and self._head.may_have_moved())
        return loop.Woke(time.monotonic(), has_news, self._inbox.events, self._inbox.last)

    def _scan(self, suspects: frozenset[str], observer: FolderObserver) -> loop.Scanned | None:
        """None when stopped on the way."""
        began, computed = time.monotonic(), time.thread_time()
        found = self._scanner.scan(self.state.files, suspects, self._stop)
        seconds, cpu = time.monotonic() - began, time.thread_time() - computed
        if found is None:
            return None
        has_new_watches = observer.follow(self._scanner.tree)
        return loop.Scanned(time.monotonic(), seconds, cpu, found, has_new_watches, observer.is_polling)

    def _tell(self, found: Difference) -> Iterator[Batch]:
        before = self.state.head
        head, commits = self._new_commits()
        if self._seen is None:
            self._seen = WatchState(head, found.applied_to({}))
            return
        # All moves at once and first: a file that is read where it is now updates what was moved there.
        moved = find_moves(self._scanner.root, self._seen.files, found)
        olds = frozenset(old for old, _ in moved)
        parts = found.parts(_PART)
        for number, part in enumerate(parts, 1):
            if self._stop.is_set():
                return
            is_last = number == len(parts)
            files = part.applied_to(self._seen.files)
            self._seen = WatchState(head if is_last else self._seen.head, files)
            removed = tuple(path for path in part.removed if path not in olds)
            batch = Batch(
                part.changed,
                removed,
                commits if is_last else None,
                moved if number == 1 else (),
                left=before if is_last and before and head != before else "",
            )
            if batch != Batch():
                yield batch

    def _new_commits(self) -> tuple[str | None, str | None]:
        """The current commit, and the range that leads to it when there is something new in it."""
        if self._head is None or not self._head.may_have_moved():
            return self.state.head, None
        head, commits, warning = self._head.since(self.state.head)
        if warning:
            self._warn(warning)
        return head, commits
