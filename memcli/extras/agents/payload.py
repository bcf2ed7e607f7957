"""The payload that an agent passes to a hook on standard input, by the field names of each agent; the edits and the caller
that it describes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from memcli.errors import UsageError
from memcli.extras.agents.events import BEFORE_TOOL, COPILOT_HOOKS, DEFERRED_START, RETIRED, hook_command
from memcli.model.anchors import FileEdit
from memcli.record import Record
from memcli.regex import regex
from memcli.store.atomic import read_regular
from memcli.store.layout import find_work_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_BYTES = 4 << 20
# Recall reads no more of a prompt.
MOST_PIPED = 20_000
"""The most characters of a prompt that are passed to the process that prepares the next turn."""
_MAX_NAME = 200
_MOST_LINES = 100_000  # of all files: more could not be checked in time

# Of Cline the root session counts: the ids of its tasks and agents are new for each run.
_SESSION = (
    "session_id", "sessionId", "sessionID", "conversation_id", "conversationId", "rootSessionId", "taskId",
    "trajectory_id",
)  # fmt: skip
_SUBAGENT = ("agent_id", "agentId")
_FOLDER = ("cwd", "workspace_roots", "workspaceRoots")
_PROMPT = ("prompt", "user_prompt")
_TRANSCRIPT = ("agent_transcript_path", "transcript_path", "transcriptPath")
# The last message comes with the call: the transcript of Claude Code lags behind at the end of a turn.
_TEXT = ("compact_summary", "last_assistant_message", "prompt_response", "outputText", "response")
_TOOL = ("tool_input", "toolArgs", "parameters", "tool_info")
_TOOL_NAME = ("tool_name", "toolName")
_READING_TOOL = regex(r"(?i)(?:read|view|list|grep|glob|search(?!_?replace))")
_NESTED = (
    "userPromptSubmit", "preToolUse", "postToolUse", "taskStart", "taskComplete", "tool_info", "turn",
    "sessionContext",
)  # fmt: skip
"""Fields whose value is an object with the fields of one event."""
_FILE = (
    "file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "file", "files", "file_paths",
)  # fmt: skip
_NEW_TEXT = (
    "content", "contents", "new_string", "newString", "new_str", "new_text", "file_text", "new_source", "text",
)  # fmt: skip
_COMMAND = ("command", "cmd", "commands")
# opencode gives models of OpenAI a tool for patches in place of those for editing, with the field `patchText`.
_PATCH = ("patch", "patchText", "input")
_COMMAND_FOLDER = ("workdir", "cwd", "dir_path", "directory")
_PATCH_BODY = regex(
    r"^\*\*\* (?:Begin Patch|Add|Update|Delete).*?(?:^\*\*\* End Patch\s*?$|\Z)", re.MULTILINE | re.DOTALL
)
_PATCHED = regex(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
# The quotes inside of a text are escaped, so that no value looks like this field.
_EVENT = regex(rb'"hook_event_name"\s*:\s*"(\w{1,40})"')
# The output of hooks, which Gemini puts before a prompt, with every `<` in it escaped.
_HOOK_CONTEXT = regex(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
# Claude Code also submits prompts of its own, with sources such as `system` and `loop_wakeup`.
_HUMAN = ("", "user", "sdk")
"""The sources of prompts that a person wrote."""


class Payload(Record, kw_only=True):
    """The fields of a call. Texts are empty where the agent does not report them; `native` is the agent's name of the event,
    `source` the reason of a session start, or the origin of a prompt. `is_stamped`: the call has a timestamp."""

    session: str = ""
    cwd: str = ""
    prompt: str = ""
    source: str = ""
    transcript: str = ""
    text: str = ""
    native: str = ""
    tool: Mapping[str, Any] = {}
    tool_name: str = ""
    is_stamped: bool = False

    @property
    def is_human(self) -> bool:
        """Whether a person wrote the prompt, as far as the agent reports its origin."""
        return self.source in _HUMAN

    @property
    def may_change(self) -> bool:
        """Whether the tool may change files: its name is not that of a tool that reads or lists them."""
        return not _READING_TOOL.match(self.tool_name)


def read_payload(data: bytes) -> Payload:
    """The fields of a JSON object. Raises UsageError if `data` is too large, or no JSON object."""
    if len(data) > MAX_BYTES:
        raise UsageError(f"more than {MAX_BYTES >> 20} MB on standard input")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise UsageError("standard input is not JSON" if data.strip() else "standard input is empty") from None
    if not isinstance(found, dict):
        raise UsageError("standard input is not a JSON object")
    fields = {**{k: v for name in _NESTED for k, v in _object(found.get(name)).items()}, **found}
    session, subagent = (_text(fields, names)[:_MAX_NAME] for names in (_SESSION, _SUBAGENT))
    if "parent_agent_id" in fields and not fields["parent_agent_id"]:  # Cline's main agent has an id too
        subagent = ""
    prompt = _text(fields, _PROMPT)
    while (found_context := _HOOK_CONTEXT.match(prompt)) is not None:
        prompt = prompt[found_context.end() :]
    return Payload(
        # A subagent has a context of its own, so that what its session was shown is new to it.
        session=f"{session}/{subagent}" if subagent else session,
        cwd=_text(fields, _FOLDER),
        prompt=prompt,
        source=_text(fields, ("source",))[:_MAX_NAME],
        transcript=_text(fields, _TRANSCRIPT),
        text=_text(fields, _TEXT),
        native=_text(fields, ("hook_event_name", "hookEventName"))[:_MAX_NAME],
        tool=_tool(fields),
        tool_name=_text(fields, _TOOL_NAME)[:_MAX_NAME],
        is_stamped="timestamp" in fields,
    )


def native_of(data: bytes) -> str:
    """The agent's name of the event in a payload that cannot be read, or empty."""
    return found[1].decode() if (found := _EVENT.search(data)) else ""


