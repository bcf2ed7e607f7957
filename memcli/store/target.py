"""Writing output where a user, or the policy of a space, wants it: a file, pipe, device or folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise

from memcli.errors import StoreError
from memcli.store.atomic import make_folder, open_own, read_regular, remove_file, write_file, write_whole
from memcli.store.layout import FOLDER, Layout

_MAX_EXPORT = 256 << 20
_JSON = ".json"
_OF_EXPORT = re.compile(rb'"format": ?"memcli/(?:export|private|session)"')


def write_out(path: str, data: bytes, mode: int | None = None) -> None:
    """Writes `data` to `path`. A file is replaced atomically, and its folder is created; a pipe or device is written to. With
    `mode`, a file gets these permissions, whatever the umask. Raises StoreError.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                write_whole(fd, data)
            finally:
                os.close(fd)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}", "use a file name") from None
        return
    full = os.path.realpath(path)
    if not path or path.endswith(("/", os.sep)):
        raise StoreError(f"cannot write {path!r}: it is a folder", "use a file name")
    make_folder(os.path.dirname(full), 0o755)
    # The file has its mode from the beginning; a chmod alone would leave a private export readable for a moment.
    write_file(full, data, 0o644 if mode is None else mode)
    if mode is not None:
        with suppress(OSError):  # some file systems have no permissions
            os.chmod(full, mode)


def write_export(path: str, data: bytes, mode: int | None = None) -> None:
    """Writes an export as `write_out` does, but replaces no file that is not an export. Raises StoreError."""
    # A mistyped --out must not replace a file of the user.
    if os.path.isfile(path) and os.path.getsize(path) and not is_export(path):
        raise StoreError(f"{path} is not an export and will not be overwritten", "move it away, or use another file")
    write_out(path, data, mode)


def export_target(layout: Layout, path: str, name: str) -> str:
    """The file to which a policy's `export_path` leads for an export of the name `name`. A path that ends in `.json` is the
    file itself, for exports that are such files too; any other path is the folder for the file `name`.

    Raises StoreError for a path into `.git` or the store, through a link out of the work tree, or to a file that is no export.
    """
    # The policy may have come with a clone: its path must reach neither git's hooks nor the store nor a file of the user.
    base = os.path.realpath(layout.work_tree)
    if not path.isprintable() or path.endswith((".jsonl", ".md")):  # a NUL would raise ValueError below
        raise _no_export_path(path)
    plain = os.path.normpath(os.path.join(base, path))
    if path.endswith(_JSON):
        if not name.endswith(_JSON):
            return layout.export(name)
    else:
        plain = os.path.join(plain, name)
    full = os.path.join(os.path.realpath(os.path.dirname(plain)), os.path.basename(plain))
    inside = os.path.relpath(full, base).split(os.sep)
    parts = full.split(os.sep)
    own = any(one == FOLDER and then != "exports" for one, then in pairwise(parts))
    # A path with `..` may leave the work tree, since the policy says so openly; through a link it would leave it unseen.
    escapes = inside[0] == ".." and os.path.relpath(plain, base).split(os.sep)[0] != ".."
    if escapes or ".git" in parts or own:
        raise _no_export_path(path)
    if os.path.lexists(full) and not is_export(full):
        raise StoreError(f"{full} is not an export and will not be overwritten", "move it away, or use --out")
    return full


def _no_export_path(path: str) -> StoreError:
    return StoreError(
        f"cannot export to the policy's export_path {path!r}",
        "it must be a folder or a .json file, outside .git and .memory and through no link; or use --out",
    )


def is_export(path: str) -> bool:
    """Whether the file at `path` is an export of memcli: of spaces, of the private state or of a session."""
    try:
        data = read_regular(path, _MAX_EXPORT) or b""
    except OSError:
        return False
    return _OF_EXPORT.search(data) is not None


_REACH = 128
IsOwn = Callable[[str, bytes], bool]
"""Whether the file of this name, which begins with these bytes, was written by an earlier export of the same kind."""


def write_folder(path: str, files: Mapping[str, bytes], head: str, is_own: IsOwn) -> None:
    """Writes `files`, by relative names, below the folder `path`, each atomically and in their order; removes files of an
    earlier export that this one does not have. A folder below `path` with a file `head` is another export and is left alone.

    Raises StoreError; before anything is written if a file that is no export, or a link, is in the way.
    """
    root = os.path.realpath(path)
    make_folder(root, 0o755)
    own = {name for name, data in _beginnings(root, head) if is_own(name, data)}
    for name in files:
        full, folder = os.path.join(root, name), root
        for part in name.split("/")[:-1]:
            folder = os.path.join(folder, part)
            if os.path.islink(folder) or (os.path.lexists(folder) and not os.path.isdir(folder)):
                raise StoreError(f"{folder} is not a folder of its own", "move it away, or use another folder")
        if os.path.lexists(full) and name not in own:
            raise StoreError(
                f"{full} is not of an export and will not be overwritten", "move it away, or use another folder"
            )
    for name, data in files.items():
        full = os.path.join(root, name)
        make_folder(os.path.dirname(full), 0o755, root)
        write_file(full, data, root=root)
    for name in sorted(own - files.keys()):
        remove_file(os.path.join(root, name), root)
        with suppress(OSError):  # the folders that it leaves empty
            os.removedirs(os.path.dirname(os.path.join(root, name)))


def read_folder(path: str, head: str, is_own: IsOwn, limit: int) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the files that `write_folder` wrote below the folder `path`, sorted by name. Raises StoreError,
    also for more than `limit` bytes in all."""
    size = 0
    for name, data in sorted(_beginnings(path, head)):
        if not is_own(name, data):
            continue
        try:
            whole = read_regular(os.path.join(path, name), limit + 1, path) or b""
        except OSError as error:
            raise StoreError(f"cannot read {os.path.join(path, name)}: {error.strerror}", "check the file") from None
        size += len(whole)
        if size > limit:
            raise StoreError(f"{path}: more than {limit >> 20} MiB", "import it in parts")
        yield name, whole


def _beginnings(root: str, head: str) -> Iterator[tuple[str, bytes]]:
    """The regular files below the folder, each with its first 128 bytes. Links, and folders that are hidden or have a file
    `head`, are left out."""
    for folder, names, files in os.walk(root):
        inside = [name for name in names if not os.path.lexists(os.path.join(folder, name, head))]
        names[:] = [name for name in inside if not name.startswith(".")]
        for file in files:
            full = os.path.join(folder, file)
            with suppress(OSError):
                fd = open_own(full, os.O_RDONLY, root=root)
                try:
                    yield os.path.relpath(full, root).replace(os.sep, "/"), os.read(fd, _REACH)
                finally:
                    os.close(fd)
