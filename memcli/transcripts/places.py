"""Where agents keep their transcripts. Hooks import this: nothing here reads a file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

Environ = Mapping[str, str]
_NAME = re.compile(r"\w[\w.-]*", re.ASCII)


def claude_home(home: str, environ: Environ) -> str:
    """The folder of Claude Code."""
    return environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")


def codex_home(home: str, environ: Environ) -> str:
    """The folder of Codex."""
    return environ.get("CODEX_HOME") or os.path.join(home, ".codex")


def gemini_home(home: str, environ: Environ) -> str:
    """The folder of Gemini CLI."""
    return os.path.join(environ.get("GEMINI_CLI_HOME") or home, ".gemini")


def copilot_sessions(home: str, environ: Environ) -> str:
    """The folder with a folder for each session of Copilot CLI."""
    return os.path.join(environ.get("COPILOT_HOME") or os.path.join(home, ".copilot"), "session-state")


def cline_sessions(home: str, environ: Environ) -> str:
    """The folder with a folder for each session of Cline."""
    data = environ.get("CLINE_DATA_DIR") or os.path.join(
        environ.get("CLINE_DIR") or os.path.join(home, ".cline"), "data"
    )
    return environ.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")


def opencode_database(home: str, environ: Environ) -> str:
    """The database of opencode."""
    data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    return os.path.join(data, "opencode", "opencode.db")


def copilot_file(folder: str) -> str:
    """The transcript in the folder of a session."""
    return os.path.join(folder, "events.jsonl")


def cline_file(folder: str) -> str:
    """The transcript in the folder of a session."""
    return os.path.join(folder, f"{os.path.basename(folder)}.messages.json")


_FILES: Mapping[str, Callable[[str, str, Environ], tuple[str, str]]] = {
    "copilot": lambda session, home, environ: (
        copilot_file(os.path.join(copilot_sessions(home, environ), session)),
        "",
    ),
    "cline": lambda session, home, environ: (cline_file(os.path.join(cline_sessions(home, environ), session)), ""),
    "opencode": lambda session, home, environ: (opencode_database(home, environ), f"#{session}"),
}
"""The file with a session, and what names the session in it, for the agents that do not always report it."""


def transcript_of(agent: str, session: str, home: str, environ: Environ) -> str:
    """The transcript of a session, or "" where there is none or the agent reports it."""
    if agent not in _FILES or not _NAME.fullmatch(session):
        return ""
    file, part = _FILES[agent](session, home, environ)
    return file + part if os.path.isfile(file) else ""
