"""The agents: for each scope the parts that an installation has.

To add an agent, add a row to agents.json, and its events to events.py. The fields of a row: `hooks` is the form of an entry, and
`tools` its matcher for tools on files and the shell; `documents` is the month of the documents that the row follows, where the
program itself could not be tried. A part has a `file`, or a folder for skills and scripts; a server is `under` a key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pkgutil import get_data

from memcli.extras.agents.events import BEFORE_TOOL, NATIVE, PROMPT, hook_command
from memcli.extras.agents.parts import (
    HOOKS,
    SKILL,
    InstalledPart,
    InstructionBlock,
    JsonHook,
    JsonValue,
    TomlTable,
    Whole,
)
from memcli.model.memory import Json
from memcli.record import Record, field, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROJECT, USER, LOCAL = SCOPES = ("project", "user", "local")
# The time-out of an entry. `running.py` ends a hook after three, so that the client never has to kill it.
_SECONDS = 5
_NEXT_TURN = " --next-turn"
_SERVER: Mapping[str, Json] = {"command": "memcli", "args": ["mcp"]}


def _data(name: str) -> str:
    return (get_data(__package__, name) or b"").decode()


INSTRUCTIONS = _data("texts/instructions.md")
SKILL_TEXT = _data("texts/skill.md")
PLUGIN = _data("texts/plugin.js")
# The plugin has one list of words for all hooks, so the option reaches each of them; all but that for prompts ignore it.
PLUGIN_NEXT_TURN = PLUGIN.replace('"opencode"]', '"opencode", "--next-turn"]', 1)
"""The plugin as installed with `--next-turn`."""


class Agent(Record):
    """An agent. `scopes` has the parts for each scope that it supports; `notes` has by scope a note for the user;
    `documents` is the month of the documents that they follow, where the program itself could not be tried."""

    name: str
    title: str
    scopes: Mapping[str, tuple[InstalledPart, ...]]
    notes: Mapping[str, str] = field(default_factory=dict)
    documents: str = ""

    def supports(self, role: str) -> bool:
        """Whether there is a part of this role in any scope."""
        return any(part.role == role for parts in self.scopes.values() for part in parts)


def _agent(name: str, row: Mapping[str, Any]) -> Agent:
    scopes = {
        scope: tuple(part for one in parts for part in _parts(name, row, one)) for scope, parts in row["scopes"].items()
    }
    return Agent(name, row["title"], scopes, row.get("notes", {}), row.get("documents", ""))


def _parts(name: str, row: Mapping[str, Any], one: Mapping[str, Any]) -> Iterator[InstalledPart]:
    """The parts that one entry of a row declares."""
    file = one["file"]
    events = {native: event for event, native in NATIVE.get(name, {}).items()}
    match one["part"]:
        case "instructions":
            yield InstructionBlock(file, INSTRUCTIONS)
        case "import":
            yield InstructionBlock(file, one["line"], unless=one["line"])
        case "server":
            yield JsonValue(file, (one["under"], "memcli"), one.get("server", dict(_SERVER)))
        case "toml server":
            yield TomlTable(file, (one["under"], "memcli"), _SERVER)
        case "default":
            yield JsonValue(file, (one["key"],), one["value"], one.get("role", HOOKS), is_default=True)
        case "skill":
            yield Whole(f"{file}/memcli/SKILL.md", SKILL_TEXT, SKILL, "name: memcli\n")
        case "plugin":
            yield Whole(file, PLUGIN, HOOKS, "// Written by memcli")
        case "hooks" | "hook":  # in a JSON file, for each event of the agent or for one
            for native, event in {one["name"]: one["event"]}.items() if "name" in one else events.items():
                yield JsonHook(file, ("hooks", native), _entry(name, row, event), hook_command(event, name))
        case "retired hook":
            yield JsonHook(file, ("hooks", one["name"]), {}, hook_command(one["event"], name), is_retired=True)
        case "scripts":  # in a folder, for each event of the agent
            head = f"#!/bin/sh\n# Written by memcli: `memcli agent uninstall {name}` removes this file.\n"
            for native, event in {**events, **one["also"]}.items():
                command = hook_command(event, name)
                yield Whole(f"{file}/{native}", f"{head}exec {command}\n", HOOKS, command, True)


def _entry(name: str, row: Mapping[str, Any], event: str) -> Mapping[str, Json]:
    """The entry of one hook, in the form that the agent reads."""
    command = hook_command(event, name)
    entry: dict[str, Json]
    match row["hooks"]:
        case "grouped":
            # Gemini CLI reads milliseconds.
            timeout = _SECONDS * 1000 if row.get("milliseconds") else _SECONDS
            # Also for the end of a session: without a limit of theirs, Claude Code gives all of its hooks 1.5 s
            # together.
            entry = {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}
        case "flat":
            entry = {"command": command, "timeout": _SECONDS}
        case "shells":  # Copilot denies every tool call while a hook before it fails, as where memcli is not installed
            shells = {"bash": f"{command} || true", "powershell": f"{command}; exit 0"}
            entry = {"type": "command", **shells, "timeoutSec": _SECONDS}
        case _:
            entry = {"command": command, "show_output": False}
    return {"matcher": row["tools"], **entry} if event == BEFORE_TOOL else entry


AGENTS: Mapping[str, Agent] = {name: _agent(name, row) for name, row in json.loads(_data("agents.json")).items()}


def parts_of(name: str, scope: str, *, next_turn: bool = False) -> tuple[InstalledPart, ...]:
    """The parts of an agent in a scope; with `next_turn`, its hook for prompts does not wait for a search."""
    parts = AGENTS[name].scopes.get(scope, ())
    return tuple(with_next_turn(part, name) for part in parts) if next_turn else parts


def with_next_turn(part: InstalledPart, name: str) -> InstalledPart:
    """The part with the command of its hook for prompts extended, if it has one."""
    command = hook_command(PROMPT, name)
    if isinstance(part, JsonHook) and part.command == command:
        return replace(part, entry=_extended(dict(part.entry), command))
    if isinstance(part, Whole) and part.mark == command:
        return replace(part, text=part.text.replace(command, command + _NEXT_TURN))
    if isinstance(part, Whole) and part.text == PLUGIN:
        return replace(part, text=PLUGIN_NEXT_TURN)
    return part


def _extended(value: Any, command: str) -> Any:
    """A value of JSON with the command extended in all its texts."""
    if isinstance(value, dict):
        return {name: _extended(inner, command) for name, inner in value.items()}
    if isinstance(value, list):
        return [_extended(inner, command) for inner in value]
    return value.replace(command, command + _NEXT_TURN) if isinstance(value, str) else value
