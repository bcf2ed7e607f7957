"""The events that hooks of agents report, and what each agent calls them."""

from __future__ import annotations

from collections.abc import Mapping

SESSION_START, SUBAGENT_START, PROMPT, BEFORE_TOOL, AFTER_COMPACTION, STOP, SESSION_END = EVENTS = (
    "session-start", "subagent-start", "prompt", "before-tool", "after-compaction", "stop", "session-end",
)  # fmt: skip

_AS_CLAUDE = {
    SESSION_START: "SessionStart", SUBAGENT_START: "SubagentStart", PROMPT: "UserPromptSubmit",
    BEFORE_TOOL: "PreToolUse", AFTER_COMPACTION: "PostCompact", STOP: "Stop",
    SESSION_END: "SessionEnd",
}  # fmt: skip

NATIVE: Mapping[str, Mapping[str, str]] = {
    "claude": _AS_CLAUDE,
    "codex": _AS_CLAUDE,
    "cursor": {
        SESSION_START: "sessionStart", PROMPT: "beforeSubmitPrompt", BEFORE_TOOL: "preToolUse",
        AFTER_COMPACTION: "preCompact", STOP: "stop", SESSION_END: "sessionEnd",
    },
    "copilot": {**_AS_CLAUDE, AFTER_COMPACTION: "PreCompact"},
    "gemini": {  # takes text only after a tool, which for reading a file is before the edit
        SESSION_START: "SessionStart", PROMPT: "BeforeAgent", BEFORE_TOOL: "AfterTool", STOP: "AfterAgent",
        SESSION_END: "SessionEnd",
    },
    "opencode": {  # by the plugin that memcli installs
        SESSION_START: "session.created", PROMPT: "chat.message", BEFORE_TOOL: "tool.execute.before",
        AFTER_COMPACTION: "session.compacted", STOP: "session.idle",
    },
    "windsurf": {STOP: "post_cascade_response"},  # takes no text
    "cline": {
        SESSION_START: "TaskStart", PROMPT: "UserPromptSubmit", BEFORE_TOOL: "PreToolUse",
        AFTER_COMPACTION: "PreCompact", SESSION_END: "TaskComplete",
    },
    "generic": {event: event for event in EVENTS},
}  # fmt: skip
"""The events of each agent that has hooks, by the agent's own names."""

BEFORE_TOOL_OF_GEMINI = "BeforeTool"
"""Gemini takes no text here, but a refusal."""
RETIRED = ("gemini", AFTER_COMPACTION)
"""An event that older installations report: Gemini calls `PreCompress` before every request, compacted or not."""
DEFERRED_START = frozenset(("cline",))
"""Agents that ignore what is printed when a session starts: they get it with the first event whose text they take."""
COPILOT_HOOKS = "hooks/memcli.json"
"""In `.github` of a project, and in Copilot's folder of the home directory."""


def last_event(agent: str) -> str:
    """The last event that an agent reports of a session: its end, or else the end of each turn."""
    return SESSION_END if SESSION_END in NATIVE.get(agent, EVENTS) else STOP


def hook_command(event: str, agent: str) -> str:
    """The command of a hook. It never changes: some agents trust a hook by its text."""
    return f"memcli hook run {event} --agent {agent}"
