"""Watch: a work tree followed as it changes, told in batches once it is quiet."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from memcli.git.head import Head, Mark
from memcli.git.ignore import RULE_FILES
from memcli.git.repository import find_repository
from memcli.ingest.moves import find_moves
from memcli.ingest.network_fs import silent_kind
from memcli.ingest.observe import Inbox, Observer
from memcli.ingest.scan import Finding, Survey
from memcli.ingest.state import WatchState
from memcli.record import Record

QUIET = 0.08
"""Seconds without an event after which a save or a few count as done."""
_QUIET_BURST = 0.5
_FEW = 20
_LONGEST = 5.0
_TICK = 0.1
_IDLE = 1.0
_PART = 1_000
# Seconds to a scan after news, for what went unheard, and how many times longer than a scan it is at least.
_ECHO, _ECHO_SHARE = 2.0, 20
# Seconds between scans when there are no events, and how many times longer than a scan: it bounds the share of the CPU.
_POLL, _POLL_SHARE = 1.0, 200
_CHECK, _CHECK_SHARE = 60.0, 1_000
# What a second of waiting, as for a network or for git, counts as against one of computing.
_WAITING = 20


class Changes(Record):
    """What is new, relative to the work tree and sorted: files to read again, files gone, a range of commits to ingest.

    `moved` are pairs of where a file was and where it is; it is neither gone nor, when it is read again, new.
    `left`: the commit that the work tree was at before; empty when it is still there. `is_idle`: nothing is new, and there is time for
    something else. Names that are no UTF-8 have surrogates.
    """

    files: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    commits: str | None = None
    moved: tuple[tuple[str, str], ...] = ()
    left: str = ""
    is_idle: bool = False


class Watcher:
    """Tells what changed in a work tree since `state`, and then as it happens until `stop` is set.

    `paths` (files or folders, from the current directory) and `globs` (in gitignore's syntax) narrow what is followed;
    ignored files and noise never are. Without a `state` all that is there now counts as told. With `once`, one look
    and the end. `warn` is told what the user should know.

    Much news comes in several batches. Now and then, while nothing happens, comes one that is only idle.
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
        self._root = os.path.realpath(work_tree)
        self._survey = Survey(self._root, paths, globs)
        self._head = Head(find_repository(self._root)) if with_git else None
        self._quiet = quiet
        self._stop = stop or threading.Event()
        self._warn = warn
        self._once = once
        self._state = state or WatchState()
        self._is_silent = state is None
        self._mark: Mark | None = None
        self._inbox = Inbox(self._root, self._survey.may_matter)

    @property
    def state(self) -> WatchState:
        """What has been told, the last batch included: save it once that batch is dealt with, and nothing is lost."""
        return self._state

    def recheck(self) -> None:
        """Has all files told again, as is right when what was made of them may be lost; between two batches only."""
        self._state = self._state.doubting(self._state.files)
        self._inbox.ask_for_scan()

    def batches(self) -> Iterator[Changes]:
        """What is new, whenever something is. Raises NotFoundError when the work tree is gone."""
        if self._once:
            yield from self._tell(self._survey.scan(self._state.files, frozenset(), self._stop))
            return
        observer = Observer(self._root, self._inbox)
        if kind := silent_kind(self._root):
            observer.poll()
            self._tell_user(f"the file system ({kind}) does not tell of every change: looking again and again instead")
        try:
            yield from self._follow(observer)
        finally:
            observer.stop()

    def _follow(self, observer: Observer) -> Iterator[Changes]:
        scan_at, took = 0.0, 0.0
        while not self._stop.is_set():
            news = self._inbox.take()
            is_due = time.monotonic() >= scan_at
            if news.needs_scan or is_due or any(os.path.basename(path) in RULE_FILES for path in news.paths):
                began = time.monotonic(), time.thread_time()
                finding = self._survey.scan(self._state.files, news.paths, self._stop)
                took = max((time.monotonic() - began[0]) / _WAITING, time.thread_time() - began[1])
                scan_at = self._next_scan(observer, finding, took)
            else:
                finding = self._survey.look(self._state.files, news.paths)
                if news.paths:
                    scan_at = min(scan_at, time.monotonic() + max(_ECHO, _ECHO_SHARE * took))
            yield from self._tell(finding)
            if not self._wait(min(scan_at, time.monotonic() + _IDLE)):
                yield Changes(is_idle=True)

    def _next_scan(self, observer: Observer, finding: Finding | None, took: float) -> float:
        """When to scan again: soon after a scan that had news, since events may have been lost; else once in a while."""
        was_polling = observer.is_polling
        has_moved = observer.follow(self._survey.tree)
        now = time.monotonic()
        if observer.is_polling:
            pause = max(_POLL, _POLL_SHARE * took)
            if not was_polling:
                self._tell_user(
                    f"the system allows no more inotify watches: looking every {pause:.0f} s instead "
                    "(raise fs.inotify.max_user_watches)"
                )
            return now + pause
        if has_moved:
            return now
        if finding and (finding.changed or finding.removed):
            return now + _ECHO
        return now + max(_CHECK, _CHECK_SHARE * took)

    def _wait(self, until: float) -> bool:
        """Waits for news and then for quiet, until the time given; whether there is news, or an end to come."""
        while not self._stop.is_set():
            left = until - time.monotonic()
            if left <= 0:
                return False
            if self._inbox.wait(min(_TICK, left)) or (self._head and self._head.mark() != self._mark):
                self._settle()
                return True
        return True

    def _settle(self) -> None:
        began = time.monotonic()
        while True:
            waited = time.monotonic() - began
            quiet = self._quiet if self._inbox.events <= _FEW else max(self._quiet, _QUIET_BURST)
            left = min(_LONGEST - waited, quiet - min(waited, self._inbox.quiet()))
            if left <= 0 or self._stop.wait(left):
                return

    def _tell(self, finding: Finding | None) -> Iterator[Changes]:
        if finding is None:
            return
        before = self._state.head
        head, commits = self._new_commits()
        if self._is_silent:
            self._is_silent = False
            self._state = WatchState(head, finding.applied_to(self._state.files))
            return
        # All moves at once and first: a file that is read where it is now updates what was moved there.
        moved = find_moves(self._root, self._state.files, finding)
        olds = frozenset(old for old, _ in moved)
        parts = finding.parts(_PART)
        for number, part in enumerate(parts, 1):
            if self._stop.is_set():
                return
            is_last = number == len(parts)
            files = part.applied_to(self._state.files)
            self._state = WatchState(head if is_last else self._state.head, files)
            removed = tuple(path for path in part.removed if path not in olds)
            changes = Changes(
                part.changed,
                removed,
                commits if is_last else None,
                moved if number == 1 else (),
                left=before if is_last and before and head != before else "",
            )
            if changes != Changes():
                yield changes

    def _new_commits(self) -> tuple[str | None, str | None]:
        """The current commit, and the range that leads to it when there is something new in it."""
        mark = self._head.mark() if self._head else self._mark
        if self._head is None or mark == self._mark:
            return self._state.head, None
        self._mark = mark
        head, commits, warning = self._head.since(self._state.head)
        if warning:
            self._tell_user(warning)
        return head, commits

    def _tell_user(self, text: str) -> None:
        if self._warn:
            self._warn(text)
