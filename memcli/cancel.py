"""Cancellation: whether the program that called a verb in its own process still wants the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_cancelled: ContextVar[Callable[[], bool]] = ContextVar("is_cancelled", default=lambda: False)


@contextmanager
def cancelled_by(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Around a call that its caller can cancel."""
    token = _is_cancelled.set(is_cancelled)
    try:
        yield
    finally:
        _is_cancelled.reset(token)


def check_cancelled() -> None:
    """Raises KeyboardInterrupt, as Ctrl-C does, once the caller has cancelled the call. Asked before every write, and in
    work that takes long."""
    if _is_cancelled.get()():
        raise KeyboardInterrupt("the caller cancelled the call")
