"""Watch: a work tree followed as it changes, told in batches once it is quiet."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memcli.git.repository import find_repository
from memcli.ingest.head import Head, Mark
from memcli.ingest.ignore import RULE_FILES
from memcli.ingest.observe import Inbox, Observer
from memcli.ingest.state import WatchState
from memcli.ingest.survey import Finding, Survey

QUIET = 0.3
_LONGEST = 5.0
_TICK = 0.1
_STEP = 0.03
_ECHO = 2.0
# Seconds between scans when there are no events, and how many times longer than a scan: it bounds the share of the CPU.
_POLL, _POLL_SHARE = 1.0, 200
_CHECK, _CHECK_SHARE = 60.0, 1_000


@dataclass(frozen=True, slots=True)
class Changes:
    """What is new, relative to the work tree and sorted: files to read again, files gone, a range of commits to ingest.

    Names that are no UTF-8 have surrogates.
    """

    files: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    commits: str | None = None


class Watcher:
    """Tells what changed in a work tree since `state`, and then as it happens until `stop` is set.

    `paths` (files or folders, from the current directory) and `globs` (in gitignore's syntax) narrow what is followed;
    ignored files and noise never are. Without a `state` all that is there now counts as told. With `once`, one look
    and the end. `warn` is told what the user should know.
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

    def batches(self) -> Iterator[Changes]:
        """What is new, whenever something is. Raises NotFoundError when the work tree is gone."""
        if self._once:
            yield from self._tell(self._survey.scan(self._state.files, frozenset(), self._stop))
            return
        observer = Observer(self._root, self._inbox)
        try:
            yield from self._follow(observer)
        finally:
            observer.stop()

    def _follow(self, observer: Observer) -> Iterator[Changes]:
        scan_at = 0.0
        while not self._stop.is_set():
            news = self._inbox.take()
            is_due = time.monotonic() >= scan_at
            if news.needs_scan or is_due or any(os.path.basename(path) in RULE_FILES for path in news.paths):
                began = time.monotonic()
                finding = self._survey.scan(self._state.files, news.paths, self._stop)
                scan_at = self._next_scan(observer, finding, time.monotonic() - began)
            else:
                finding = self._survey.look(self._state.files, news.paths)
            yield from self._tell(finding)
            self._wait(scan_at)

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

    def _wait(self, until: float) -> None:
        """Returns at the time given, or once there is news and then quiet, or when stopped."""
        while not self._stop.is_set():
            if self._inbox.wait(_TICK) or (self._head and self._head.mark() != self._mark):
                self._settle()
                return
            if time.monotonic() >= until:
                return

    def _settle(self) -> None:
        began = time.monotonic()
        while not self._stop.wait(_STEP):
            waited = time.monotonic() - began
            if waited >= _LONGEST or min(waited, self._inbox.quiet()) >= self._quiet:
                return

    def _tell(self, finding: Finding | None) -> Iterator[Changes]:
        if finding is None:
            return
        commits = self._new_commits()
        self._state = replace(self._state, files=finding.applied_to(self._state.files))
        is_silent, self._is_silent = self._is_silent, False
        if not is_silent and (finding.changed or finding.removed or commits):
            yield Changes(finding.changed, finding.removed, commits)

    def _new_commits(self) -> str | None:
        mark = self._head.mark() if self._head else self._mark
        if self._head is None or mark == self._mark:
            return None
        self._mark = mark
        head, commits, warning = self._head.since(self._state.head)
        self._state = replace(self._state, head=head)
        if warning:
            self._tell_user(warning)
        return commits

    def _tell_user(self, text: str) -> None:
        if self._warn:
            self._warn(text)
