"""Where agents keep the transcripts of a project."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice

from memcli.errors import MemcliError
from memcli.transcripts.codex import head_of
from memcli.transcripts.files import read_lines
from memcli.transcripts.values import text_of

MOST_FILES = 20_000
"""How many files of each agent are looked at, the newest folders first."""
_HEAD_BYTES = 1 << 20
_HEAD_LINES = 50
_MAX_NAME = 200
_OTHER = re.compile(r"[^a-zA-Z0-9]")


def discover(home: str, project: str, environ: Mapping[str, str]) -> list[str]:
    """The transcripts of Claude Code and Codex that took place in `project` or below it, sorted; no link is followed."""
    projects = {os.path.abspath(project), os.path.realpath(project)}
    claude = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    codex = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    found = [*_of_claude_code(os.path.join(claude, "projects"), projects)]
    for folder in ("sessions", "archived_sessions"):
        found += _of_codex(os.path.join(codex, folder), projects)
    return sorted(found)


def folder_name(project: str) -> str:
    """The name of a project's folder, as Claude Code makes it before it cuts long ones."""
    units = "".join(char if ord(char) < 1 << 16 else "--" for char in project)  # JavaScript counts halves of pairs
    return _OTHER.sub("-", units)


def _of_claude_code(root: str, projects: set[str]) -> Iterator[str]:
    """The names of several folders may be the same, so the sessions say where they took place."""
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
            is_session = file.name.endswith(".jsonl") and not file.name.startswith("agent-")
            if is_session and file.is_file(follow_symlinks=False) and _took_place(file.path, projects, unsaid=is_exact):
                yield file.path


def _took_place(path: str, projects: set[str], *, unsaid: bool) -> bool:
    """Whether a session of Claude Code began in one of the projects; `unsaid` where it does not say."""
    with suppress(MemcliError):
        for _, line in islice(read_lines(path, Counter(), _HEAD_BYTES), _HEAD_LINES):
            if cwd := text_of(line.get("cwd")):
                return _is_within(cwd, projects)
        return unsaid
    return False


def _of_codex(root: str, projects: set[str]) -> Iterator[str]:
    for path in islice(_rollouts(root), MOST_FILES):
        with suppress(MemcliError):
            head = head_of(path)
            # A subagent has a rollout of its own, whose source says so.
            if not isinstance(head.get("source"), dict) and _is_within(text_of(head.get("cwd")), projects):
                yield path


def _rollouts(folder: str, depth: int = 3) -> Iterator[str]:
    """The rollouts in the folders by year, month and day, the latest first."""
    for entry in reversed(_entries(folder)):
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _rollouts(entry.path, depth - 1)
        elif (
            entry.name.startswith("rollout-") and entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False)
        ):
            yield entry.path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder, by name; nothing where it cannot be read."""
    with suppress(OSError), os.scandir(folder) as entries:
        return sorted(islice(entries, MOST_FILES), key=lambda entry: entry.name)
    return []


def _is_within(folder: str, projects: set[str]) -> bool:
    folder = folder.rstrip("/\\")
    return any(folder == project or folder.startswith(project.rstrip(os.sep) + os.sep) for project in projects)
