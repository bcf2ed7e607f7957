"""What of a store belongs to this machine alone: its private state, the folders `local/` and `cache/`, and how they are known.

git ignores these folders, but a file can be committed although it is ignored, and an archive can hold anything, a
repository's own folder included. So both are sealed when they are made: `local/place.json`, and `place.json` of the
private state, name the inode of their folder, have a time of change that is an even second to the nanosecond, which a
checkout practically never leaves, and bear a digest by the key of this user. What has no valid seal is put aside, into
`quarantine` of the private state, before anything in it is read; a cache, which can be rebuilt, is deleted. A copy by
the same user has the digest and gets a new seal. A file that git wrote there later, because a commit tracks it, is
recognised by what the index of git says of it, and put aside as well.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from memcli import beneath
from memcli.errors import StoreError
from memcli.git.index_file import IndexFile, TrackedFile, find_index
from memcli.store.atomic import (
    TEMP_MARK,
    make_folder,
    move_file,
    read_regular,
    replace_file,
    write_file,
)
from memcli.store.layout import FOLDER, Layout, find_work_tree, show_sessions
from memcli.store.private import can_write, may_wait
from memcli.store.trust import read_sealed, write_sealed

FOLDERS = ("local", "cache", "audit")
"""The folders below a store that came from elsewhere unless they are sealed; earlier versions kept the audit log there."""
_MADE = ("local", "cache")
_REBUILDABLE = "cache"
_FORMAT = "memcli/place"
_SEAL, _SEEN, _QUARANTINE = "place.json", "index.seen", "quarantine"
_MAX_SEEN = 1 << 8


class PrivatePlace:
    """The folders of the store at `layout` that belong to this machine alone."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._local = os.path.join(layout.root, "local")

    def claim(self) -> list[str]:
        """Makes the folders this machine's own; returns the names of what was moved to the quarantine or deleted for that.

        What waits in them for the private state is folded into it. Raises StoreError when something there came from
        elsewhere and cannot be put aside.
        """
        store, is_here = _read_seal(self._local)
        if store and is_here:
            aside = self._put_aside_tracked(anew=False)
        else:
            try:
                aside = self._seal_anew()
            except (OSError, StoreError) as error:
                aside = []
                if (found := self._filled()) and not (store and not self.tracked()):
                    raise StoreError(
                        f"{', '.join(found)} in {self._layout.root} came from another machine and cannot be moved to quarantine",
                        f"delete them, or make the store writable ({getattr(error, 'message', error)})",
                    ) from None
        private = self._layout.private_folder
        if private != self._local:
            aside += self._claim_private(private)
        if may_wait(self._layout.root, private) and can_write(private) and can_write(self._local):
            from memcli.store.folding import fold

            if fold(self._layout.root, private):
                show_sessions(self._layout)
        return aside

    def tracked(self) -> list[TrackedFile]:
        """The files in the folders that git tracks. Raises StoreError."""
        index = self._index()
        return [] if index is None else self._below(index)

    def _seal_anew(self) -> list[str]:
        with _alone(self._layout.root):
            store, is_here = _read_seal(self._local)
            if is_here:
                return []
            found = [] if store else self._filled()
            for name in found:
                path = os.path.join(self._layout.root, name)
                if name == _REBUILDABLE:
                    beneath.remove_tree(path)
                    continue
                if name == "local":  # the quarantine is to be in the new one
                    path = os.path.join(self._layout.root, f".local{TEMP_MARK}{os.urandom(4).hex()}")
                    beneath.replace(os.path.join(self._layout.root, name), path)
                move_file(path, self._layout.local(_QUARANTINE))
            aside = [f"{name}/" for name in found]
            for name in _MADE:
                folder = os.path.join(self._layout.root, name)
                make_folder(folder)
                _tighten(folder)
                # The store's own .gitignore comes with a clone; this one does not.
                write_file(os.path.join(folder, ".gitignore"), b"*\n", 0o600, alone=True)
            if store:
                aside += self._put_aside_tracked(anew=True)
            write_sealed(os.path.join(self._local, _SEAL), _FORMAT, "store", store or os.urandom(16).hex())
            return aside

    def _claim_private(self, folder: str) -> list[str]:
        """Makes the folder of the private state where it can be made, or puts aside what is in it and came from elsewhere."""
        if _read_seal(folder)[1]:
            return []
        if not can_write(folder):
            if _names_in(folder) and not _read_seal(folder)[0]:
                raise StoreError(f"{folder} came from another machine and cannot be moved to quarantine", "delete it")
            return []
        make_folder(folder, is_root=True)
        with _alone(folder):
            store, is_here = _read_seal(folder)
            names = [] if store else sorted(os.listdir(folder))
            if is_here:
                return []
            _tighten(folder)
            for name in names:
                if name != _QUARANTINE:
                    move_file(os.path.join(folder, name), os.path.join(folder, _QUARANTINE))
            write_sealed(os.path.join(folder, _SEAL), _FORMAT, "store", store or os.urandom(16).hex())
            return names

    def _filled(self) -> list[str]:
        """Those of the folders that hold something; an empty folder in them, as for temporary files, is nothing."""
        return [
            name
            for name in FOLDERS
            if any(
                files or any(os.path.islink(os.path.join(folder, inner)) for inner in folders)
                for folder, folders, files in os.walk(os.path.join(self._layout.root, name))
            )
        ]

    def _put_aside_tracked(self, anew: bool) -> list[str]:
        """Puts aside what git wrote; with `anew` all that it tracks, for in a copy the status of a file says nothing."""
        index = self._index()
        if index is None:
            return []
        fingerprint, seen = index.fingerprint(), self._layout.local(_SEEN)
        last = ""
        with suppress(OSError):
            last = (read_regular(seen, _MAX_SEEN) or b"").decode("ascii", "replace")
        if not anew and fingerprint == last:
            return []
        try:
            entries = self._below(index)
        except StoreError:  # a damaged index is git's matter; `doctor` says so
            return []
        aside = []
        for entry in entries:
            path = os.path.join(index.work_tree, entry.path)
            with suppress(FileNotFoundError):
                if anew or entry.is_file(os.lstat(path)):
                    name = os.path.relpath(path, os.path.realpath(self._layout.root))
                    if _is_rebuildable(name):
                        beneath.unlink(path)
                    else:
                        move_file(path, self._layout.local(_QUARANTINE))
                    aside.append(name)
        with suppress(OSError):  # a store that cannot be written is looked through each time
            replace_file(seen, fingerprint.encode())
        return aside

    def _index(self) -> IndexFile | None:
        work_tree = find_work_tree(os.path.dirname(os.path.realpath(self._layout.root)))
        return find_index(work_tree) if work_tree else None

    def _below(self, index: IndexFile) -> list[TrackedFile]:
        store = os.path.relpath(os.path.realpath(self._layout.root), index.work_tree)
        try:
            return index.below([f"{store}/{name}" for name in FOLDERS])
        except (OSError, ValueError) as error:
            raise StoreError(f"cannot read git's index: {error}", "run `git status` to see what is wrong") from None


