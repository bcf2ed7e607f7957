"""What an agent passes to a hook on standard input, whichever names its fields have."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memcli.errors import UsageError
from memcli.model.edits import FileEdit
from memcli.record import Record

MAX_BYTES = 4 << 20
_MAX_NAME = 200
_MAX_LINES = 2_000
_MAX_LINE = 1_000
_MAX_FILES = 20

_SESSION = (
    "session_id", "sessionId", "sessionID", "conversation_id", "conversationId", "rootSessionId", "taskId",
    "trajectory_id",
)  # fmt: skip
_SUBAGENT = ("agent_id", "agentId")
_FOLDER = ("cwd", "workspace_roots", "workspaceRoots")
_PROMPT = ("prompt", "user_prompt")
_TRANSCRIPT = ("agent_transcript_path", "transcript_path", "transcriptPath")
_TEXT = ("compact_summary", "last_assistant_message", "prompt_response", "response")
_TOOL = ("tool_input", "toolArgs", "parameters", "tool_info")
_NESTED = ("userPromptSubmit", "preToolUse", "postToolUse", "taskStart", "taskComplete", "tool_info", "sessionContext")
"""Fields that hold the fields of one event."""
_FILE = (
    "file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "file", "files", "file_paths",
)  # fmt: skip
_NEW_TEXT = ("content", "contents", "new_string", "newString", "new_str", "file_text", "new_source", "text")
_PATCH = ("patch", "input", "command")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_HUMAN = ("", "user", "sdk")


class Payload(Record, kw_only=True):
    """The fields of a call. Texts are empty where the agent does not report them; `source` is why a session starts, or
    where a prompt comes from."""

    session: str = ""
    cwd: str = ""
    prompt: str = ""
    source: str = ""
    transcript: str = ""
    text: str = ""
    tool: Mapping[str, Any] = {}
    is_repeat: bool = False

    @property
    def is_of_a_person(self) -> bool:
        """Whether a person wrote the prompt."""
        return self.source in _HUMAN


def read_payload(data: bytes) -> Payload:
    """The fields in `data`. Raises UsageError if it is too large, or not a JSON object."""
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
    return Payload(
        session=f"{session}/{subagent}" if subagent else session,
        cwd=_text(fields, _FOLDER),
        prompt=_text(fields, _PROMPT),
        source=_text(fields, ("source",))[:_MAX_NAME],
        transcript=_text(fields, _TRANSCRIPT),
        text=_text(fields, _TEXT),
        tool=_tool(fields),
        is_repeat=fields.get("stop_hook_active") is True,
    )


def edits_of(payload: Payload, base: str) -> tuple[FileEdit, ...]:
    """What a tool is about to do to files below the folder `base`, with the lines that it adds, as far as the call says."""
    patches = [text for name in _PATCH for text in _texts(payload.tool.get(name)) if "*** " in text]
    named = [text for name in _FILE for text in _texts(payload.tool.get(name))]
    named += [part for patch in patches for found in _PATCHED.findall(patch) for part in found if part]
    added = list(_added(payload.tool, patches))[:_MAX_LINES]
    lines = tuple((n, line[:_MAX_LINE]) for n, line in enumerate(added, 1))
    files = dict.fromkeys(_inside(name, payload.cwd or base, base) for name in named[:_MAX_FILES])
    return tuple(FileEdit(file, file, lines, is_whole=True) for file in files if file)


def _added(tool: Mapping[str, Any], patches: Sequence[str]) -> Iterator[str]:
    for patch in patches:
        yield from (line[1:] for line in patch.splitlines() if line.startswith("+"))
    for fields in (tool, *(_object(edit) for edit in _list(tool.get("edits")))):
        for name in _NEW_TEXT:
            for text in _texts(fields.get(name)):
                yield from text.splitlines()


def _inside(name: str, cwd: str, base: str) -> str:
    """The path of a file from `base`, with slashes; empty for one elsewhere."""
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
    return {}


def _text(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of the fields that is a text, or a list that begins with one."""
    for name in names:
        for text in _texts(fields.get(name)):
            return text
    return ""


def _texts(value: Any) -> list[str]:
    """The texts in a value, which may be one or a list, as valid UTF-8."""
    texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str) and text.strip()]
    return [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
