"""File operations below a root that follow no symbolic link on the way.

A check by path followed by a use by path is a race: in between, another process can replace a folder by a link. So each
folder below the root is opened relative to the descriptor of its parent, and the file relative to that of the last one.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from memcli.settings import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli import sqlite

# O_PATH takes the right to pass through a folder, not the one to list it.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_STORE = f"{os.sep}{FOLDER}{os.sep}"
_PRIVATE = f"{os.sep}.git{os.sep}memcli{os.sep}"


@contextmanager
def at(path: str, root: str = "") -> Iterator[tuple[str, int | None]]:
    """Yields the last name of `path` and the descriptor of its folder, as functions of `os` take them: `dir_fd`.

    No folder between `root` and the file may be a link. The default root is the store, or its private state in the folder
    of git, that contains the path; a path in neither is yielded whole, with None. Raises OSError; NotADirectoryError for a
    link on the way, and for a path that leaves the root.
    """
    top = root.rstrip(os.sep)
    # The private state first: behind git's folder its path has the name of the store, too.
    for mark in () if root else (_PRIVATE, _STORE):
        if (found := f"{os.sep}{path}".rfind(mark)) >= 0:
            top = path[: found + len(mark) - 2]
            break
    if not (root or top):
        yield path, None
        return
    *parts, name = [*filter(None, path[len(top) :].split(os.sep))] or [os.curdir]
    if not f"{path}{os.sep}".startswith(top + os.sep) or os.pardir in (*parts, name):
        raise NotADirectoryError(errno.ENOTDIR, "the path leads out of the folder", path)
    # A root that the caller names may itself be a link, as the user may have set it up; a store may not.
    folder = os.open(top or os.sep, _FOLDER if root else _FOLDER | os.O_NOFOLLOW)
    for part in parts:
        try:
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        finally:
            with suppress(OSError):
                os.close(folder)
        folder = inner
    try:
        yield name, folder
    except OSError as error:
        if error.filename == name:  # relative to a folder that the message does not show
            error.filename = path
        raise
    finally:
        with suppress(OSError):
            os.close(folder)


def open_file(path: str, flags: int, mode: int = 0o600, root: str = "") -> int:
    """Opens the file or folder at `path` and returns its descriptor. Raises OSError, also for a link."""
    with at(path, root) as (name, folder):
        return os.open(name, flags | os.O_CLOEXEC | os.O_NOFOLLOW, mode, dir_fd=folder)


@contextmanager
def opened_folder(path: str, root: str = "") -> Iterator[int]:
    """Yields a descriptor of the folder at `path`, as `os.scandir` takes it. Raises OSError."""
    folder = open_file(path, os.O_RDONLY | os.O_DIRECTORY, root=root)
    try:
        yield folder
    finally:
        os.close(folder)


def make(path: str, mode: int, root: str = "") -> None:
    """Makes the folder at `path`. Raises OSError."""
    with at(path, root) as (name, folder):
        os.mkdir(name, mode, dir_fd=folder)


def unlink(path: str, root: str = "") -> None:
    """Removes the file at `path`. Raises OSError."""
    with at(path, root) as (name, folder):
        os.unlink(name, dir_fd=folder)


def replace(path: str, target: str, root: str = "") -> None:
    """Renames the file or folder at `path` to `target`, over a file that exists there. Raises OSError."""
    with at(path, root) as (name, folder), at(target, root) as (new, other):
        os.replace(name, new, src_dir_fd=folder, dst_dir_fd=other)


def link(path: str, target: str, root: str = "") -> None:
    """Gives the file at `path` a second name. Raises OSError."""
    with at(path, root) as (name, folder), at(target, root) as (new, other):
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=other, follow_symlinks=False)


def remove_tree(path: str, *, ignore_errors: bool = False) -> None:
    """Removes the folder at `path` with its contents. Raises OSError unless `ignore_errors`."""
    import shutil

    with suppress(*[OSError] * ignore_errors), at(path) as (name, folder):
        shutil.rmtree(name, ignore_errors, dir_fd=folder)


def own_file(path: str) -> None:
    """Restricts the file at `path` to this user; creates an empty one if there is none, or if it has other hard links.

    Raises OSError for a link, and for what is not a regular file.
    """
    # The file is never opened here: closing a second descriptor of a file drops the POSIX locks that SQLite holds on it.
    with at(path) as (name, folder):
        try:
            status = os.lstat(name, dir_fd=folder)
        except FileNotFoundError:
            with suppress(FileExistsError):
                os.close(os.open(name, _NEW, 0o600, dir_fd=folder))
            return
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, f"{path} is a link, or not a file")
        if status.st_nlink > 1:  # the other name, as in a snapshot by hard links, must not change
            os.unlink(name, dir_fd=folder)
            os.close(os.open(name, _NEW, 0o600, dir_fd=folder))
        elif status.st_mode & 0o077:
            os.chmod(name, 0o600, dir_fd=folder)


def open_database(path: str, wait: float, mode: str = "mode=rw") -> sqlite.Connection:
    """Opens the existing SQLite file at `path`; its statements wait for a busy database for `wait` seconds.

    Raises sqlite.Error, and OSError for a link on the way to the file.
    """
    from memcli import sqlite

    with at(path) as (name, folder):
        # SQLite opens by path alone (it resolves a descriptor in /proc to its name), so the file is examined by descriptor
        # first, and must still be the same after SQLite has opened it. `mode=rw` keeps SQLite from creating a file.
        known = os.lstat(name, dir_fd=folder)
        if not stat.S_ISREG(known.st_mode):
            raise OSError(errno.EINVAL, f"{path} is a link, or not a file")
        place = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = sqlite.connect(
            f"file:///{place}?{mode}", wait, isolation_level=None, check_same_thread=False, uri=True
        )
        if not os.path.samestat(known, os.stat(path)):
            connection.close()
            raise OSError(errno.ESTALE, f"{path} was replaced while it was opened")
    return connection
