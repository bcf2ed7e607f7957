"""Whether a client lets the installed parts run: it reads in the client's own files if the folder is trusted and all approved."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from memcli.digests import sha256
from memcli.errors import UsageError
from memcli.extras.agents import splice
from memcli.extras.agents.files import Site, read_text
from memcli.extras.agents.parts import HOOKS, INSTRUCTIONS, MCP, InstalledPart, JsonHook, parse_toml
from memcli.extras.agents.table import PROJECT
from memcli.model.memory import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNTRUSTED, PENDING, DISABLED, UNKNOWN = "untrusted", "pending", "disabled", "unknown"
"""Why a client does not use an installed part: the folder is not trusted, an approval is missing, the user has switched the
part off, or the client's files cannot be read or understood."""


_Found = Sequence[tuple[InstalledPart, str, str]]
"""The installed parts of a role, each with its path and its state."""


def read_object(path: str) -> dict[str, Any]:
    """The object in a client's JSON file, which may have comments; empty if there is no file. Raises UsageError."""
    # Users may keep their settings elsewhere and link them, while `read_text` refuses a link.
    text = read_text(os.path.realpath(path), purpose="read") or ""
    try:
        # Tried first, as it is far faster than `splice.parse`, and some of these files have megabytes.
        value = json.loads(text)
    except (ValueError, RecursionError):
        try:
            node = splice.parse(text)
        except UsageError as error:
            raise UsageError(f"cannot read {path}: {error.message}", "correct the file") from None
        value = {} if node is None else node.value
    if not isinstance(value, dict):
        raise UsageError(f"cannot read {path}: it is not a JSON object", "correct the file")
    return value


def texts_at(path: str, data: dict[str, Any], key: str) -> list[str]:
    """The list of texts under a key of the object in the file at `path`. Raises UsageError for anything else there."""
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise UsageError(f"cannot read {path}: {key} is not a list of texts", "correct the file")
    return value


def is_within(folder: str, rule: str) -> bool:
    """Whether the folder that a rule names is `folder` or a parent of it, however links spell either."""
    if not os.path.isabs(rule):
        return False
    at = os.path.realpath(folder)
    try:
        named = os.stat(rule)
        while not os.path.samestat(named, os.stat(at)):
            if at == os.path.dirname(at):
                return False
            at = os.path.dirname(at)
    except (OSError, ValueError):
        return False
    return True


_HASHED = {"type", "command", "timeout", "async", "statusMessage"}
"""The fields of a hook that `trusted_hash` can hash as Codex does."""
# The time-out that Codex gives a hook without one.
_CODEX_SECONDS = 600
# The longest time-out in seconds that Codex gives a hook for the end of a session, whatever the hook names.
_LONGEST_END = 3


def _codex(site: Site, role: str, found: _Found) -> tuple[str, str] | None:
    """The state of an installed role that Codex does not use, and its fix; None if Codex uses it. Raises UsageError."""
    if role not in (MCP, HOOKS):
        return None
    path = site.at_home(".codex/config.toml")
    text = read_text(os.path.realpath(path), purpose="read") or ""
    try:
        config = parse_toml(text)
    except UsageError as error:
        raise UsageError(f"cannot read {path}: {error.message}", "correct the file") from None
    if site.scope == PROJECT and not any(
        _at(config, "projects", folder, "trust_level") == "trusted"
        for folder in (site.folder, os.path.realpath(site.folder))
    ):
        return UNTRUSTED, (
            "Codex ignores .codex/ of a project until you trust it: run `codex exec --trust`, then approve the hooks: "
            "start `codex`, run /hooks"
        )
    if role != HOOKS:
        return None
    states = list(_hook_states(found, config))
    if missing := states.count(PENDING):
        hooks = f"{missing} hook{'' if missing == 1 else 's'}"
        return PENDING, f"Codex skips {hooks} until you approve them: start `codex`, run /hooks"
    if UNKNOWN in states:
        return UNKNOWN, "whether Codex trusts the hooks cannot be computed: start `codex`, and look at /hooks"
    return None


