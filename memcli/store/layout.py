"""The folder `.memory/`: how it is found, made and removed, where each file is, and what git is told of them."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, suppress

from memcli.errors import NotFoundError, StoreError
from memcli.record import Record
from memcli.settings import BESIDE
from memcli.store.atomic import make_folder, write_file
from memcli.store.lock import Held, locked
from memcli.store.reading import read_json, read_regular

FOLDER = ".memory"
_TITLE = b"# Written by memcli. What lies here is of this machine alone."
_ATTRIBUTES_TITLE = "# Written by memcli: how git treats memories."
# The spaces beside the default one are ignored from the beginning: the first write to one changes no tracked file.
# Of sessions the files are ignored and not the folders: git would not see a file of an ignored folder that is shared.
_IGNORED = ("local/", "cache/", "audit/", "exports/", "sessions/*/*", *(f"spaces/{name}.json" for name in BESIDE))
_MAX_IGNORE = 1 << 20
_FOLDERS = ("spaces",)
_NEVER = 1 << 63
_OWN_FOLDERS = (
    "spaces", "sessions", "exports", "tests", "audit", "local", "cache", "local/unreviewed", "local/inbox", "local/inbox/spaces",
    "local/inbox/local",
)  # fmt: skip


class Layout(Record):
    """The places in a store whose root is `root`."""

    root: str

    def space(self, name: str) -> str:
        return os.path.join(self.root, "spaces", f"{name}.json")

    def lock(self, name: str) -> str:
        return os.path.join(self.root, "local", f"{name}.lock")

    def cache(self, name: str) -> str:
        return os.path.join(self.root, "cache", name)

    def moves(self, name: str) -> str:
        """Where a writer notes, for the index of a space, what moved in its file."""
        return self.cache(f"{name}.moves")

    def export(self, name: str) -> str:
        return os.path.join(self.root, "exports", name)

    def sessions(self, space: str) -> str:
        """The folder of the sessions of a space."""
        return os.path.join(self.root, "sessions", space)

    def session(self, space: str, name: str) -> str:
        return os.path.join(self.sessions(space), f"{name}.jsonl")

    def audit(self, name: str) -> str:
        return os.path.join(self.root, "audit", name)

    def local(self, name: str) -> str:
        return os.path.join(self.root, "local", name)

    @property
    def spaces(self) -> str:
        return os.path.join(self.root, "spaces")

    @property
    def ignore(self) -> str:
        return os.path.join(self.root, ".gitignore")

    @property
    def config(self) -> str:
        return os.path.join(self.root, "config.toml")

    @property
    def work_tree(self) -> str:
        """The folder that the store belongs to."""
        return os.path.dirname(self.root)

    def documents(self) -> list[str]:
        """The files that are kept, shared and handed on: spaces, sessions, exports, tests; no links, sorted."""
        found = []
        for name in ("spaces", "sessions", "exports", "tests"):
            for folder, _, files in os.walk(os.path.join(self.root, name)):
                found += [
                    path
                    for file in files
                    if os.path.isfile(path := os.path.join(folder, file)) and not os.path.islink(path)
                ]
        return sorted(found)

    def written_at(self, name: str) -> int:
        """When the file of a space was written, in nanoseconds; for one that is not there, later than any file."""
        try:
            return os.stat(self.space(name), follow_symlinks=False).st_mtime_ns
        except OSError:
            return _NEVER

    def cache_size(self, name: str) -> int:
        """How many bytes the part of the cache takes that is of a space."""
        return _size(self.cache(f"{name}.index"))

    def export_target(self, path: str) -> str:
        """Where a policy's `export_path` leads: a `.json` file of the work tree that is none of git's or memcli's own.

        The policy may have come with a clone. Raises StoreError for any other place, and for a file that is no export.
        """
        base = os.path.realpath(self.work_tree)
        if not path.isprintable():  # the system calls below refuse a NUL
            raise _no_export_path(path)
        full = os.path.realpath(os.path.join(base, path))
        inside = os.path.relpath(full, base).split(os.sep)
        own = inside[0] == FOLDER and inside[1:2] != ["exports"]
        if inside[0] == ".." or ".git" in inside or own or not full.endswith(".json"):
            raise _no_export_path(path)
        if os.path.lexists(full) and not _is_export(full):
            raise StoreError(f"{full} is not an export and will not be overwritten", "move it away, or use --out")
        return full


def _no_export_path(path: str) -> StoreError:
    return StoreError(
        f"cannot export to the policy's export_path {path!r}",
        "it must be a .json file in the repository, outside .git and .memory; use --out for other places",
    )


def _is_export(path: str) -> bool:
    data = read_json(path)
    return isinstance(data, dict) and data.get("format") == "memcli/export"


def find_root(start: str, home: str) -> str | None:
    """The nearest `.memory` at or above `start`, or None.

    As git does, the search stops at a file-system boundary, and after the folder `home`.
    Raises StoreError when what bears the name is no folder of its own.
    """
    device = os.stat(start).st_dev
    folder = start
    while True:
        candidate = os.path.join(folder, FOLDER)
        if os.path.lexists(candidate):
            return check_root(candidate)
        parent = os.path.dirname(folder)
        if folder in (parent, home) or os.stat(parent).st_dev != device:
            return None
        folder = parent


def find_work_tree(start: str, home: str) -> str | None:
    """The folder at or above `start` that git works in, or None. Asks the file system, not git."""
    folder = start
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if folder in (parent, home):
            return None
        folder = parent


def check_root(root: str) -> str:
    """`root`, when it is a folder and no link to one. Raises StoreError, NotFoundError."""
    if os.path.islink(root):
        raise StoreError(
            f"{root} is a symbolic link", "memcli does not follow links out of a repository; replace it with a folder"
        )
    if not os.path.lexists(root):
        raise NotFoundError(f"no store at {root}", "run `memcli init`")
    if not os.path.isdir(root):
        raise StoreError(f"{root} is not a folder", "move it away and run `memcli init`")
    for name in _OWN_FOLDERS:
        folder = os.path.join(root, name)
        if os.path.islink(folder):
            raise StoreError(
                f"{folder} is a symbolic link", "memcli does not follow links out of a store; replace it with a folder"
            )
    return root


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def make_root(root: str) -> bool:
    """Makes the store at `root`, or adds what it lacks; whether it was not there before. Raises StoreError."""
    new = not os.path.lexists(root)
    if not new:
        check_root(root)
    for folder in _FOLDERS:
        make_folder(os.path.join(root, folder), 0o755)
    if not os.path.lexists(Layout(root).ignore):
        complete_ignore(Layout(root))
    return new


def complete_ignore(layout: Layout) -> None:
    """Adds what the `.gitignore` of the store lacks. Raises StoreError."""
    if missing := missing_lines(layout):
        data = _read_ignore(layout) or _TITLE
        write_file(layout.ignore, b"".join([data.rstrip(b"\n"), *(b"\n" + line.encode() for line in missing), b"\n"]))


def missing_lines(layout: Layout) -> list[str]:
    """The folders of this machine alone that the `.gitignore` of the store does not name. Raises StoreError."""
    lines = _read_ignore(layout).decode("utf-8", "replace").splitlines()
    return [name for name in _IGNORED if name not in lines and name.rstrip("/") not in lines]


def _read_ignore(layout: Layout) -> bytes:
    try:
        return read_regular(layout.ignore, _MAX_IGNORE) or b""
    except OSError as error:
        raise StoreError(f"cannot read {layout.ignore}: {error.strerror}", "replace it with a regular file") from None


def set_ignored(layout: Layout, space: str, ignored: bool) -> None:
    """Has git ignore the file of `space`, or see it again; other lines stay as they are. Raises StoreError."""
    _set_line(layout, f"spaces/{space}.json", ignored)


def is_shared(layout: Layout, space: str, session: str) -> bool:
    """Whether git sees the file of a session. Raises StoreError."""
    return _sharing(space, session).encode() in _read_ignore(layout).splitlines()


def set_shared(layout: Layout, space: str, session: str, shared: bool) -> None:
    """Has git see the file of a session, or ignore it again; other lines stay as they are. Raises StoreError."""
    if shared and not {b"sessions", b"sessions/"}.isdisjoint(_read_ignore(layout).splitlines()):
        raise StoreError(f"{layout.ignore} ignores all sessions", "replace its line `sessions/` by `sessions/*/*`")
    _set_line(layout, _sharing(space, session), shared)


def ignore_sessions(layout: Layout) -> None:
    """Has git ignore sessions, in a store that was made before there were any. Raises StoreError, LockedError."""
    if missing_lines(layout):
        with _ignore_locked(layout):
            complete_ignore(layout)


def _sharing(space: str, session: str) -> str:
    return f"!sessions/{space}/{session}.jsonl"


def _set_line(layout: Layout, text: str, wanted: bool) -> None:
    line = text.encode()
    with _ignore_locked(layout):
        lines = _read_ignore(layout).splitlines()
        if (line in lines) == wanted:
            return
        kept = [*lines, line] if wanted else [known for known in lines if known != line]
        write_file(layout.ignore, b"".join(known + b"\n" for known in kept))


def _ignore_locked(layout: Layout) -> AbstractContextManager[Held | None]:
    lock = layout.local(".gitignore.lock")
    make_folder(os.path.dirname(lock))
    return locked(lock, "the .gitignore of the store")


def remove_unused(root: str) -> bool:
    """Removes a store without memories; returns whether it did.

    A space that another process writes meanwhile stays, or that process is told that it could not write.
    """
    import shutil

    layout = Layout(root)
    with suppress(OSError):
        for folder in (layout.local("inbox/spaces"), layout.local("journal")):
            if os.path.isdir(folder) and os.listdir(folder):
                return False
        os.rmdir(os.path.join(root, "spaces"))
        shutil.rmtree(root)
        return True
    return False


def install_attributes(root: str) -> bool:
    """Adds what `.gitattributes` of the store at `root` lacks; returns whether that was anything. Raises StoreError.

    They travel with the store: no line end is ever changed, and memcli merges spaces.
    """
    from memcli.git.driver import NAME

    wanted = ("*.json text eol=lf", f"spaces/*.json merge={NAME}")
    path = os.path.join(root, ".gitattributes")
    try:
        lines = (read_regular(path, _MAX_IGNORE) or b"").decode().splitlines()
    except (OSError, UnicodeDecodeError):
        raise StoreError(f"cannot read {path}", "replace it with a text file") from None
    missing = [line for line in wanted if line not in lines]
    if missing:
        write_file(path, "\n".join([*(lines or [_ATTRIBUTES_TITLE]), *missing, ""]).encode())
    return bool(missing)
