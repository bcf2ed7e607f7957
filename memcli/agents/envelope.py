"""The exact form in which each agent takes text from a hook."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from memcli.agents.events import NATIVE, PROMPT
from memcli.model.memory import Json


def wrap(agent: str, event: str, text: str) -> str:
    """What to print for an event of an agent; empty for no text, and where the agent takes none."""
    name = NATIVE.get(agent, {}).get(event)
    form = _FORMS.get(agent)
    return form(event, name, text) if text and name and form else ""


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
