"""Cancellation of a call by the program that made it, in the same process (a server, an MCP client)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_cancelled: ContextVar[Callable[[], bool]] = ContextVar("is_cancelled", default=lambda: False)


@contextmanager
def cancelled_by(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """A context for a call that is cancelled once `is_cancelled` returns True."""
    token = _is_cancelled.set(is_cancelled)
    try:
        yield
    finally:
        _is_cancelled.reset(token)


def check_cancelled() -> None:
    """Raises KeyboardInterrupt, as Ctrl-C does, once the caller has cancelled the call. Long work calls it now and then, and
    every write calls it first."""
    # No Exception, so that no handler on the way takes it for a failure of what it tries.
    if _is_cancelled.get()():
        raise KeyboardInterrupt("the caller cancelled the call")
