"""The events that hooks of agents report, and what each agent calls them."""

from __future__ import annotations

from collections.abc import Mapping

SESSION_START, SUBAGENT_START, PROMPT, BEFORE_TOOL, AFTER_COMPACTION, STOP, SESSION_END = EVENTS = (
    "session-start", "subagent-start", "prompt", "before-tool", "after-compaction", "stop", "session-end",
)  # fmt: skip

_AS_CLAUDE = {
    SESSION_START: "SessionStart", SUBAGENT_START: "SubagentStart", PROMPT: "UserPromptSubmit",
    BEFORE_TOOL: "PreToolUse", AFTER_COMPACTION: "PostCompact", STOP: "Stop",
}  # fmt: skip

NATIVE: Mapping[str, Mapping[str, str]] = {
    "claude": {**_AS_CLAUDE, SESSION_END: "SessionEnd"},
    "codex": _AS_CLAUDE,
    "cursor": {
        SESSION_START: "sessionStart", PROMPT: "beforeSubmitPrompt", BEFORE_TOOL: "preToolUse",
        AFTER_COMPACTION: "preCompact", STOP: "stop", SESSION_END: "sessionEnd",
    },
    "copilot": {  # takes no text for a prompt
        SESSION_START: "SessionStart", SUBAGENT_START: "SubagentStart", BEFORE_TOOL: "PreToolUse",
        AFTER_COMPACTION: "PreCompact", STOP: "Stop", SESSION_END: "SessionEnd",
    },
    "gemini": {  # takes text only after a tool, which for reading a file is before the edit
        SESSION_START: "SessionStart", PROMPT: "BeforeAgent", BEFORE_TOOL: "AfterTool",
        AFTER_COMPACTION: "PreCompress", STOP: "AfterAgent", SESSION_END: "SessionEnd",
    },
    "opencode": {  # by the plugin that memcli installs
        SESSION_START: "session.created", PROMPT: "chat.message", BEFORE_TOOL: "tool.execute.after",
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


def hook_command(event: str, agent: str) -> str:
    """The command of a hook. It never changes: some agents trust a hook by its text."""
    return f"memcli hook run {event} --agent {agent}"
