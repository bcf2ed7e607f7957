"""Loop: when a watch waits, looks at single files, or scans the whole work tree. Pure; times are seconds of a monotonic
clock.

A save is stored after a short pause, a burst after a longer one. Events get lost, so a scan follows changes soon after
and happens once in a while anyway; without events there are only scans.
"""

from __future__ import annotations

from typing import NamedTuple

from memcli.record import Record, replace
from memcli.watch.scan import Difference

QUIET = 0.08
"""Seconds without an event after which one or a few saves count as complete."""
_QUIET_BURST = 0.5
_FEW = 20
_LONGEST = 5.0
_TICK = 0.1
_IDLE = 1.0
# Seconds until the scan that follows changes, and how many times longer than a scan that is at least.
_ECHO, _ECHO_SHARE = 2.0, 20
# Seconds between scans when there are no events, and how many times longer than a scan: it bounds the share of the CPU.
_POLL, _POLL_SHARE = 1.0, 200
_CHECK, _CHECK_SHARE = 60.0, 1_000
# What a second of waiting, as for a network or for git, counts as against one of computing.
_WAITING = 20


class Woke(NamedTuple):
    """A wait has ended. `events` were reported since the last look, the last one at `last`."""

    now: float
    has_news: bool
    events: int = 0
    last: float = 0.0


class Took(NamedTuple):
    """The paths that events named, and whether only a scan can find what changed."""

    now: float
    paths: frozenset[str] = frozenset()
    needs_scan: bool = False


class Looked(NamedTuple):
    """The files that events named have been read."""

    now: float
    found: Difference
    has_paths: bool


class Scanned(NamedTuple):
    """The whole tree has been read, which took `seconds`, and of them `cpu` of computing.

    `has_new_watches`: some folders were not watched while it was.
    """

    now: float
    seconds: float
    cpu: float
    found: Difference
    has_new_watches: bool
    is_polling: bool


class Told(NamedTuple):
    """What was found has been passed on."""

    now: float


class Take(NamedTuple):
    """Take the paths that events named. The answer is `Took`."""


class Look(NamedTuple):
    """Read these files. The answer is `Looked`."""

    paths: frozenset[str]


class Scan(NamedTuple):
    """Read the tree, and the content of `suspects` whatever their size and time. The answer is `Scanned`."""

    suspects: frozenset[str]


class Tell(NamedTuple):
    """Pass on what was found. The answer is `Told`."""

    found: Difference


class Wait(NamedTuple):
    """Wait so long at most, until there is news. The answer is `Woke`."""

    seconds: float


class Sleep(NamedTuple):
    """Wait so long, whatever happens. The answer is `Woke`."""

    seconds: float


class Rest(NamedTuple):
    """Let others use the time in which nothing happens. No answer."""


class Warn(NamedTuple):
    """Tell the user. No answer."""

    text: str


Event = Woke | Took | Looked | Scanned | Told
Action = Take | Look | Scan | Tell | Wait | Sleep | Rest | Warn


class Loop(Record):
    """Where the loop is: when to scan again, what the last scan cost, until when to wait for news, and since when news
    has been coming in."""

    quiet: float = QUIET
    is_polling: bool = False
    scan_at: float = 0.0
    cost: float = 0.0
    until: float = 0.0
    settling: float | None = None


def step(state: Loop, event: Event) -> tuple[Loop, tuple[Action, ...]]:
    """The next state, and what to do until the next event: the last action is the one that is answered."""
    match event:
        case Woke():
            return _woke(state, event)
        case Took():
            is_scan = event.needs_scan or event.now >= state.scan_at
            return state, (Scan(event.paths) if is_scan else Look(event.paths),)
        case Looked():
            echo_at = event.now + max(_ECHO, _ECHO_SHARE * state.cost)
            scan_at = min(state.scan_at, echo_at) if event.has_paths else state.scan_at
            return replace(state, scan_at=scan_at), (Tell(event.found),)
        case Scanned():
            return _scanned(state, event)
        case Told():
            until = min(state.scan_at, event.now + _IDLE)
            return replace(state, until=until), (Wait(min(_TICK, max(0.0, until - event.now))),)


def _woke(state: Loop, event: Woke) -> tuple[Loop, tuple[Action, ...]]:
    if state.settling is None and not event.has_news:
        left = state.until - event.now
        return state, (Wait(min(_TICK, left)),) if left > 0 else (Rest(), Take())
    # Until no event has come for a while: longer in a burst, but not for ever.
    since = event.now if state.settling is None else state.settling
    waited = event.now - since
    quiet = state.quiet if event.events <= _FEW else max(state.quiet, _QUIET_BURST)
    left = min(_LONGEST - waited, quiet - min(waited, event.now - event.last))
    if left > 0:
        return replace(state, settling=since), (Sleep(left),)
    return replace(state, settling=None), (Take(),)


def _scanned(state: Loop, event: Scanned) -> tuple[Loop, tuple[Action, ...]]:
    cost = max(event.seconds / _WAITING, event.cpu)
    warnings: tuple[Action, ...] = ()
    if event.is_polling:
        pause = max(_POLL, _POLL_SHARE * cost)
        if not state.is_polling:
            warnings = (Warn(
                f"out of inotify watches: polling every {pause:.0f} s instead "
                "(raise fs.inotify.max_user_watches)"
            ),)  # fmt: skip
    elif event.has_new_watches:
        pause = 0.0
    elif event.found.changed or event.found.removed:
        pause = _ECHO
    else:
        pause = max(_CHECK, _CHECK_SHARE * cost)
    state = replace(state, cost=cost, scan_at=event.now + pause, is_polling=event.is_polling)
    return state, (*warnings, Tell(event.found))
