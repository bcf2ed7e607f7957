"""A context window as the list of messages that a provider's interface takes."""

from __future__ import annotations

from itertools import groupby

from memcli.conversation.items import MESSAGES, SYSTEM, Item
from memcli.conversation.window import ContextWindow
from memcli.model.memory import Json
from memcli.render.as_window import OPENING, block, content, recalled


def openai(window: ContextWindow, space: str) -> list[Json]:
    """`{role, content}` each, a system message first if there is anything for it. What tools put out stands in a user's
    message, marked, so that the list needs no ids of calls.
    """
    system = _system(window, space)
    return [
        *([{"role": "system", "content": system}] if system else []),
        *({"role": _role(item), "content": content(item)} for item in window.of(MESSAGES)),
    ]


def anthropic(window: ContextWindow, space: str) -> dict[str, Json]:
    """`{system, messages}`: the messages alternate, beginning with the user's; `system` is left out where it is empty."""
    turns = [
        {"role": role, "content": "\n\n".join(content(item) for item in items)}
        for role, items in groupby(window.of(MESSAGES), key=_role)
    ]
    if turns and turns[0]["role"] != "user":
        turns.insert(0, {"role": "user", "content": OPENING})
    system = _system(window, space)
    return {**({"system": system} if system else {}), "messages": turns}


def _system(window: ContextWindow, space: str) -> str:
    return "\n\n".join([*map(block, window.of(SYSTEM)), *recalled(window, space)])


def _role(item: Item) -> str:
    return "assistant" if item.role == "assistant" else "user"