def _names_in(folder: str) -> list[str]:
    """What is in the folder of the private state; nothing where there is none yet. Raises StoreError when it cannot be
    used: it must not pass for empty."""
    try:
        names = os.listdir(folder)
        if not os.access(folder, os.R_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(
            f"cannot read the private state in {folder}: {error.strerror}",
            "make it a folder that you can read and write",
        ) from None
    return names


def describe(aside: Sequence[str]) -> str:
    """The message about what `claim` moved or deleted, and how to keep git from tracking it."""
    parts = (
        ("deleted", [name for name in aside if _is_rebuildable(name)]),
        (f"moved to {_QUARANTINE}", [name for name in aside if not _is_rebuildable(name)]),
    )
    done = "; ".join(f"{', '.join(names)} {what}" for what, names in parts if names)
    tracked = sorted({name.split(os.sep, maxsplit=1)[0] for name in aside if os.sep in name.rstrip("/")})
    if not tracked:
        return f"files in {FOLDER} came from another machine and are not used: {done}"
    untrack = f"`git rm -r --cached {' '.join(f'{FOLDER}/{name}' for name in tracked)}` untracks them"
    return f"files in {FOLDER} are tracked by git or came from another machine, and are not used: {done}; {untrack}"


def _is_rebuildable(name: str) -> bool:
    return name.split(os.sep, maxsplit=1)[0].rstrip("/") == _REBUILDABLE


def _read_seal(folder: str) -> tuple[str, bool]:
    """The id that the folder was given here, empty when it was not, and whether it was this very folder."""
    store, is_here = read_sealed(os.path.join(folder, _SEAL), _FORMAT, "store")
    return (store, is_here) if isinstance(store, str) else ("", False)


@contextmanager
def _alone(root: str) -> Iterator[None]:
    """Keeps other processes from doing the same: by a lock on the folder itself, for in it nothing can be believed yet."""
    import fcntl

    fd = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _tighten(folder: str) -> None:
    """Takes the rights of others off the folder and all in it."""
    with beneath.opened_folder(folder) as top:
        os.fchmod(top, 0o700)
        for _, folders, files, base in os.fwalk(dir_fd=top):
            for name in (*folders, *files):
                status = os.lstat(name, dir_fd=base)
                if not stat.S_ISLNK(status.st_mode) and status.st_mode & 0o077:
                    os.chmod(name, stat.S_IMODE(status.st_mode) & 0o700, dir_fd=base)
