"""Stop long-running commands promptly."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_GRACE_SECONDS = 0.3
_HAS_TIMER = hasattr(signal, "setitimer")


class _OverdueError(BaseException):
    """Raised when work does not stop in time. Not an `Exception`, so that no handler swallows it."""


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Yields an event that SIGINT and SIGTERM set. Work that does not stop soon afterwards is interrupted."""
    stop = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        if _HAS_TIMER:
            signal.setitimer(signal.ITIMER_REAL, _GRACE_SECONDS)

    def insist(_number: int, _frame: FrameType | None) -> None:
        raise _OverdueError

    handlers = {signal.SIGINT: ask, signal.SIGTERM: ask}
    if _HAS_TIMER:
        handlers[signal.SIGALRM] = insist
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield stop
    except _OverdueError:
        pass
    finally:
        if _HAS_TIMER:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