def caller_of(agent: str, event: str, payload: Payload, environ: Mapping[str, str]) -> str | None:
    """The agent whose output format the answer needs; None if another hook answers the same call."""
    # Copilot also runs the hooks of Claude Code's settings. It then passes a timestamp, which Claude Code does not.
    if agent != "claude" or not payload.is_stamped:
        return agent
    home = os.path.expanduser("~")
    folders = [environ.get("COPILOT_HOME") or os.path.join(home, ".copilot")]
    if project := find_work_tree(payload.cwd, home) if payload.cwd and "\0" not in payload.cwd else None:
        folders.append(os.path.join(project, ".github"))
    own = hook_command(event, "copilot").encode()
    for folder in folders:
        with suppress(OSError):
            # A pipe in the place of the file must not block the hook until its time is up.
            if own in (read_regular(os.path.join(folder, COPILOT_HOOKS), MAX_BYTES) or b""):
                return None
    return "copilot"


def is_idle(agent: str, event: str, payload: Payload) -> bool:
    """Whether the call needs no answer: a retired event, or a shell command that only reads files."""
    # An agent of DEFERRED_START may still need the memories for its start, whatever the tool does.
    if event != BEFORE_TOOL or agent in DEFERRED_START:
        return (agent, event) == RETIRED
    commands = commands_of(payload)
    if not commands:
        return False
    from memcli.extras.agents.shell import read_command

    return all(only_reads for _, only_reads in map(read_command, commands))


def edits_of(payload: Payload, base: str) -> tuple[FileEdit, ...]:
    """The edits that a tool is about to make to files below the folder `base`, with the lines that it adds.

    The lines of a shell command count as added to each file that it changes, or to a file without a name if it changes none.
    Raises UsageError if there are too many to check in time.
    """
    tool, commands = payload.tool, commands_of(payload)
    # Codex also passes patches to a program in a shell, as a heredoc.
    given = [*(text for name in _PATCH for text in _texts(tool.get(name))), *_command_texts(tool)]
    patches = [body for text in given for body in _PATCH_BODY.findall(text)]
    named = [text for name in _FILE for text in _paths(tool.get(name))]
    named += [part for patch in patches for found in _PATCHED.findall(patch) for part in found if part]
    folder = os.path.join(payload.cwd or base, _text(tool, _COMMAND_FOLDER) if commands else "")
    if commands:
        from memcli.extras.agents.shell import read_command

        named += [file for command in commands for file in read_command(command)[0]]
    added = [line[1:] for patch in patches for line in patch.splitlines() if line.startswith("+")]
    replaced = tool.get("edits")
    for fields in (tool, *map(_object, replaced if isinstance(replaced, list) else ())):
        added += [line for name in _NEW_TEXT for text in _texts(fields.get(name)) for line in text.splitlines()]
    added += [line for text in commands for line in _PATCH_BODY.sub("", text).splitlines()]
    named = list(dict.fromkeys(named))
    if max(1, len(named)) * (len(added) + 20) > _MOST_LINES:  # a file takes as long as 20 lines
        raise UsageError(f"{len(added):,} lines in {len(named):,} files are too many")
    lines = tuple(enumerate(added, 1))
    inside = dict.fromkeys(_inside(name, folder, base) for name in named)
    files = [file for file in inside if file] or ([""] if commands else [])
    return tuple(FileEdit(file, file, lines, is_whole=True) for file in files)


def commands_of(payload: Payload) -> list[str]:
    """The commands that a tool is about to run in a shell."""
    return [text for text in _command_texts(payload.tool) if not text.lstrip().startswith("*** ")]


def _command_texts(tool: Mapping[str, Any]) -> list[str]:
    """The texts in the fields for commands, some of which may be patches."""
    # With a file, `command` names the operation of an editing tool, such as `create`.
    if any(tool.get(name) for name in _FILE):
        return []
    words = tool.get("command")
    if isinstance(words, list):
        from shlex import join

        return [join(_texts(words))]
    return [text for name in _COMMAND for text in _texts(_listed(tool.get(name)))]


def _inside(name: str, cwd: str, base: str) -> str:
    """The path of a file relative to `base`, with slashes; empty for a file outside of it."""
    if "\0" in name:
        return ""
    path = os.path.realpath(os.path.join(cwd, name.strip()))
    inside = os.path.relpath(path, os.path.realpath(base))
    return "" if inside == os.curdir or inside.split(os.sep)[0] == os.pardir else inside.replace(os.sep, "/")


def _tool(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a tool, which may be JSON in a string."""
    for name in _TOOL:
        value = fields.get(name)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                value = {"input": value}
        if isinstance(value, dict):
            return value
    return {name: fields[name] for name in _COMMAND if name in fields}


def _text(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of the fields that is a text, or a list that begins with one."""
    for name in names:
        for text in _texts(fields.get(name)):
            return text
    return ""


def _paths(value: Any) -> list[str]:
    """The paths in a value, which may be one, a list, or a list of objects with a path."""
    # Cline passes a list of files as JSON in a text.
    value = _listed(value)
    if not isinstance(value, list):
        return _texts(value)
    return [text for one in value for text in _texts(one.get("path") if isinstance(one, dict) else one)]


def _listed(value: Any) -> Any:
    """The value; the list, if it is a text with a JSON list."""
    if isinstance(value, str) and value.startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _texts(value: Any) -> list[str]:
    """The texts in a value, which may be one or a list, as valid UTF-8."""
    texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str) and text.strip()]
    return [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
