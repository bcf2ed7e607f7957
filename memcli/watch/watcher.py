"""Watcher: reads what events name or the whole tree, as the loop times it, and yields what changed in batches."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing

from memcli.git.repository import find_repository
from memcli.git.tree import Head
from memcli.model.changes import Batch
from memcli.watch.events import EventInbox, FolderObserver, silent_kind
from memcli.watch.loop import QUIET, Loop
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
        quiet: float = QUIET,
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
        state = Loop(self._quiet, observer.is_polling)
        while not self._stop.is_set():
            paths, needs_scan = self._inbox.take()
            if state.is_scan_due(time.monotonic(), needs_scan):
                scanned = self._scan(state, paths, observer)
                if scanned is None:
                    return
                state, found = scanned
            else:
                found = self._scanner.look(self.state.files, paths)
                state = state.after_look(time.monotonic(), has_paths=bool(paths))
            if self._stop.is_set():
                return
            yield from self._tell(found)
            if not self._stop.is_set():
                state = yield from self._wait(state.after_tell(time.monotonic()))

    def _wait(self, state: Loop) -> Generator[Batch, None, Loop]:
        """Waits until there is something to take, and yields an idle batch when nothing has happened for long."""
        has_news = self._inbox.wait(state.tick(time.monotonic()))
        while not self._stop.is_set():
            if has_news or (self._head is not None and self._head.may_have_moved()):
                return self._settle(state)
            left = state.tick(time.monotonic())
            if not left:
                yield Batch(is_idle=True)
                return state
            has_news = self._inbox.wait(left)
        return state

    def _settle(self, state: Loop) -> Loop:
        """Sleeps until a burst of events is over."""
        state, left = state.settle(time.monotonic(), self._inbox.events, self._inbox.last)
        while left and not self._stop.wait(left):
            state, left = state.settle(time.monotonic(), self._inbox.events, self._inbox.last)
        return state

    def _scan(self, state: Loop, suspects: frozenset[str], observer: FolderObserver) -> tuple[Loop, Difference] | None:
        """Reads the tree, and the content of `suspects` whatever their size and time; None when stopped on the way."""
        began, computed = time.monotonic(), time.thread_time()
        found = self._scanner.scan(self.state.files, suspects, self._stop)
        seconds, cpu = time.monotonic() - began, time.thread_time() - computed
        if found is None:
            return None
        has_new_watches = observer.follow(self._scanner.tree)
        state, warning = state.after_scan(
            time.monotonic(),
            seconds,
            cpu,
            found,
            has_new_watches=has_new_watches,
            is_polling=observer.is_polling,
        )
        if warning:
            self._warn(warning)
        return state, found

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
