"""The events that agents run hooks for, each agent's name for them, and the exact output that each agent reads."""

from __future__ import annotations

import json
from collections.abc import Mapping

from memcli.model.memory import Json

SESSION_START, SUBAGENT_START, PROMPT, BEFORE_TOOL, AFTER_COMPACTION, STOP, SESSION_END = EVENTS = (
    "session-start", "subagent-start", "prompt", "before-tool", "after-compaction", "stop", "session-end",
)  # fmt: skip

_AS_CLAUDE = {
    SESSION_START: "SessionStart", SUBAGENT_START: "SubagentStart", PROMPT: "UserPromptSubmit",
    # `PostCompact` reports the summary of a compaction, which `PreCompact` does not have.
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

# The event of Gemini that takes a refusal, but no text.
BEFORE_TOOL_OF_GEMINI = "BeforeTool"
# Gemini runs `PreCompress` before every request, compacted or not.
RETIRED = ("gemini", AFTER_COMPACTION)
"""The agent and the event of a hook that older versions installed."""
# Agents that ignore the output of a hook at session start; they get it with the first event whose output they read.
DEFERRED_START = frozenset(("cline",))
COPILOT_HOOKS = "hooks/memcli.json"
"""The file with Copilot's hooks, in `.github` of a project and in Copilot's folder of the home directory."""


def last_event(agent: str) -> str:
    """The event that ends a session for an agent: the end of the session, or that of each turn if it reports no other."""
    return SESSION_END if SESSION_END in NATIVE.get(agent, EVENTS) else STOP


def hook_command(event: str, agent: str) -> str:
    """The command of the hook for an event."""
    # This text must never change: Codex trusts a hook by a hash of it, and skips a changed one silently.
    return f"memcli hook run {event} --agent {agent}"


def wrap(agent: str, event: str, text: str) -> str:
    """The output that injects `text` for an event of an agent, in the exact form that it reads; empty for no text, and where
    the event takes none."""
    name = NATIVE.get(agent, {}).get(event)
    if not text or not name:
        return ""
    form: dict[str, Json]
    match agent:
        case "opencode" | "generic":
            # The plugin that memcli installs for opencode puts the text where it belongs.
            return f"{text}\n"
        case "claude" | "codex" | "gemini":
            # The field at the top of the output is dropped by Claude Code without a word.
            form = _specific(name, additionalContext=text)
        case "cursor":
            form = {**({"continue": True} if event == PROMPT else {}), "additional_context": text}
        case "copilot":  # its command line reads the field at the top, VS Code the one below
            form = {"additionalContext": text, **_specific(name, additionalContext=text)}
        case "cline":
            form = {"cancel": False, "contextModification": text}
        case _:
            return ""
    return json.dumps(form)


def refuse(agent: str, native: str, reason: str) -> str:
    """The output that makes an agent refuse a tool call; empty if its event `native` takes no refusal."""
    decision: dict[str, Json] = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    form: dict[str, Json]
    match agent:
        case "claude" | "codex":
            form = _specific(NATIVE[agent][BEFORE_TOOL], **decision)
        case "copilot":
            form = {**decision, **_specific(NATIVE[agent][BEFORE_TOOL], **decision)}
        case "cursor":
            form = {"permission": "deny", "user_message": reason, "agent_message": reason}
        case "gemini" if native == BEFORE_TOOL_OF_GEMINI:
            form = {"decision": "deny", "reason": reason}
        case "opencode":  # memcli's plugin for it throws the reason
            form = {"deny": reason}
        case _:
            return ""
    return json.dumps(form)


def _specific(name: str, **fields: Json) -> dict[str, Json]:
    return {"hookSpecificOutput": {"hookEventName": name, **fields}}
