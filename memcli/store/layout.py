"""The folder `.memory/`: finding, creating and removing it, the path of each file, and its lines in `.gitignore` and
`.gitattributes`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, suppress

from memcli.errors import NotFoundError, StoreError
from memcli.settings import BESIDE, is_journal
from memcli.settings import FOLDER as FOLDER  # noqa: PLC0414 - the places in a store are here
from memcli.store.atomic import make_folder, read_regular, read_stored, remove_file, write_file
from memcli.store.lock import HeldLock, locked
from memcli.store.private import can_write, private_folder
from memcli.store.private import find_work_tree as find_work_tree  # noqa: PLC0414 - as what else is found above a folder

_TITLE = b"# Written by memcli. What lies here is of this machine alone."  # existing stores have this line
_ATTRIBUTES_TITLE = "# Written by memcli: how git treats memories."
# The spaces beside the default one are ignored from the beginning: the first write to one changes no tracked file.
_IGNORED = ("local/", "cache/", "audit/", "exports/", ".*.tmp-*", *(f"spaces/{name}.json" for name in BESIDE))
_MAX_IGNORE = 1 << 20
_NEVER = 1 << 63
# Below `local` lies the private state of a store outside of git.
_OWN_FOLDERS = (
    "spaces", "sessions", "exports", "tests", "audit", "local", "cache", "local/unreviewed", "local/inbox", "local/inbox/spaces",
    "local/inbox/local", "local/audit", "local/sessions", "local/spaces", "local/trash",
)  # fmt: skip


class Layout:
    """The paths in the store at `root`; `temporary` is the folder for temporary files of what git sees.

    `private_root` is the folder of its private state: the root itself for a store within the store, such as the inbox; in
    a process that runs for long, the folder as it was at its start; by default the one that `store/private.py` finds.
    """

    def __init__(self, root: str, private_root: str = "") -> None:
        self.root, self.private_root = root, private_root
        self.spaces = os.path.join(root, "spaces")
        self.ignore = os.path.join(root, ".gitignore")
        self.config = os.path.join(root, "config.toml")
        self.temporary = os.path.join(root, "local", "tmp")
        self.work_tree = os.path.dirname(root)  # the folder that the store belongs to

    def space(self, name: str) -> str:
        folder = self.private("spaces") if is_journal(name) else self.spaces
        return os.path.join(folder, f"{name}.json")

    def space_names(self) -> list[str]:
        """The names of the files of spaces, without duplicates. Raises OSError."""
        names: set[str] = set()
        with suppress(FileNotFoundError):  # a file of a private space in the shared folder came with somebody's commit
            names.update(name for name in os.listdir(self.spaces) if not is_journal(name.removesuffix(".json")))
        with suppress(FileNotFoundError):
            names.update(os.listdir(self.private("spaces")))
        return sorted(names)

    def lock(self, name: str) -> str:
        return self.beside(name, f"{name}.lock")

    def beside(self, space: str, name: str) -> str:
        """A file of the writers of a space, such as its lock: next to the private state for a private space, so that writers
        in all work trees share it."""
        return self.private(name) if is_journal(space) else self.local(name)

    def index(self, space: str) -> str:
        """The file of the index of a space."""
        return os.path.join(self.private("cache") if is_journal(space) else self.cache(""), f"{space}.index")

    def turn(self, name: str) -> str:
        """The lock file of the background work that runs (`now`), or of the one that waits for it (`next`)."""
        return os.path.join(self.root, "local", f".background-{name}.lock")

    def cache(self, name: str) -> str:
        return os.path.join(self.root, "cache", name)

    def export(self, name: str) -> str:
        return os.path.join(self.root, "exports", name)

    def sessions(self, space: str, *, shared: bool = False) -> str:
        """The folder of the private sessions of a space, or of the `shared` ones, which git tracks."""
        return os.path.join(self.root, "sessions", space) if shared else self.private(os.path.join("sessions", space))

    def session(self, space: str, name: str) -> str:
        """The file of a session, which is below `.memory/` if the session is shared."""
        shared = os.path.join(self.sessions(space, shared=True), f"{name}.jsonl")
        return shared if os.path.lexists(shared) else os.path.join(self.sessions(space), f"{name}.jsonl")

    def audit(self, name: str) -> str:
        return self.private(os.path.join("audit", name))

    def local(self, name: str) -> str:
        """A file of this work tree alone, whose loss costs nothing."""
        return os.path.join(self.root, "local", name)

    def private(self, name: str) -> str:
        """A file or folder of the private state, or its copy if this process cannot write the private state."""
        folder = self.private_folder
        if folder in (self.root, os.path.join(self.root, "local")) or can_write(folder):
            return os.path.join(folder, name)
        from memcli.store.folding import copied

        return copied(self.root, folder, name)

    def check_erasable(self, marks: Collection[str]) -> None:
        """Raises StoreError if private state that cannot be written contains one of the `marks` of what is to be erased."""
        folder = self.private_folder
        if not folder.startswith(self.root) and not can_write(folder):
            from memcli.store.folding import check_erasable

            check_erasable(self.root, folder, marks)

    @property
    def private_folder(self) -> str:
        """The folder of the private state, writable or not."""
        return self.private_root or private_folder(self.root)

    def documents(self) -> list[str]:
        """The files with texts of users: spaces, sessions, exports, tests; no links, sorted."""
        shared = [os.path.join(self.root, name) for name in ("spaces", "sessions", "exports", "tests")]
        found = [path for top in shared for path in _files(top)]
        found += [path for path in _files(self.private("spaces")) if path.endswith(".json")]
        found += [path for path in _files(self.private("sessions")) if path.endswith(".jsonl")]
        return sorted(found)

    def written_at(self, name: str) -> int:
        """When the file of a space was written, in nanoseconds; for a missing file a time later than that of any file."""
        try:
            return os.stat(self.space(name), follow_symlinks=False).st_mtime_ns
        except OSError:
            return _NEVER


def _files(top: str) -> Iterator[str]:
    """The regular files below a folder."""
    for folder, _, files in os.walk(top):
        for path in (os.path.join(folder, file) for file in files):
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


def identity(path: str) -> tuple[int, int] | None:
    """The device and inode at `path`, by which a replacement is recognized; None if nothing exists there."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def find_root(start: str, home: str) -> str | None:
    """The nearest `.memory` at or above `start`, or None.

    As git does, the search stops at a file-system boundary, and after the folder `home`.
    Raises StoreError for a file or link of this name.
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


def check_root(root: str) -> str:
    """Returns `root` if it is a folder, and neither it nor a folder of the store in it is a link. Raises StoreError,
    NotFoundError."""
    if os.path.islink(root):
        raise StoreError(
            f"{root} is a symbolic link", "memcli does not follow links out of a repository; replace it with a folder"
        )
    if not os.path.lexists(root):
        raise NotFoundError(f"no store at {root}", "run `memcli init`")
    if not os.path.isdir(root):
        raise StoreError(f"{root} is not a folder", "move it away and run `memcli init`")
    for name in _OWN_FOLDERS:
        check_no_link(os.path.join(root, name))
    return root


def check_no_link(folder: str) -> None:
    """Raises StoreError when a folder of the store is a symbolic link."""
    if os.path.islink(folder):
        raise StoreError(
            f"{folder} is a symbolic link", "memcli does not follow links out of a store; replace it with a folder"
        )


def make_root(root: str) -> bool:
    """Creates the store at `root`, or the folder for spaces in it; returns whether the store is new. Raises StoreError."""
    new = not os.path.lexists(root)
    if new:
        make_folder(root, 0o755, is_root=True)
    else:
        check_root(root)
    make_folder(os.path.join(root, "spaces"), 0o755)
    return new


def complete_ignore(layout: Layout) -> None:
    """Adds the lines that the `.gitignore` of the store lacks. Raises StoreError."""
    if missing := missing_lines(layout):
        data = _read_ignore(layout) or _TITLE
        lines = b"".join([data.rstrip(b"\n"), *(b"\n" + line.encode() for line in missing), b"\n"])
        write_file(layout.ignore, lines, temporary=layout.temporary)


def missing_lines(layout: Layout) -> list[str]:
    """The patterns for files of this machine alone that the `.gitignore` of the store lacks. Raises StoreError."""
    lines = _read_ignore(layout).decode("utf-8", "replace").splitlines()
    return [name for name in _IGNORED if name not in lines and name.rstrip("/") not in lines]


def _read_ignore(layout: Layout) -> bytes:
    return read_stored(layout.ignore, "replace it with a regular file", _MAX_IGNORE) or b""


def set_ignored(layout: Layout, space: str, ignored: bool) -> None:
    """Adds the file of `space` to the `.gitignore` of the store, or removes it; other lines stay. Raises StoreError."""
    if is_journal(space):  # git never sees those
        return
    line = f"spaces/{space}.json".encode()
    with _ignore_locked(layout):
        lines = _read_ignore(layout).splitlines()
        if (line in lines) != ignored:
            changed = [*lines, line] if ignored else [known for known in lines if known != line]
            write_file(layout.ignore, b"".join(known + b"\n" for known in changed), temporary=layout.temporary)


def show_sessions(layout: Layout) -> None:
    """Removes the lines of `.gitignore` by which earlier versions ignored private sessions. Raises StoreError if it ignores
    all sessions."""
    with _ignore_locked(layout):
        lines = _read_ignore(layout).splitlines()
        if not {b"sessions", b"sessions/"}.isdisjoint(lines):
            raise StoreError(f"{layout.ignore} ignores all sessions", "remove its line `sessions/`")
        wanted = [line for line in lines if line != b"sessions/*/*" and not line.startswith(b"!sessions/")]
        if wanted != lines:
            write_file(layout.ignore, b"".join(line + b"\n" for line in wanted), temporary=layout.temporary)


def _ignore_locked(layout: Layout) -> AbstractContextManager[HeldLock | None]:
    lock = layout.local(".gitignore.lock")
    make_folder(os.path.dirname(lock))
    return locked(lock, "the .gitignore of the store")


def remove_unused(root: str) -> bool:
    """Removes a store without memories; returns whether it did."""
    import shutil

    layout = Layout(root)
    with suppress(OSError):
        for folder in (layout.private("inbox/spaces"), layout.local("journal")):
            if os.path.isdir(folder) and os.listdir(folder):
                return False
        # Fails for a folder with a space, so that one which another process has just written is never deleted. A process
        # that comes later finds no folder and fails.
        os.rmdir(os.path.join(root, "spaces"))
        shutil.rmtree(root)
        return True
    return False


def install_attributes(root: str) -> bool:
    """Adds the lines that `.gitattributes` of the store at `root` lacks; returns whether it lacked any. Raises StoreError.

    With them, in every clone, git changes no line ends of the store, memcli merges spaces, and `git diff` shows memories.
    """
    from memcli.git.hooks import NAME

    path = os.path.join(root, ".gitattributes")
    # A file with CRLF would no longer be as memcli writes it, and would be read whole at each write.
    return _add_lines(path, ("*.json text eol=lf", *_attributes("", NAME)), Layout(root).temporary)


def install_own_attributes(root: str) -> bool:
    """Adds the attributes of stores to `info/attributes` of the repository of the store at `root`; returns whether it lacked
    any. Raises StoreError."""
    from memcli.git.hooks import NAME
    from memcli.git.index_file import shared_folder

    work_tree = find_work_tree(os.path.dirname(root))
    shared = work_tree and shared_folder(work_tree)
    if not shared:
        return False
    # After a sparse checkout that leaves out the store, git finds no `.gitattributes` of it, and would merge spaces as text.
    make_folder(os.path.join(shared, "info"), 0o755)
    return _add_lines(os.path.join(shared, "info", "attributes"), _attributes(f"**/{FOLDER}/", NAME))


def remove_attributes(root: str) -> bool:
    """Removes the lines that `install_attributes` and `install_own_attributes` added, and a file that has no other; returns
    whether there were any. Raises StoreError."""
    from memcli.git.hooks import NAME
    from memcli.git.index_file import shared_folder

    work_tree = find_work_tree(os.path.dirname(root))
    shared = work_tree and shared_folder(work_tree)
    own = _remove_lines(os.path.join(root, ".gitattributes"), ("*.json text eol=lf", *_attributes("", NAME)))
    if not shared:
        return own
    return _remove_lines(os.path.join(shared, "info", "attributes"), _attributes(f"**/{FOLDER}/", NAME)) or own


def _remove_lines(path: str, gone: Sequence[str]) -> bool:
    try:
        lines = (read_regular(path, _MAX_IGNORE) or b"").decode().splitlines()
    except (OSError, UnicodeDecodeError):
        raise StoreError(f"cannot read {path}", "remove memcli's lines by hand") from None
    left = [line for line in lines if line not in gone]
    if not [line for line in left if line != _ATTRIBUTES_TITLE]:
        left = []
    if left == lines:
        return False
    if left:
        write_file(path, "\n".join([*left, ""]).encode())
    else:
        remove_file(path)
    return True


def _attributes(folder: str, name: str) -> tuple[str, str]:
    """The lines by which the git driver `name` merges and shows the space files of the stores in `folder`."""
    return f"{folder}spaces/*.json merge={name}", f"{folder}spaces/*.json diff={name}"


def _add_lines(path: str, wanted: Sequence[str], temporary: str = "") -> bool:
    try:
        lines = (read_regular(path, _MAX_IGNORE) or b"").decode().splitlines()
    except (OSError, UnicodeDecodeError):
        raise StoreError(f"cannot read {path}", "replace it with a text file") from None
    missing = [line for line in wanted if line not in lines]
    if missing:
        data = "\n".join([*(lines or [_ATTRIBUTES_TITLE]), *missing, ""]).encode()
        write_file(path, data, temporary=temporary)
    return bool(missing)
