"""What Codex trusts, by its config.toml: projects by their folder, hooks by a hash of what they run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memcli.agents import toml_text
from memcli.agents.clients import PENDING, UNKNOWN, UNTRUSTED, read_client
from memcli.agents.files import read_text
from memcli.agents.notes import Site
from memcli.agents.parts import HOOKS, MCP, InstalledPart, JsonHook
from memcli.agents.table import PROJECT
from memcli.digests import sha256
from memcli.errors import UsageError
from memcli.model.memory import Json

_HASHED = {"type", "command", "timeout", "async", "statusMessage"}
"""The fields of a hook whose part in the hash is known."""
_SECONDS = 600
"""The time that Codex gives a hook that names none."""
_LONGEST_END = 3
"""Codex gives no hook longer than this for the end of a session, whatever it names."""


def codex_holds_back(site: Site, role: str, found: Sequence[tuple[InstalledPart, str, str]]) -> tuple[str, str] | None:
    """Why Codex does not use a role that is installed, and what to do; None if it does. Raises UsageError."""
    if role not in (MCP, HOOKS):
        return None
    path = site.at_home(".codex/config.toml")
    text = read_client(path)
    try:
        config = toml_text.parse(text)
    except UsageError as error:
        raise UsageError(f"cannot read {path}: {error.message}", "correct the file") from None
    if site.scope == PROJECT and not _is_trusted(site, config):
        return UNTRUSTED, (
            "Codex ignores .codex/ of a project until you trust it: run `codex exec --trust`, then approve the hooks: "
            "start `codex`, run /hooks"
        )
    if role != HOOKS:
        return None
    states = [_state(hook, config) for hook in _hooks(found)]
    if missing := states.count(PENDING):
        hooks = f"{missing} hook{'' if missing == 1 else 's'}"
        return PENDING, f"Codex skips {hooks} until you approve them: start `codex`, run /hooks"
    if UNKNOWN in states:
        return UNKNOWN, "whether Codex trusts the hooks cannot be computed: start `codex`, and look at /hooks"
    return None


def trusted_hash(event: str, group: Mapping[str, Json], handler: Mapping[str, Json]) -> str | None:
    """The hash by which Codex trusts one handler of a group of hooks; None where it is not known how Codex computes it."""
    matcher, timeout = group.get("matcher"), handler.get("timeout", _SECONDS)
    has_known_fields = set(group) <= {"matcher", "hooks"} and set(handler) <= _HASHED and None not in handler.values()
    if not has_known_fields or handler.get("type") != "command" or not isinstance(timeout, int) or timeout < 1:
        return None
    if matcher is not None and event != "pre_tool_use":
        return None  # some events ignore a matcher, in the hash too
    if event == "session_end":
        timeout = min(timeout, _LONGEST_END)
    identity = {
        "event_name": event,
        "hooks": [{"async": False, **handler, "timeout": timeout}],
        **({} if matcher is None else {"matcher": matcher}),
    }
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def _is_trusted(site: Site, config: Mapping[str, Any]) -> bool:
    return any(
        _at(config, "projects", folder, "trust_level") == "trusted"
        for folder in (site.folder, os.path.realpath(site.folder))
    )


def _state(hook: tuple[str, str, str, str | None], config: Mapping[str, Any]) -> str:
    """PENDING for a hook that is not trusted as it is, UNKNOWN if that cannot be computed, empty for one that is."""
    path, event, place, computed = hook
    entries = [
        _at(config, "hooks", "state", f"{file}:{name}:{place}")
        for file in (path, os.path.realpath(path))
        for name in (event, _snake(event))
    ]
    trusted = [
        str(entry["trusted_hash"])
        for entry in entries
        if isinstance(entry, dict) and entry.get("trusted_hash") and entry.get("enabled", True) is True
    ]
    if not trusted:
        return PENDING
    if computed is None or not any(one.startswith("sha256:") for one in trusted):
        return UNKNOWN
    return "" if computed in trusted else PENDING


def _hooks(found: Sequence[tuple[InstalledPart, str, str]]) -> Iterator[tuple[str, str, str, str | None]]:
    """The file, event, place and hash of each hook of memcli's, as Codex counts them."""
    for part, path, _ in found:
        if not isinstance(part, JsonHook):
            continue
        event = part.path[-1]
        for n, m, group, handler in part.handlers(read_text(path) or ""):
            yield path, event, f"{n}:{m}", trusted_hash(_snake(event), group, handler)


def _snake(event: str) -> str:
    """SessionStart as session_start, which current versions of Codex write."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")


def _at(data: Any, *path: str) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data
