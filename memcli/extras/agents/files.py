"""Files of agents, read without following links and changed all together or not at all; the site of a scope and its notes."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress

from memcli.beneath import at, open_file
from memcli.codec.canonical import encode
from memcli.digests import sha256
from memcli.errors import MemcliError, StoreError, UsageError
from memcli.extras.agents.splice import Splice
from memcli.extras.agents.table import USER
from memcli.record import Record, field
from memcli.store.atomic import make_folder, read_json, remove_file, remove_quietly, write_file

MAX_BYTES = 16 << 20
_ANY_WRITE = 0o222
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


class SettingsChange(Record):
    """The text of a file before and after a change; None where the file does not exist."""

    path: str
    before: str | None
    after: str | None
    is_executable: bool = False

    @property
    def what(self) -> str:
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "updated"


def read_text(path: str, root: str = "", *, purpose: str = "edit") -> str | None:
    """The text of the file at `path`; None if it does not exist. Raises UsageError for what cannot be edited, and for a file
    outside of `root`, unless that is empty; its message names the `purpose`."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _refused(path, error.strerror or "unreadable", "check its permissions", purpose) from None
    if stat.S_ISLNK(status.st_mode):
        raise _refused(
            path, "it is a symbolic link", "replace it with a file, or edit what it leads to by hand", purpose
        )
    if not stat.S_ISREG(status.st_mode):
        raise _refused(path, "it is not a regular file", "move it away", purpose)
    if status.st_size > MAX_BYTES:
        raise _refused(path, f"it is larger than {MAX_BYTES >> 20} MB", "edit it by hand", purpose)
    # Without O_NONBLOCK, a pipe that has taken the place of the file since would block for ever.
    try:
        with open(open_file(_real(path, root), os.O_RDONLY | _NONBLOCK, root=root), "rb") as file:
            return file.read().decode()
    except UnicodeDecodeError:
        raise _refused(path, "it is not valid UTF-8", "convert it to UTF-8", purpose) from None
    except OSError as error:
        raise _refused(path, error.strerror or "unreadable", "check its permissions", purpose) from None


def check_writable(path: str) -> None:
    """Raises UsageError if the file at `path` is read-only, or its folder does not let it be created or replaced."""
    with suppress(OSError):
        # Replacing a file asks the folder alone, so that a read-only one would be changed against its owner's will.
        if not os.lstat(path).st_mode & _ANY_WRITE:
            raise _refused(path, "it is read-only", f"make it writable: chmod u+w {path}")
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise _refused(path, f"{folder} is not a folder", "move it away")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _refused(path, f"the folder {folder} is read-only", "make it writable")


def missing_folders(path: str) -> list[str]:
    """The folders above `path` that do not exist, the outermost first."""
    found = []
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found[::-1]


def apply_changes(changes: Sequence[SettingsChange], root: str) -> None:
    """Makes the changes in order, below `root` unless that is empty; if one fails, those before it are undone. Raises
    StoreError."""
    done: list[tuple[SettingsChange, int | None, list[str]]] = []
    try:
        for change in changes:
            mode = stat.S_IMODE(os.lstat(change.path).st_mode) if change.before is not None else None
            made = missing_folders(change.path)
            # Before the write, since one that fails half-way has to be undone too.
            done.append((change, mode, made))
            _write(change.path, root, change.after, 0o755 if mode is None and change.is_executable else mode)
    except (MemcliError, OSError) as error:
        for change, mode, made in reversed(done):
            with suppress(MemcliError, OSError):
                _write(change.path, root, change.before, mode)
            remove_empty(made)
        if isinstance(error, MemcliError):
            raise
        raise StoreError(
            f"cannot write {changes[len(done) - 1].path}: {error.strerror}", "nothing was changed"
        ) from None


def remove_empty(folders: Sequence[str]) -> list[str]:
    """Removes those of the folders that are empty, the innermost first; returns the others."""
    remaining = []
    for folder in sorted(folders, key=len, reverse=True):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            continue
        except OSError:
            remaining.append(folder)
    return remaining[::-1]


def _write(path: str, root: str, text: str | None, mode: int | None) -> None:
    """Writes a file with this mode, 0644 for None; removes it if `text` is None. Raises StoreError, OSError."""
    path = _real(path, root)
    if text is None:
        if os.path.lexists(path):
            remove_file(path, root)
        return
    make_folder(os.path.dirname(path), 0o755, root)
    write_file(path, text.encode(), 0o644 if mode is None else mode, root=root)
    if mode is not None:
        with at(path, root) as (name, folder):
            os.chmod(name, mode, dir_fd=folder)


