"""Where a scope of an installation is, and what is noted of the files that were changed there."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from memcli.agents.splice import Splice
from memcli.agents.table import USER
from memcli.codec.canonical import encode
from memcli.digests import sha256
from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.record import Record, field
from memcli.store.atomic import make_folder, remove_quietly, write_file
from memcli.store.reading import read_json

_HOMES = {
    ".claude/": "CLAUDE_CONFIG_DIR", ".codex/": "CODEX_HOME", ".copilot/": "COPILOT_HOME", ".config/": "XDG_CONFIG_HOME",
    ".cline/data/settings/cline_mcp_settings.json": "CLINE_MCP_SETTINGS_PATH", ".cline/data/": "CLINE_DATA_DIR",
    ".cline/": "CLINE_DIR",
}  # fmt: skip
"""The variables that move a file or folder of the home directory, the first that fits."""
_PARENTS = {".claude.json": "CLAUDE_CONFIG_DIR", ".gemini/": "GEMINI_CLI_HOME"}
"""The variables that name another folder instead of the home directory."""


class Site(Record):
    """Where a scope is: its folder, the file with the notes, and the environment."""

    scope: str
    folder: str
    notes: str
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The folder out of which no link may lead; empty for a home directory, whose owner has put the links there."""
        return "" if self.scope == USER else os.path.realpath(self.folder)

    def path(self, file: str) -> str:
        """The file as it is on the disk. Raises UsageError if it is outside of the folder."""
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
        if not os.path.lexists(path) and file.endswith(".json") and os.path.lexists(f"{path}c"):
            return f"{path}c"
        return path

    def at_home(self, file: str) -> str:
        """The file of the user, in the home directory or where a variable has moved it."""
        for start, variable in _PARENTS.items():
            if file.startswith(start) and (home := self.environ.get(variable)):
                return os.path.join(home, *file.split("/"))
        for start, variable in _HOMES.items():
            if file.startswith(start) and (home := self.environ.get(variable)):
                return os.path.join(home, *file.removeprefix(start).split("/")) if file != start else home
        home = self.folder if self.scope == USER else os.path.expanduser("~")
        return os.path.join(home, *file.split("/"))


class Note(Record):
    """What is known of a file that was changed: for which agents, its digest after that, and what takes it back."""

    agents: tuple[str, ...]
    digest: str
    undo: tuple[Splice, ...]
    was_there: bool

    def fits(self, text: str | None) -> bool:
        """Whether the file is as it was left."""
        return text is not None and self.digest == digest_of(text)


def load_folders(site: Site) -> list[str]:
    """The folders that were made."""
    folders = _load(site).get("folders")
    return [folder for folder in folders if isinstance(folder, str)] if isinstance(folders, list) else []


def load_notes(site: Site) -> dict[str, Note]:
    """What is noted of the files of the scope."""
    files = _load(site).get("files")
    found = {}
    for file, data in files.items() if isinstance(files, dict) else ():
        try:
            undo = tuple(Splice(int(start), int(end), str(text)) for start, end, text in data["undo"])
            note = Note(tuple(data["agents"]), data["digest"], undo, data["was_there"])
        except (KeyError, TypeError, ValueError):
            continue
        found[os.path.join(site.folder, file)] = note
    return found


def save_notes(site: Site, notes: Mapping[str, Note], folders: Sequence[str]) -> None:
    """Keeps the notes. Raises StoreError."""
    data = read_json(site.notes)
    scopes = dict(data) if isinstance(data, dict) else {}
    files = {
        os.path.relpath(path, site.folder): {
            "agents": list(note.agents), "digest": note.digest, "undo": [list(splice) for splice in note.undo],
            "was_there": note.was_there,
        }
        for path, note in notes.items()
    }  # fmt: skip
    scopes[site.scope] = {"files": files, "folders": list(folders)}
    kept = {scope: found for scope, found in scopes.items() if found != {"files": {}, "folders": []}}
    if not kept:
        remove_quietly(site.notes)
        return
    make_folder(os.path.dirname(site.notes))
    write_file(site.notes, encode(kept), 0o600)


def _load(site: Site) -> dict[str, Json]:
    data = read_json(site.notes)
    found = data.get(site.scope) if isinstance(data, dict) else None
    return dict(found) if isinstance(found, dict) else {}


def digest_of(text: str) -> str:
    """What tells one text from another."""
    return sha256(text.encode()).hexdigest()
