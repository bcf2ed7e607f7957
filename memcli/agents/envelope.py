"""The exact form in which each agent takes text from a hook, and the refusal of a tool call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from memcli.agents.events import BEFORE_TOOL, BEFORE_TOOL_OF_GEMINI, NATIVE, PROMPT
from memcli.model.memory import Json


def wrap(agent: str, event: str, text: str) -> str:
    """What to print for an event of an agent; empty for no text, and where the agent takes none."""
    name = NATIVE.get(agent, {}).get(event)
    form = _FORMS.get(agent)
    return form(event, name, text) if text and name and form else ""


def refuse(agent: str, reason: str) -> str:
    """What to print to have the agent refuse a tool call; empty if it cannot."""
    form = _REFUSALS.get(agent)
    return json.dumps(form(reason)) if form else ""


def can_refuse(agent: str, native: str) -> bool:
    """Whether the agent takes a refusal from the hook that it calls `native`."""
    return agent in _REFUSALS and (agent != "gemini" or native == BEFORE_TOOL_OF_GEMINI)


def _plain(_event: str, _name: str, text: str) -> str:
    return f"{text}\n"


def _claude(_event: str, name: str, text: str) -> str:
    return json.dumps(_specific(name, text))


def _cursor(event: str, _name: str, text: str) -> str:
    return json.dumps({**({"continue": True} if event == PROMPT else {}), "additional_context": text})


def _copilot(_event: str, name: str, text: str) -> str:
    """Its command line reads the field at the top, VS Code the one below."""
    return json.dumps({"additionalContext": text, **_specific(name, text)})


def _cline(_event: str, _name: str, text: str) -> str:
    return json.dumps({"cancel": False, "contextModification": text})


def _specific(name: str, text: str) -> dict[str, Json]:
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


_FORMS: Mapping[str, Callable[[str, str, str], str]] = {
    "claude": _claude, "codex": _claude, "gemini": _claude, "cursor": _cursor, "copilot": _copilot, "cline": _cline,
    "opencode": _plain, "generic": _plain,
}  # fmt: skip


def _refusal_of_claude(reason: str) -> dict[str, Json]:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": NATIVE["claude"][BEFORE_TOOL], **decision}}


def _refusal_of_copilot(reason: str) -> dict[str, Json]:
    return {"permissionDecision": "deny", "permissionDecisionReason": reason, **_refusal_of_claude(reason)}


_REFUSALS: Mapping[str, Callable[[str], dict[str, Json]]] = {
    "claude": _refusal_of_claude, "codex": _refusal_of_claude, "copilot": _refusal_of_copilot,
    "cursor": lambda reason: {"permission": "deny", "user_message": reason, "agent_message": reason},
    "gemini": lambda reason: {"decision": "deny", "reason": reason},
    "opencode": lambda reason: {"deny": reason},
}  # fmt: skip
"""The agents that can refuse a tool call; the plugin for opencode throws the reason."""
