"""What is at the other end of a command: a terminal, pipes, or the program that called it in its own process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from memcli.errors import UsageError

_ON_STREAMS = object()
_input: ContextVar[bytes | object | None] = ContextVar("input", default=_ON_STREAMS)


@contextmanager
def called(data: bytes | None) -> Iterator[None]:
    """Around a verb that a program calls: it reads `data` as standard input, None for no input, and nobody is asked.

    The streams of the process belong to the program.
    """
    token = _input.set(data)
    try:
        yield
    finally:
        _input.reset(token)


def is_called() -> bool:
    """Whether a program called the verb in its own process."""
    return _input.get() is not _ON_STREAMS


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return not is_called() and sys.stdout.isatty()


def can_ask() -> bool:
    """Whether somebody can be asked on the terminal."""
    return not is_called() and sys.stdin.isatty() and sys.stderr.isatty()


def has_input() -> bool:
    """Whether there is standard input that nobody has to type."""
    data = _input.get()
    return not sys.stdin.isatty() if data is _ON_STREAMS else data is not None


def read_input(limit: int) -> bytes:
    """At most `limit` bytes of standard input. Raises UsageError if there is none, or if it cannot be read."""
    data = _input.get()
    if data is _ON_STREAMS:
        try:
            return sys.stdin.buffer.read(limit)
        except OSError as error:
            raise UsageError(f"cannot read standard input: {error.strerror}") from None
    if not isinstance(data, bytes):
        raise UsageError("there is no standard input to read", "give the value itself, or a file")
    return data[:limit]
