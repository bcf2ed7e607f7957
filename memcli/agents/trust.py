"""Whether the client itself lets what is installed run, by its own files: is the folder trusted, is everything approved?"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from memcli.agents import json_text
from memcli.agents.clients import DISABLED, PENDING, UNKNOWN, UNTRUSTED, is_within, read_object, texts_at
from memcli.agents.codex_trust import codex_holds_back
from memcli.agents.files import read_text
from memcli.agents.notes import Site
from memcli.agents.parts import HOOKS, INSTRUCTIONS, MCP, InstalledPart
from memcli.agents.table import PROJECT
from memcli.errors import UsageError

_Found = Sequence[tuple[InstalledPart, str, str]]
_SERVER = "memcli"
_LEVELS = ("TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST")
_SYSTEM_OF_GEMINI = "/etc/gemini-cli/settings.json"


def held_back(site: Site, name: str, role: str, found: _Found) -> tuple[str, str] | None:
    """Why a client does not use a role of an agent that is installed, and what to do; None if it does."""
    try:
        answer = _CLIENTS[name](site, role, found) if name in _CLIENTS else None
    except UsageError as error:
        return UNKNOWN, f"{error.message} ({error.hint})"
    path = found[0][1]
    if (
        answer is None
        and role == HOOKS
        and name in ("claude", "gemini", "copilot")
        and _is_set(path, "disableAllHooks")
    ):
        return DISABLED, f"{path} has disableAllHooks: set it to false"
    return answer


def _gemini(site: Site, role: str, _: _Found) -> tuple[str, str] | None:
    """Gemini CLI reads nothing but instructions in a folder that is not trusted."""
    if site.scope != PROJECT or role == INSTRUCTIONS:
        return None
    environ = site.environ
    if environ.get("GEMINI_RESTRICTED_MODE") == "true" or environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "false":
        return UNTRUSTED, "Gemini CLI trusts no folder: unset GEMINI_RESTRICTED_MODE and GEMINI_CLI_TRUST_WORKSPACE"
    if environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "true" or not _asks_for_trust(site):
        return None
    path = environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or site.at_home(".gemini/trustedFolders.json")
    rules = read_object(path)
    if wrong := next((level for level in rules.values() if level not in _LEVELS), None):
        raise UsageError(f"cannot read {path}: unknown trust level {str(wrong)[:40]!a}", f"use {', '.join(_LEVELS)}")
    nearest = max((rule for rule in rules if is_within(site.folder, _trusted_by(rule, rules))), key=len, default="")
    if rules.get(nearest, "DO_NOT_TRUST") != "DO_NOT_TRUST":
        return None
    return UNTRUSTED, (
        "not trusted by Gemini CLI: hooks, MCP server and skill are off until you trust this folder: start `gemini` and "
        "accept, or run /permissions; headless: GEMINI_CLI_TRUST_WORKSPACE=true (--skip-trust is not enough)"
    )


def _trusted_by(rule: str, rules: Mapping[str, str]) -> str:
    return os.path.dirname(rule) if rules[rule] == "TRUST_PARENT" else rule


def _asks_for_trust(site: Site) -> bool:
    """Whether Gemini CLI has trust of folders switched on, as it is by default. Settings of the system come last."""
    system = site.environ.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or _SYSTEM_OF_GEMINI
    asks = True
    for path in (site.at_home(".gemini/settings.json"), system):
        security = read_object(path).get("security")
        of_folders = security.get("folderTrust") if isinstance(security, dict) else None
        value = of_folders.get("enabled") if isinstance(of_folders, dict) else None
        asks = value if isinstance(value, bool) else asks
    return asks


def _copilot(site: Site, role: str, _: _Found) -> tuple[str, str] | None:
    """Copilot CLI starts neither hooks nor MCP servers of a folder that is not trusted, and does not say so."""
    if site.scope != PROJECT or role not in (MCP, HOOKS) or site.environ.get("COPILOT_ALLOW_ALL") == "true":
        return None
    path = site.at_home(".copilot/config.json")
    config = read_object(path)
    rules = [rule for key in ("trustedFolders", "trusted_folders") for rule in texts_at(path, config, key)]
    if any(is_within(site.folder, rule) for rule in rules):
        return None
    return UNTRUSTED, (
        "not trusted by Copilot CLI: hooks and MCP server are off until you trust this folder: start `copilot` and "
        "accept, or pass --trust-folder"
    )


def _claude(site: Site, role: str, _: _Found) -> tuple[str, str] | None:
    """Claude Code asks before it starts an MCP server of a project. What the project's own settings, or an answer that is
    noted for it, approve counts only once the folder is trusted; a rejection counts wherever it is."""
    if site.scope != PROJECT or role != MCP:
        return None
    state = site.at_home(".claude.json")
    projects = read_object(state).get("projects")
    entries = projects if isinstance(projects, dict) else {}
    entry = entries.get(site.folder) or entries.get(os.path.realpath(site.folder)) or {}
    if not isinstance(entry, dict):
        raise UsageError(f"cannot read {state}: the entry of this project is not an object", "correct the file")
    user = site.at_home(".claude/settings.json")
    local = [os.path.join(site.folder, ".claude", name) for name in ("settings.json", "settings.local.json")]
    places = {path: read_object(path) for path in (user, *local)} | {state: entry}
    for path, data in places.items():
        if _SERVER in texts_at(path, data, "disabledMcpjsonServers"):
            return DISABLED, f"rejected in {path}: run `claude mcp reset-project-choices`, and approve it"
    counting = places if entry.get("hasTrustDialogAccepted") is True else {user: places[user]}
    for path, data in counting.items():
        if data.get("enableAllProjectMcpServers") is True or _SERVER in texts_at(path, data, "enabledMcpjsonServers"):
            return None
    return PENDING, (
        "pending approval (interactive use): start `claude` here and approve the MCP server; `claude -p` does not ask"
    )


def _is_set(path: str, key: str) -> bool:
    node = json_text.find(read_text(path) or "", (key,))
    return node is not None and node.value is True


_CLIENTS: Mapping[str, Callable[[Site, str, _Found], tuple[str, str] | None]] = {
    "claude": _claude, "codex": codex_holds_back,
    "copilot": _copilot, "gemini": _gemini,
}  # fmt: skip
"""The clients that ask their user before they use what a project brings."""
