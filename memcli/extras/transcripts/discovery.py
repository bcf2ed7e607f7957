"""The folders in which agents store their transcripts, and the transcripts of a project in them. Hooks use `transcript_of`."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice

from memcli.digests import sha256
from memcli.errors import MemcliError
from memcli.extras.transcripts.codex import head_of
from memcli.extras.transcripts.copilot import read_copilot
from memcli.extras.transcripts.files import head_lines, open_file
from memcli.extras.transcripts.gemini import gemini_head
from memcli.extras.transcripts.opencode import read_opencode
from memcli.extras.transcripts.values import object_in, text_of

Environ = Mapping[str, str]
_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_EVENTS = "events.jsonl"
"""The name of the transcript in the folder of a session of Copilot CLI."""


def copilot_sessions(home: str, environ: Environ) -> str:
    """The folder that has a folder for each session of Copilot CLI."""
    return os.path.join(environ.get("COPILOT_HOME") or os.path.join(home, ".copilot"), "session-state")


def cline_sessions(home: str, environ: Environ) -> str:
    """The folder that has a folder for each session of Cline."""
    data = environ.get("CLINE_DATA_DIR") or os.path.join(
        environ.get("CLINE_DIR") or os.path.join(home, ".cline"), "data"
    )
    return environ.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")


def opencode_database(home: str, environ: Environ) -> str:
    """The path of the database of opencode."""
    data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    return os.path.join(data, "opencode", "opencode.db")


def transcript_of(agent: str, session: str, home: str, environ: Environ) -> str:
    """The path of the transcript of a session, for the agents that do not always report it; "" for others and without one."""
    # The id comes from the payload of a hook and becomes a part of a path.
    if not _NAME.fullmatch(session):
        return ""
    part = ""
    match agent:
        case "copilot":
            file = os.path.join(copilot_sessions(home, environ), session, _EVENTS)
        case "cline":
            file = os.path.join(cline_sessions(home, environ), session, f"{session}.messages.json")
        case "opencode":
            file, part = opencode_database(home, environ), f"#{session}"
        case _:
            return ""
    return file + part if os.path.isfile(file) else ""


MOST_FILES = 20_000
"""The most files of each agent that are read."""
# Claude Code cuts a longer name of a folder here, and appends a hash.
_MAX_NAME = 200
_MOST_TEXT = 1 << 20
_OTHER = re.compile(r"[^a-zA-Z0-9]")


def discover(home: str, project: str, environ: Mapping[str, str]) -> list[str]:
    """The paths of the transcripts whose sessions began in `project` or below it, sorted; no link is followed. A session in a
    database is named FILE#ID."""
    # An agent records its folder as it was started there, by a link or not.
    projects = {os.path.abspath(project), os.path.realpath(project)}
    claude = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    codex = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    found = [*_of_claude_code(os.path.join(claude, "projects"), projects)]
    for folder in ("sessions", "archived_sessions"):
        found += _of_codex(os.path.join(codex, folder), projects)
    found += _of_gemini(os.path.join(environ.get("GEMINI_CLI_HOME") or home, ".gemini", "tmp"), projects)
    found += _of_copilot(copilot_sessions(home, environ), projects)
    found += _of_cline(cline_sessions(home, environ), projects)
    found += _of_opencode(opencode_database(home, environ), projects)
    return sorted(found)


def folder_name(project: str) -> str:
    """Claude Code's name for the folder of a project, before it shortens long names."""
    units = "".join(char if ord(char) < 1 << 16 else "--" for char in project)  # JavaScript counts halves of pairs
    return _OTHER.sub("-", units)


def _of_claude_code(root: str, projects: set[str]) -> Iterator[str]:
    """The sessions of Claude Code below `root`."""
    # Several projects may share the name of a folder, so the folder in the session itself decides.
    names = {folder_name(project) for project in projects}
    starts = tuple(name[:_MAX_NAME] if len(name) > _MAX_NAME else f"{name}-" for name in names)
    tried = 0
    for folder in _entries(root):
        is_exact = folder.name in names
        if not (is_exact or folder.name.startswith(starts)) or not folder.is_dir(follow_symlinks=False):
            continue
        for file in _entries(folder.path):
            tried += 1
            if tried > MOST_FILES:
                return
            # Older versions put the transcripts of subagents beside those of sessions.
            is_session = file.name.endswith(".jsonl") and not file.name.startswith("agent-")
            if (
                is_session
                and file.is_file(follow_symlinks=False)
                and _took_place(file.path, projects, default=is_exact)
            ):
                yield file.path


