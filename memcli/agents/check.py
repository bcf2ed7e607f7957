"""Check what is installed: is each part active, up to date, trusted by its agent, and not there twice?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

from memcli.agents import toml_text
from memcli.agents.files import read_text
from memcli.agents.install import is_installed, states
from memcli.agents.notes import Site
from memcli.agents.parts import ABSENT, ACTIVE, FOREIGN, HOOKS, MCP, ROLES, STALE, JsonHook, Part
from memcli.agents.table import AGENTS, PROJECT
from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.record import Record, as_dict

_FIRST_OF_ZED = (
    ".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md",
)  # fmt: skip
_MAX_OF_CODEX = 32 << 10
NOT_TRUSTED, NOT_APPROVED, DISABLED, UNREADABLE = "not trusted", "not approved", "disabled", "unreadable"


class Row(Record):
    """One role of an agent in a scope, and what to do about it; nothing if it is active."""

    agent: str
    scope: str
    role: str
    state: str
    files: tuple[str, ...]
    fix: str = ""

    @property
    def is_fine(self) -> bool:
        return self.state == ACTIVE

    def to_json(self) -> dict[str, Json]:
        return {**as_dict(self), "files": list(self.files)}


def check(site: Site, name: str) -> list[Row]:
    """A row for each role of an agent that is installed at `site`."""
    try:
        found = list(states(site, name))
    except UsageError as error:
        return [Row(name, site.scope, "files", UNREADABLE, (), f"{error.message} ({error.hint})")]
    return [_row(site, name, role, of_role) for role in ROLES if (of_role := [f for f in found if f[0].role == role])]


def warnings(sites: list[Site], name: str) -> Iterator[str]:
    """What keeps an agent that is installed from working well, besides its parts."""
    scopes = [site.scope for site in sites if site.scope in AGENTS[name].scopes and is_installed(site, name)]
    if len(scopes) > 1:
        yield (
            f"{name} is installed for {' and '.join(scopes)}: each hook is called twice, though nothing is shown twice; "
            f"remove one with `memcli agent uninstall {name}{_flag(scopes[-1])}`"
        )
    project = next((site for site in sites if site.scope == PROJECT), None)
    if project is None or PROJECT not in scopes:
        return
    instructions = read_text(os.path.join(project.folder, "AGENTS.md")) if name in ("codex", "zed") else None
    if name == "codex" and len((instructions or "").encode()) > _MAX_OF_CODEX:
        yield "AGENTS.md is larger than 32 KiB: Codex reads no more than that, and memcli's block is at the end"
    first = next((file for file in _FIRST_OF_ZED if os.path.isfile(os.path.join(project.folder, file))), None)
    if name == "zed" and first:
        yield f"Zed reads {first} and not AGENTS.md: add memcli's block of AGENTS.md to it"


def find_program() -> str | None:
    """Where hooks find memcli; None if they do not."""
    return shutil.which("memcli")


def _row(site: Site, name: str, role: str, found: list[tuple[Part, str, str]]) -> Row:
    files = tuple(dict.fromkeys(path for _, path, _ in found))
    kinds = {state for _, _, state in found}
    install = f"run `memcli agent install {name}{_flag(site.scope)}`"
    if FOREIGN in kinds:
        return Row(name, site.scope, role, FOREIGN, files, "move the file away and install again")
    if kinds != {ACTIVE}:
        state = STALE if STALE in kinds or ACTIVE in kinds else ABSENT
        return Row(name, site.scope, role, state, files, install)
    state, fix = _held_back(site, name, role, found) or (ACTIVE, "")
    return Row(name, site.scope, role, state, files, fix)


def _held_back(site: Site, name: str, role: str, found: list[tuple[Part, str, str]]) -> tuple[str, str] | None:
    """Why an agent does not use what is installed, and what to do."""
    if name == "codex" and role in (MCP, HOOKS) and site.scope == PROJECT and not _is_trusted_project(site):
        return NOT_TRUSTED, "Codex ignores .codex/ of a project until you trust it: start `codex` here and accept"
    if role != HOOKS:
        return None
    if name == "codex" and (missing := _not_approved(site, found)):
        fix = (
            f"Codex skips {missing} hook{'' if missing == 1 else 's'} until you approve them: start `codex`, run /hooks"
        )
        return NOT_APPROVED, fix
    path = found[0][1]
    if name in ("claude", "gemini", "copilot") and _is_set(path, "disableAllHooks"):
        return DISABLED, f"{path} has disableAllHooks: set it to false"
    return None


def _is_set(path: str, key: str) -> bool:
    from memcli.agents import json_text

    node = json_text.find(read_text(path) or "", (key,))
    return node is not None and node.value is True


def _codex(site: Site, *path: str) -> Any:
    """A value of the configuration of Codex; None where there is none."""
    home = site.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")
    try:
        return toml_text.table_at(read_text(os.path.join(home, "config.toml")) or "", path)
    except UsageError:
        return None


def _is_trusted_project(site: Site) -> bool:
    folders = {site.folder, os.path.realpath(site.folder)}
    return any(_codex(site, "projects", folder, "trust_level") == "trusted" for folder in folders)


def _not_approved(site: Site, found: list[tuple[Part, str, str]]) -> int:
    """How many hooks Codex has no trust entry for, or has disabled. It names them by file, event and place."""
    trusted = _codex(site, "hooks", "state")
    keys = (
        {key: value for key, value in trusted.items() if isinstance(value, dict)} if isinstance(trusted, dict) else {}
    )
    missing = 0
    for part, path, _ in found:
        if isinstance(part, JsonHook):
            names = {
                f"{file}:{event}:" for file in (path, os.path.realpath(path)) for event in _spellings(part.path[-1])
            }
            entries = [value for key, value in keys.items() if key.startswith(tuple(names))]
            missing += not any(entry.get("trusted_hash") and entry.get("enabled", True) for entry in entries)
    return missing


def _spellings(event: str) -> tuple[str, str]:
    """An event in both forms that versions of Codex write: SessionStart and session_start."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")
    return event, snake


def _flag(scope: str) -> str:
    return "" if scope == PROJECT else f" --{scope}"


def installed(sites: list[Site]) -> Iterator[tuple[Site, str]]:
    """Every agent that is installed, and where."""
    for site in sites:
        for name, agent in AGENTS.items():
            if site.scope in agent.scopes and is_installed(site, name):
                yield site, name
