"""Loop: when a watch waits, looks at single files, or scans the whole work tree. Pure; times are seconds of a monotonic
clock.

A save is stored after a short pause, a burst after a longer one. Events get lost, so a scan follows changes soon after
and happens once in a while anyway; without events there are only scans.
"""

from __future__ import annotations

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


class Loop(Record):
    """Where the loop is: when to scan again, what the last scan cost, until when to wait for news, and since when news
    has been coming in."""

    quiet: float = QUIET
    is_polling: bool = False
    scan_at: float = 0.0
    cost: float = 0.0
    until: float = 0.0
    settling: float | None = None

    def is_scan_due(self, now: float, needs_scan: bool) -> bool:
        """Whether to read the whole tree rather than the files that events named; `needs_scan` if events cannot name them."""
        return needs_scan or now >= self.scan_at

    def after_look(self, now: float, *, has_paths: bool) -> Loop:
        """After the files that events named, if there were any, have been read."""
        echo_at = now + max(_ECHO, _ECHO_SHARE * self.cost)
        return replace(self, scan_at=min(self.scan_at, echo_at)) if has_paths else self

    def after_scan(
        self, now: float, seconds: float, cpu: float, found: Difference, *, has_new_watches: bool, is_polling: bool
    ) -> tuple[Loop, str]:
        """After a scan that took `seconds`, and of them `cpu` of computing; with a warning for the user, or "".

        `has_new_watches`: some folders were not watched while the tree was read.
        """
        cost = max(seconds / _WAITING, cpu)
        warning = ""
        if is_polling:
            pause = max(_POLL, _POLL_SHARE * cost)
            if not self.is_polling:
                warning = (
                    f"out of inotify watches: polling every {pause:.0f} s instead (raise fs.inotify.max_user_watches)"
                )
        elif has_new_watches:
            pause = 0.0
        elif found.changed or found.removed:
            pause = _ECHO
        else:
            pause = max(_CHECK, _CHECK_SHARE * cost)
        return replace(self, cost=cost, scan_at=now + pause, is_polling=is_polling), warning

    def after_tell(self, now: float) -> Loop:
        """After what was found has been passed on."""
        return replace(self, until=min(self.scan_at, now + _IDLE))

    def tick(self, now: float) -> float:
        """How long to wait for news before the next look at what wakes no wait; 0 once nothing has happened for long."""
        return min(_TICK, max(0.0, self.until - now))

    def settle(self, now: float, events: int, last: float) -> tuple[Loop, float]:
        """How long to sleep after news until no event has come for a while: longer in a burst, but not for ever.

        `events` were reported since the last look, the last one at `last`. At 0 what they named is to be taken.
        """
        since = now if self.settling is None else self.settling
        waited = now - since
        quiet = self.quiet if events <= _FEW else max(self.quiet, _QUIET_BURST)
        left = min(_LONGEST - waited, quiet - min(waited, now - last))
        if left > 0:
            return replace(self, settling=since), left
        return replace(self, settling=None), 0.0