def _took_place(path: str, projects: set[str], *, default: bool) -> bool:
    """Whether a session of Claude Code began in one of the projects; `default` for a session that does not record that."""
    with suppress(MemcliError):
        for line in head_lines(path):
            if cwd := text_of(line.get("cwd")):
                return _is_within(cwd, projects)
        return default
    return False


def _of_codex(root: str, projects: set[str]) -> Iterator[str]:
    for path in islice(_rollouts(root), MOST_FILES):
        with suppress(MemcliError):
            head = head_of(path)
            # A subagent has a rollout of its own, whose source says so.
            if not isinstance(head.get("source"), dict) and _is_within(text_of(head.get("cwd")), projects):
                yield path


def _rollouts(folder: str, depth: int = 3) -> Iterator[str]:
    """The rollouts in the folders by year, month and day, the newest folder first."""
    # The newest first: of more than MOST_FILES the oldest are left out.
    for entry in reversed(_entries(folder)):
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _rollouts(entry.path, depth - 1)
        elif (
            entry.name.startswith("rollout-") and entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False)
        ):
            yield entry.path


def _of_gemini(root: str, projects: set[str]) -> Iterator[str]:
    """The sessions of Gemini CLI below `root`."""
    # A session has only the hash of its project, by which no folder below that is found. Newer versions also name the
    # project in a file of the folder.
    hashes = {sha256(os.fsencode(project)).hexdigest() for project in projects}
    for folder in _folders(root):
        named = _text_in(os.path.join(folder, ".project_root"))
        for entry in _entries(os.path.join(folder, "chats")):
            is_session = entry.name.startswith("session-") and entry.name.endswith(".jsonl")
            if is_session and entry.is_file(follow_symlinks=False):
                with suppress(MemcliError):
                    if _is_within(named, projects) or (
                        not named and gemini_head(entry.path).get("projectHash") in hashes
                    ):
                        yield entry.path


def _of_copilot(root: str, projects: set[str]) -> Iterator[str]:
    for folder in _folders(root):
        path = os.path.join(folder, _EVENTS)
        with suppress(MemcliError):
            if not os.path.islink(path) and _is_within(read_copilot(path).cwd, projects):
                yield path


def _of_cline(root: str, projects: set[str]) -> Iterator[str]:
    """The sessions of Cline below `root`, whose folders have a file with the folder of the project."""
    for folder in _folders(root):
        name = os.path.basename(folder)
        path = os.path.join(folder, f"{name}.messages.json")
        about = object_in(_text_in(f"{folder}/{name}.json").encode(), Counter(), "") or {}
        cwd = text_of(about.get("cwd")) or text_of(about.get("workspace_root"))
        if _is_within(cwd, projects) and os.path.isfile(path) and not os.path.islink(path):
            yield path


def _of_opencode(path: str, projects: set[str]) -> Iterator[str]:
    """The sessions in the database, each as FILE#ID; the database itself if it cannot be read."""
    # Its reader then reports the problem, which is not raised here, as other agents' transcripts may be found.
    if not os.path.isfile(path) or os.path.islink(path):
        return
    try:
        for one in islice(read_opencode(path, "", Counter()), MOST_FILES):
            if _is_within(one.cwd, projects):
                yield f"{path}#{one.key}"
    except MemcliError:
        yield path


def _folders(root: str) -> Iterator[str]:
    return (entry.path for entry in _entries(root) if entry.is_dir(follow_symlinks=False))


def _text_in(path: str) -> str:
    """The text of a small file, stripped; "" if it cannot be read."""
    with suppress(MemcliError, OSError):
        if not os.path.islink(path):
            with open_file(path) as file:
                return file.read(_MOST_TEXT).decode("utf-8", "replace").strip()
    return ""


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder, by name; none if it cannot be read."""
    with suppress(OSError), os.scandir(folder) as entries:
        return sorted(islice(entries, MOST_FILES), key=lambda entry: entry.name)
    return []


def _is_within(folder: str, projects: set[str]) -> bool:
    folder = folder.rstrip("/\\")
    return any(folder == project or folder.startswith(project.rstrip(os.sep) + os.sep) for project in projects)
