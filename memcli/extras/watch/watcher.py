"""The watcher: yields the changes of a work tree in batches. Its loop decides when to wait, to read the files that events named,
or to scan the whole work tree.

A saved file is read after a short pause, a burst of changes after a longer one. Events get lost, so that a scan follows changes
soon, and happens once in a while anyway; without events there are only scans. Times are seconds of a monotonic clock.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing

from memcli.extras.watch.events import EventInbox, FolderObserver, silent_kind
from memcli.extras.watch.scan import Difference, Scanner, ScanScope, WatchState, find_moves
from memcli.git.repository import find_repository
from memcli.git.tree import Head
from memcli.model.changes import Batch
from memcli.record import Record, replace

QUIET = 0.08
"""Seconds without an event after which a few changes count as complete."""
_QUIET_BURST = 0.5
"""The same for a burst, of more than _FEW events."""
_FEW = 20
_LONGEST = 5.0
"""Seconds after which a burst is read although it goes on."""
# Seconds between two checks of HEAD, of which no event tells.
_TICK = 0.1
_IDLE = 1.0
"""Seconds without a change until an idle batch."""
# Seconds until the scan that follows changes, and its least multiple of the duration of a scan.
_ECHO, _ECHO_SHARE = 2.0, 20
# The same between scans that nothing calls for, without events and with: the multiple bounds the share of the CPU.
_POLL, _POLL_SHARE = 1.0, 200
_CHECK, _CHECK_SHARE = 60.0, 1_000
# So many seconds of waiting, as for a network, count as one of computing.
_WAITING = 20


class Loop(Record):
    """The state of the loop: the time of the next scan, the cost of the last one in seconds, the end of the wait for events,
    and since when events have been coming in, None if they have not."""

    quiet: float = QUIET
    is_polling: bool = False
    scan_at: float = 0.0
    cost: float = 0.0
    until: float = 0.0
    settling: float | None = None

    def is_scan_due(self, now: float, needs_scan: bool) -> bool:
        """Whether to scan the work tree instead of reading the files that events named; `needs_scan` if events cannot name them."""
        return needs_scan or now >= self.scan_at

    def after_look(self, now: float, *, has_paths: bool) -> Loop:
        """The state after the files that events named, if any, have been read."""
        echo_at = now + max(_ECHO, _ECHO_SHARE * self.cost)
        return replace(self, scan_at=min(self.scan_at, echo_at)) if has_paths else self

    def after_scan(
        self, now: float, seconds: float, cpu: float, found: Difference, *, has_new_watches: bool, is_polling: bool
    ) -> tuple[Loop, str]:
        """The state after a scan that took `seconds`, of which `cpu` were computing; and a warning for the user, or "".

        With `has_new_watches` some folders were not watched during the scan.
        """
        # The time on the clock alone would make the scans of a busy machine rare, that of the processor those of a
        # network frequent.
        cost = max(seconds / _WAITING, cpu)
        warning = ""
        if is_polling:
            pause = max(_POLL, _POLL_SHARE * cost)
            if not self.is_polling:
                warning = (
                    f"out of inotify watches: polling every {pause:.0f} s instead (raise fs.inotify.max_user_watches)"
                )
        elif has_new_watches:
            pause = 0.0  # changes in a folder before its watch began had no events
        elif found.changed or found.removed:
            pause = _ECHO
        else:
            pause = max(_CHECK, _CHECK_SHARE * cost)
        return replace(self, cost=cost, scan_at=now + pause, is_polling=is_polling), warning

    def after_batches(self, now: float) -> Loop:
        """The state after the batches of a difference have been yielded."""
        return replace(self, until=min(self.scan_at, now + _IDLE))

    def tick(self, now: float) -> float:
        """How long to wait for events before HEAD is checked, which has none; 0 after a long time without events."""
        return min(_TICK, max(0.0, self.until - now))

    def settle(self, now: float, events: int, last: float) -> tuple[Loop, float]:
        """How long to sleep after an event, until none has come for a while: longer in a burst, but for _LONGEST at most. At 0
        the changes are complete.

        `events` is the number of events since the last `take`, `last` the time of the last one.
        """
        since = now if self.settling is None else self.settling
        waited = now - since
        quiet = self.quiet if events <= _FEW else max(self.quiet, _QUIET_BURST)
        left = min(_LONGEST - waited, quiet - min(waited, now - last))
        if left > 0:
            return replace(self, settling=since), left
        return replace(self, settling=None), 0.0


# A stop need not wait until all changes of a large tree are stored.
_PART = 1_000


class Watcher:
    """Yields the changes of a work tree since `state`, and then as they happen until `stop` is set.

    `paths` and `globs` select files (see `ScanScope`); ignored files are never watched. Without a `state` the work tree as it is
    counts as known. With `once` it ends after one scan. `warn` receives messages for the user.

    Many changes are split into several batches. While nothing changes, there is an idle batch now and then.
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
        """The state with the last batch, to be saved after that batch is stored: then nothing is lost."""
        return self._seen or WatchState()

    def recheck(self) -> None:
        """Puts all files into a batch again, since their memories may be lost. To be called between two batches only."""
        self._seen = self.state.doubting(self.state.files)
        self._inbox.ask_for_scan()

    def batches(self) -> Iterator[Batch]:
        """Yields the changes in batches. Raises NotFoundError if the work tree is gone."""
        if self._once:
            found = self._scanner.scan(self.state.files, frozenset(), self._stop)
            yield from self._batches_of(found) if found else ()
            return
        with closing(FolderObserver(self._scanner.root, self._inbox)) as observer:
            if kind := silent_kind(self._scanner.root):
                observer.poll()
                self._warn(f"the file system ({kind}) does not report all changes: polling instead")
            yield from self._follow(observer)

    def _follow(self, observer: FolderObserver) -> Iterator[Batch]:
        """Yields the changes that events and scans find, until stopped."""
        state = Loop(self._quiet, observer.is_polling)
        while not self._stop.is_set():
            paths, needs_scan = self._inbox.take()
            began, computed = time.monotonic(), time.thread_time()
            if state.is_scan_due(began, needs_scan):
                # The files that events named are read whatever their size and time: a change may leave both as they were.
                scanned = self._scanner.scan(self.state.files, paths, self._stop)
                seconds, cpu = time.monotonic() - began, time.thread_time() - computed
                if scanned is None:
                    return
                found = scanned
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
            else:
                found = self._scanner.look(self.state.files, paths)
                state = state.after_look(time.monotonic(), has_paths=bool(paths))
            if self._stop.is_set():
                return
            yield from self._batches_of(found)
            if not self._stop.is_set():
                state = yield from self._wait(state.after_batches(time.monotonic()))

    def _wait(self, state: Loop) -> Generator[Batch, None, Loop]:
        """Waits for events, or a move of HEAD. Yields an idle batch after a long time without either."""
        has_news = self._inbox.wait(state.tick(time.monotonic()))
        while not self._stop.is_set():
            if has_news or (self._head is not None and self._head.may_have_moved()):
                break
            left = state.tick(time.monotonic())
            if not left:
                yield Batch(is_idle=True)
                return state
            has_news = self._inbox.wait(left)
        left = 0.0
        while not self._stop.wait(left):  # until a burst of events is over
            state, left = state.settle(time.monotonic(), self._inbox.events, self._inbox.last)
            if not left:
                break
        return state

    def _batches_of(self, found: Difference) -> Iterator[Batch]:
        """Yields a difference, and new commits, in batches, and brings the state up to date before each."""
        head = before = self.state.head
        commits = None
        if self._head is not None and self._head.may_have_moved():
            head, commits, warning = self._head.since(before)
            if warning:
                self._warn(warning)
        if self._seen is None:
            self._seen = WatchState(head, found.applied_to({}))
            return
        # All moves are in the first batch: a file that is read at its new path must update the memories that moved there.
        moved = find_moves(self._scanner.root, self._seen.files, found)
        olds = frozenset(old for old, _ in moved)
        parts = found.parts(_PART)
        for number, part in enumerate(parts, 1):
            if self._stop.is_set():
                return
            # HEAD moves with the last part, so that after a stop in between the commits are found again.
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
            if batch != Batch():  # a file that was only touched changes the state alone
                yield batch
