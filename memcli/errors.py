"""Every error that memcli reports to a user.

    MemcliError                 1  internal
    ├── UsageError              2  usage       the command line or its input is wrong
    ├── NotFoundError           3  not_found   no such store, space, memory or file
    ├── LockedError             4  locked      another process holds the space
    ├── ConflictError           4  conflict    the change contradicts what is stored
    ├── RefusedError            5  refused     a policy forbids it
    ├── CorruptError            6  corrupt     stored or imported data is damaged or forged
    ├── ProviderError           7  provider    a model or an outside program failed
    └── StoreError              8  store       the store cannot be read or written

A message says what was wrong and with what; the hint says what to do. Numbers are never renamed.
"""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)


class MemcliError(Exception):
    """An expected failure: one line for the user, an exit code for the shell."""

    exit_code = 1
    code = "internal"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.value: object = None
        """The JSON that a command had printed before it failed, for a program that called it."""


class UsageError(MemcliError):
    exit_code = 2
    code = "usage"


class NotFoundError(MemcliError):
    exit_code = 3
    code = "not_found"


class NoStoreError(NotFoundError):
    """There is no store where one is looked for."""


class LockedError(MemcliError):
    exit_code = 4
    code = "locked"


class OutdatedError(LockedError):
    """Memories that a command had read were erased before it ended, so that it must read again."""


class ConflictError(MemcliError):
    exit_code = 4
    code = "conflict"


class ChangedError(ConflictError):
    """A memory has changed since the caller read it."""


class RefusedError(MemcliError):
    exit_code = 5
    code = "refused"


class CorruptError(MemcliError):
    exit_code = 6
    code = "corrupt"


class NewerError(CorruptError):
    """The data was written by a newer memcli."""


class ProviderError(MemcliError):
    """`brief` is the message without text of the provider or its model, which may quote a prompt or a key."""

    exit_code = 7
    code = "provider"

    def __init__(self, message: str, hint: str = "", brief: str = "") -> None:
        super().__init__(message, hint)
        self.brief = brief or message


class StoreError(MemcliError):
    exit_code = 8
    code = "store"


def error_of(code: str, message: str, hint: str) -> MemcliError:
    """The error that another process reported, by its `code`."""
    known = {kind.code: kind for kind in MemcliError.__subclasses__()}
    return known.get(code, MemcliError)(message, hint)


@contextmanager
def reporting_done(done: Callable[[], str]) -> Iterator[None]:
    """A context for a command of several writes: the message of an error begins with what was `done` before, unless that is
    empty."""
    try:
        yield
    except (MemcliError, OSError) as error:
        counts = done()
        if not counts:
            raise
        # The same class, since the exit code depends on it.
        kind = type(error) if isinstance(error, MemcliError) else StoreError
        raise kind(f"stopped after {counts}: {reason(error)}", "run the command again to do the rest") from None


@contextmanager
def from_elsewhere(hint: str, place: str = "") -> Iterator[None]:
    """A context for reading data of another store or tool: a CorruptError gets the `place` before its message, and the `hint`
    of that place, unless a newer memcli wrote the data."""
    try:
        yield
    except CorruptError as error:
        # Newer data needs a newer memcli, wherever it comes from.
        hint = error.hint if isinstance(error, NewerError) else hint
        raise type(error)(f"{place}: {error.message}" if place else error.message, hint) from None


def reason(error: MemcliError | OSError) -> str:
    """The message of an error, without its hint."""
    return error.message if isinstance(error, MemcliError) else error.strerror or str(error)


def hint_of(error: OSError, otherwise: str) -> str:
    """The hint for an error of the system: `otherwise`, unless the process has no file descriptors left."""
    # Whoever runs out of descriptors would look at permissions in vain.
    return "raise the limit on open files (`ulimit -n`)" if error.errno in _TOO_MANY_FILES else otherwise