def _real(path: str, root: str) -> str:
    """`path` with the links among its folders resolved: `open_file` follows none below a root, and projects may have some."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) if root else path


def _refused(path: str, why: str, hint: str, purpose: str = "edit") -> UsageError:
    unchanged = "; nothing was changed" if purpose == "edit" else ""
    return UsageError(f"cannot {purpose} {path}: {why}{unchanged}", hint)


_HOMES = {
    ".claude/": "CLAUDE_CONFIG_DIR", ".codex/": "CODEX_HOME", ".copilot/": "COPILOT_HOME", ".config/": "XDG_CONFIG_HOME",
    ".cline/data/settings/cline_mcp_settings.json": "CLINE_MCP_SETTINGS_PATH", ".cline/data/": "CLINE_DATA_DIR",
    ".cline/": "CLINE_DIR",
}  # fmt: skip
"""The variables that move a file or folder of the home directory, by its path; the first match counts."""
_PARENTS = {".claude.json": "CLAUDE_CONFIG_DIR", ".gemini/": "GEMINI_CLI_HOME"}
"""The variables that replace the home directory for a file or folder, by its path."""


class Site(Record):
    """The site of a scope: its folder, the path of its notes, and the environment."""

    scope: str
    folder: str
    notes: str
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The folder that no link may leave; empty if links may lead anywhere."""
        # The links of a home directory are its owner's; those of a project may come with a clone.
        return "" if self.scope == USER else os.path.realpath(self.folder)

    def path(self, file: str) -> str:
        """The path of an agent's file on this site. Raises UsageError if a link leads out of the folder."""
        if self.scope == USER:
            return self.at_home(file)
        path = os.path.join(self.folder, *file.split("/"))
        parent = os.path.realpath(os.path.dirname(path))
        home = os.path.realpath(self.folder)
        if os.path.commonpath([parent, home]) != home:
            raise UsageError(
                f"cannot edit {path}: a folder on the way is a symbolic link out of the project; nothing was changed",
                "replace the link with a folder",
            )
        # A project that has opencode.jsonc must not get an opencode.json beside it.
        if not os.path.lexists(path) and file.endswith(".json") and os.path.lexists(f"{path}c"):
            return f"{path}c"
        return path

    def at_home(self, file: str) -> str:
        """The path of a user's file, in the home directory or where a variable moves it."""
        for start, variable in _PARENTS.items():
            if file.startswith(start) and (home := self.environ.get(variable)):
                return os.path.join(home, *file.split("/"))
        for start, variable in _HOMES.items():
            if file.startswith(start) and (home := self.environ.get(variable)):
                return os.path.join(home, *file.removeprefix(start).split("/")) if file != start else home
        home = self.folder if self.scope == USER else os.path.expanduser("~")
        return os.path.join(home, *file.split("/"))


class Note(Record):
    """A note of a changed file: the agents installed in it, its digest after the change, the splices that undo the change, and
    whether the file existed before."""

    agents: tuple[str, ...]
    digest: str
    undo: tuple[Splice, ...]
    was_there: bool

    def fits(self, text: str | None) -> bool:
        """Whether the text is the one that the last change left."""
        return text is not None and self.digest == digest_of(text)


def load_notes(site: Site) -> tuple[dict[str, Note], list[str]]:
    """The notes of a scope by path, without those that cannot be read, and the folders that memcli created."""
    data = read_json(site.notes)
    own = data.get(site.scope) if isinstance(data, dict) else None
    files, folders = (own.get("files"), own.get("folders")) if isinstance(own, dict) else (None, None)
    found = {}
    for file, data in files.items() if isinstance(files, dict) else ():
        try:
            undo = tuple(Splice(int(start), int(end), str(text)) for start, end, text in data["undo"])
            note = Note(tuple(data["agents"]), data["digest"], undo, data["was_there"])
        except (KeyError, TypeError, ValueError):
            continue
        found[os.path.join(site.folder, file)] = note
    made = [folder for folder in folders if isinstance(folder, str)] if isinstance(folders, list) else []
    return found, made


def save_notes(site: Site, notes: Mapping[str, Note], folders: Sequence[str]) -> None:
    """Replaces the notes and folders of a scope. Raises StoreError."""
    data = read_json(site.notes)
    scopes = dict(data) if isinstance(data, dict) else {}
    files = {
        # Relative to the folder, so that the notes of a project that is moved still fit.
        os.path.relpath(path, site.folder): {
            "agents": list(note.agents), "digest": note.digest, "undo": [list(splice) for splice in note.undo],
            "was_there": note.was_there,
        }
        for path, note in notes.items()
    }  # fmt: skip
    scopes[site.scope] = {"files": files, "folders": list(folders)}
    filled = {scope: found for scope, found in scopes.items() if found != {"files": {}, "folders": []}}
    if not filled:
        remove_quietly(site.notes)
        return
    make_folder(os.path.dirname(site.notes))
    write_file(site.notes, encode(filled), 0o600)


def digest_of(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return sha256(text.encode()).hexdigest()