def trusted_hash(event: str, group: Mapping[str, Json], handler: Mapping[str, Json]) -> str | None:
    """The hash by which Codex trusts one handler of a group of hooks, as Codex 0.169 computes it; None for a handler with
    fields whose part in the hash is unknown."""
    matcher, timeout = group.get("matcher"), handler.get("timeout", _CODEX_SECONDS)
    has_known_fields = set(group) <= {"matcher", "hooks"} and set(handler) <= _HASHED and None not in handler.values()
    if not has_known_fields or handler.get("type") != "command" or not isinstance(timeout, int) or timeout < 1:
        return None
    # Some events ignore a matcher, in the hash too; memcli sets one for tools alone.
    if matcher is not None and event != "pre_tool_use":
        return None
    if event == "session_end":
        timeout = min(timeout, _LONGEST_END)
    identity = {
        "event_name": event,
        "hooks": [{"async": False, **handler, "timeout": timeout}],
        **({} if matcher is None else {"matcher": matcher}),
    }
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def _hook_states(found: _Found, config: Mapping[str, Any]) -> Iterator[str]:
    """For each of memcli's hooks: empty if Codex trusts it as it is, PENDING if not, UNKNOWN if that cannot be computed."""
    for part, path, _ in found:
        if not isinstance(part, JsonHook):
            continue
        event = part.path[-1]
        # Current versions of Codex write session_start for SessionStart.
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")
        for n, m, group, handler in part.handlers(read_text(path) or ""):
            computed = trusted_hash(snake, group, handler)
            entries = [
                _at(config, "hooks", "state", f"{file}:{name}:{n}:{m}")
                for file in (path, os.path.realpath(path))
                for name in (event, snake)
            ]
            trusted = [
                str(entry["trusted_hash"])
                for entry in entries
                if isinstance(entry, dict) and entry.get("trusted_hash") and entry.get("enabled", True) is True
            ]
            if trusted and (computed is None or not any(one.startswith("sha256:") for one in trusted)):
                yield UNKNOWN
            else:
                yield "" if computed in trusted else PENDING


def _at(data: Any, *path: str) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


_SERVER = "memcli"
_LEVELS = ("TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST")
_SYSTEM_OF_GEMINI = "/etc/gemini-cli/settings.json"


def blocked_by_client(site: Site, name: str, role: str, found: _Found) -> tuple[str, str] | None:
    """The state of an installed role of an agent that its client does not use, and its fix; None if the client uses it."""
    try:
        state = _CLIENTS[name](site, role, found) if name in _CLIENTS else None
    except UsageError as error:
        return UNKNOWN, f"{error.message} ({error.hint})"
    path = found[0][1]
    if state is None and role == HOOKS and name in ("claude", "gemini", "copilot"):
        switch = splice.find(read_text(path) or "", ("disableAllHooks",))
        if switch is not None and switch.value is True:
            return DISABLED, f"{path} has disableAllHooks: set it to false"
    return state


def _gemini(site: Site, role: str, _: _Found) -> tuple[str, str] | None:
    """Gemini CLI reads only instructions in a folder that is not trusted."""
    if site.scope != PROJECT or role == INSTRUCTIONS:
        return None
    environ = site.environ
    if environ.get("GEMINI_RESTRICTED_MODE") == "true" or environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "false":
        return UNTRUSTED, "Gemini CLI trusts no folder: unset GEMINI_RESTRICTED_MODE and GEMINI_CLI_TRUST_WORKSPACE"
    if environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        return None
    # Trust of folders is switched on by default; the settings of the system come last.
    system = environ.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or _SYSTEM_OF_GEMINI
    asks = True
    for settings in (site.at_home(".gemini/settings.json"), system):
        value = _at(read_object(settings), "security", "folderTrust", "enabled")
        asks = value if isinstance(value, bool) else asks
    if not asks:
        return None
    path = environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or site.at_home(".gemini/trustedFolders.json")
    rules = read_object(path)
    if wrong := next((level for level in rules.values() if level not in _LEVELS), None):
        raise UsageError(f"cannot read {path}: unknown trust level {str(wrong)[:40]!a}", f"use {', '.join(_LEVELS)}")
    trusted = {rule: os.path.dirname(rule) if level == "TRUST_PARENT" else rule for rule, level in rules.items()}
    nearest = max((rule for rule, folder in trusted.items() if is_within(site.folder, folder)), key=len, default="")
    if rules.get(nearest, "DO_NOT_TRUST") != "DO_NOT_TRUST":
        return None
    return UNTRUSTED, (
        "not trusted by Gemini CLI: hooks, MCP server and skill are off until you trust this folder: start `gemini` and "
        "accept, or run /permissions; headless: GEMINI_CLI_TRUST_WORKSPACE=true (--skip-trust is not enough)"
    )


def _copilot(site: Site, role: str, _: _Found) -> tuple[str, str] | None:
    """Copilot CLI silently starts neither hooks nor MCP servers of a folder that is not trusted."""
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
    """Claude Code asks before it starts an MCP server of a project. An approval in the project's own settings, or in the
    project's entry of ~/.claude.json, counts only once the folder is trusted; a rejection counts in any of these files."""
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
    # Until then the settings of the project do not count: a clone must not approve its own server.
    counting = places if entry.get("hasTrustDialogAccepted") is True else {user: places[user]}
    for path, data in counting.items():
        if data.get("enableAllProjectMcpServers") is True or _SERVER in texts_at(path, data, "enabledMcpjsonServers"):
            return None
    return PENDING, (
        "pending approval (interactive use): start `claude` here and approve the MCP server; `claude -p` does not ask"
    )


_CLIENTS: Mapping[str, Callable[[Site, str, _Found], tuple[str, str] | None]] = {
    "claude": _claude, "codex": _codex,
    "copilot": _copilot, "gemini": _gemini,
}  # fmt: skip
"""The clients that ask their user before they use the settings of a project."""
