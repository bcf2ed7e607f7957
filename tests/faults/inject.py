"""Faults from inside: the functions of `os` that touch a folder are counted, and one of the calls fails or kills.

Needs nothing but Python, so it runs everywhere; what C code does by itself (SQLite, say) it does not see: `trace.py` does.
"""

from __future__ import annotations

import builtins
import errno
import os
import signal
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

_BY_PATH = ("open", "replace", "rename", "link", "unlink", "remove", "mkdir", "rmdir", "chmod", "truncate", "symlink")
_BY_FD = (
    "read", "pread", "write", "pwrite", "writev", "fsync", "fdatasync", "ftruncate", "fchmod", "copy_file_range",
    "sendfile", "close",
)  # fmt: skip
_DATA = ("write", "pwrite")
_HARMLESS = ("read", "pread", "fsync", "fdatasync", "close", "flock")
KILLS = ("kill", "half")
ERRNOS = ("ENOSPC", "EIO", "EACCES", "EMFILE", "EROFS", "EDQUOT")


class Dead(BaseException):
    """The process would be dead by now."""


@dataclass(frozen=True)
class Fault:
    """What happens at the call of number `at` (from 0): `kill` ends the process before it, `half` after half of its
    data, `short` writes half and says so, and a name of errno makes it fail. `dead` is a kill for tests that must live
    on: this call and all after it raise Dead, so that nothing is tidied up.
    """

    at: int
    kind: str


@dataclass(frozen=True)
class Call:
    """One call that touched the folder: `path` is relative to it, `data` is whether it writes bytes, `changes`
    whether other processes may find something else after it, and `target` what a rename replaces.
    """

    name: str
    path: str
    data: bool = False
    changes: bool = True
    target: str = ""


class Watched:
    """Wraps the functions of `os`. Every call under `folder` goes to `calls` and, with `fault`, one of them fails."""

    def __init__(self, folder: str, fault: Fault | None = None, told: Callable[[Call], object] | None = None) -> None:
        self.calls: list[Call] = []
        self._folder = os.path.realpath(folder)
        self._fault = fault
        self._told = told
        self._open: dict[int, str] = {}
        self._undo: list[tuple[Any, str, Any]] = []

    def install(self) -> Self:
        import fcntl

        for name in (*_BY_PATH, *_BY_FD, "dup"):
            if hasattr(os, name):
                self._wrap(os, name)
        self._wrap(fcntl, "flock")
        self._wrap(builtins, "open")
        return self

    def remove(self) -> None:
        for module, name, original in self._undo:
            setattr(module, name, original)

    def __enter__(self) -> Self:
        return self.install()

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _wrap(self, module: Any, name: str) -> None:
        original = getattr(module, name)
        self._undo.append((module, name, original))

        def wrapper(*args: Any, **options: Any) -> Any:
            named = _named(args, options)
            path = self._touched(name, named)
            if path is None or (name == "open" and isinstance(args[0], int)):
                return original(*args, **options)
            if name != "dup":
                args = self._meet(Call(name, path, changes=_may_change(name, args, options)), original, args, named)
            result = original(*args, **options)
            if name in ("open", "dup") and isinstance(result, int):
                self._open[result] = path
            if name == "close":
                self._open.pop(args[0], None)
            return result

        setattr(module, name, wrapper)

    def _touched(self, name: str, args: tuple[Any, ...]) -> str | None:
        for value in args[:2] if name in ("replace", "rename", "link", "copy_file_range", "sendfile") else args[:1]:
            if isinstance(value, int):
                path = self._open.get(value)
                if path is not None and not _is_of_a_folder(value):
                    path = None
            elif isinstance(value, (str, bytes, os.PathLike)):
                full = os.path.abspath(os.fsdecode(value))
                full = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
                path = full if full == self._folder or full.startswith(self._folder + os.sep) else None
            else:
                path = None
            if path is not None:
                return path
        return None

    def _meet(
        self, given: Call, original: Callable[..., Any], args: tuple[Any, ...], named: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        number, name = len(self.calls), given.name
        data = name in _DATA and len(args[1]) > 1
        target = os.path.relpath(os.fsdecode(named[1]), self._folder) if name in ("replace", "rename") else ""
        call = Call(name, os.path.relpath(given.path, self._folder), data, given.changes, target)
        self.calls.append(call)
        if self._told is not None:
            self._told(call)
        if self._fault is None:
            return args
        if self._fault.kind == "dead" and number >= self._fault.at and name != "close":
            raise Dead
        if self._fault.at != number or self._fault.kind == "dead":
            return args
        kind = self._fault.kind
        if kind in ("half", "short") and call.data:
            args = (args[0], bytes(args[1])[: len(args[1]) // 2], *args[2:])
        if kind == "short":
            return args
        if kind == "half":
            original(*args)
        if kind in KILLS:
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "close":  # what fails to close is closed all the same
            original(*args)
        code = getattr(errno, kind)
        raise OSError(code, os.strerror(code))


def _named(args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments, with each path that is relative to an open folder in full."""
    folders = (options.get("src_dir_fd", options.get("dir_fd")), options.get("dst_dir_fd"))
    found = [
        value if folder is None else os.path.join(os.readlink(f"/proc/self/fd/{folder}"), os.fsdecode(value))
        for value, folder in zip(args, folders, strict=False)
    ]
    return (*found, *args[len(found) :])


def _may_change(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    if name != "open":
        return name not in _HARMLESS
    how = args[1] if len(args) > 1 else options.get("flags", options.get("mode", "r"))
    return bool(how & (os.O_CREAT | os.O_TRUNC)) if isinstance(how, int) else how[0] != "r"


def distinct(calls: list[Call]) -> list[int]:
    """The calls before which a kill leaves another state than before the call that precedes them."""
    return [at for at in range(len(calls)) if at == 0 or calls[at - 1].changes]


def _is_of_a_folder(fd: int) -> bool:
    """Whether it is a file or a folder; a pipe may have the number of a file that a Python object has closed."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def faults(calls: list[Call], kinds: tuple[str, ...]) -> list[Fault]:
    """The faults of these kinds that make sense at `calls`."""
    return [
        Fault(at, kind)
        for at, call in enumerate(calls)
        for kind in kinds
        if (kind not in ("half", "short") or call.data) and not (call.name == "close" and kind not in ("kill", "EIO"))
    ]
