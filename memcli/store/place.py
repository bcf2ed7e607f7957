"""The folders of a store that belong to this machine alone, `local/`, `cache/` and the private state, and their seals.

git ignores these folders, but an ignored file can be committed nevertheless, and an archive can contain anything, even a
`.git` folder. So the folders are sealed when they are created: `place.json` in `local/` and in the private state (see
`store/trust.py`). A folder without a valid seal is moved to `quarantine` of the private state before anything in it is read;
a cache is deleted. A copy by the same user gets a new seal. A file that git wrote later, because a commit tracks it, is
recognized by its status in the index of git, and moved to `quarantine` as well.
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

# Earlier versions wrote the audit log to `audit`.
FOLDERS = ("local", "cache", "audit")
"""The folders of a store that are not trusted unless sealed."""
_MADE = ("local", "cache")
_REBUILDABLE = "cache"
_FORMAT = "memcli/place"
_SEAL, _SEEN, _QUARANTINE = "place.json", "index.seen", "quarantine"
_MAX_SEEN = 1 << 8


class PrivatePlace:
    """The folders of the store at `layout` that belong to this machine alone, and what git or an archive put into them."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._local = os.path.join(layout.root, "local")

    def claim(self) -> list[str]:
        """Seals the folders, after moving foreign files to the quarantine or deleting them; returns the names of these.

        Copies of private state are merged into it. Raises StoreError for foreign files that cannot be moved.
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
        if index is None:
            return []
        store = os.path.relpath(os.path.realpath(self._layout.root), index.work_tree)
        try:
            return index.below([f"{store}/{name}" for name in FOLDERS])
        except (OSError, ValueError) as error:
            raise StoreError(f"cannot read git's index: {error}", "run `git status` to see what is wrong") from None

    def _seal_anew(self) -> list[str]:
        with _alone(self._layout.root):
            store, is_here = _read_seal(self._local)
            if is_here:
                return []
            found = [] if store else self._filled()
            for name in found:
                path = os.path.join(self._layout.root, name)
                if name == _REBUILDABLE:  # in the quarantine its texts would outlive a purge
                    beneath.remove_tree(path)
                    continue
                if name == "local":  # the quarantine is in the new `local`, so the old one gets another name first
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
        """Creates and seals the folder of the private state, or moves foreign files in it to the quarantine, and returns their
        names. Raises StoreError."""
        if _read_seal(folder)[1]:
            return []
        if not can_write(folder):
            try:
                names = os.listdir(folder)
                # Without the right to search the folder, its files look missing, and the private state would pass for empty.
                if not os.access(folder, os.R_OK | os.X_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            except FileNotFoundError:
                return []
            except OSError as error:
                raise StoreError(
                    f"cannot read the private state in {folder}: {error.strerror}",
                    "make it a folder that you can read and write",
                ) from None
            if names and not _read_seal(folder)[0]:
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
        """Those of FOLDERS that contain a file or link; folders in them, as for temporary files, do not count."""
        return [
            name
            for name in FOLDERS
            if any(
                files or any(os.path.islink(os.path.join(folder, inner)) for inner in folders)
                for folder, folders, files in os.walk(os.path.join(self._layout.root, name))
            )
        ]

    def _put_aside_tracked(self, anew: bool) -> list[str]:
        """Moves files that git wrote to the quarantine, or deletes them from a cache; returns their names. With `anew`, in a
        copy of a store, all that git tracks: a copy changes the status by which its files are recognized."""
        index = self._index()
        if index is None:
            return []
        fingerprint, seen = index.fingerprint(), self._layout.local(_SEEN)
        last = ""
        with suppress(OSError):
            last = (read_regular(seen, _MAX_SEEN) or b"").decode("ascii", "replace")
        # Every command comes through here, so the index is read again only after git has written it.
        if not anew and fingerprint == last:
            return []
        try:
            entries = self.tracked()
        except StoreError:  # memcli does not repair an index of git; `doctor` reports it
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
        with suppress(OSError):  # in a store that cannot be written, the index is read again each time
            replace_file(seen, fingerprint.encode())
        return aside

    def _index(self) -> IndexFile | None:
        work_tree = find_work_tree(os.path.dirname(os.path.realpath(self._layout.root)))
        return find_index(work_tree) if work_tree else None


def describe(aside: Sequence[str]) -> str:
    """The message about the files that `claim` moved or deleted, with the command that makes git untrack them."""
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
    """The id of the store in the seal of a folder, "" without a valid seal, and whether this very folder was sealed."""
    store, is_here = read_sealed(os.path.join(folder, _SEAL), _FORMAT, "store")
    return (store, is_here) if isinstance(store, str) else ("", False)


@contextmanager
def _alone(root: str) -> Iterator[None]:
    """Keeps other processes from sealing the store while the block runs. Raises OSError."""
    import fcntl

    # The folder itself is locked: a lock file in it may have come with an archive.
    fd = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _tighten(folder: str) -> None:
    """Removes the permissions of other users from the folder and everything in it. Raises OSError."""
    with beneath.opened_folder(folder) as top:
        os.fchmod(top, 0o700)
        for _, folders, files, base in os.fwalk(dir_fd=top):
            for name in (*folders, *files):
                status = os.lstat(name, dir_fd=base)
                if not stat.S_ISLNK(status.st_mode) and status.st_mode & 0o077:
                    os.chmod(name, stat.S_IMODE(status.st_mode) & 0o700, dir_fd=base)
