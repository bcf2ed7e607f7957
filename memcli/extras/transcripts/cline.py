"""Sessions of Cline: one object with all messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.content import OpenCalls, plain, split, without_reminders
from memcli.extras.transcripts.transcript import ConversationInfo, Said
from memcli.extras.transcripts.values import dict_of, list_of, moment, text_of

SOURCE = "cline"
_INPUT = re.compile(r"\s*<user_input\b[^<>]*>(.*)</user_input>\s*\Z", re.DOTALL)
_FAILED = '"success":false'
"""What the result of a tool that failed has, which is JSON in a text: in a text within it, quotes are escaped."""


def is_cline(values: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a session of Cline."""
    return isinstance(values.get("messages"), list) and "sessionId" in values and "agent" in values


def about_cline(values: Mapping[str, Any]) -> ConversationInfo:
    """What the session says of itself."""
    first = next((dict_of(one) for one in list_of(values.get("messages"))), {})
    return ConversationInfo(text_of(values.get("sessionId")), "", moment(first.get("ts")))


def read_cline(values: Mapping[str, Any], skipped: Counter[str]) -> Iterator[Said]:
    """The messages of the session."""
    calls = OpenCalls(skipped)
    for one in map(dict_of, list_of(values.get("messages"))):
        role, at, key = text_of(one.get("role")), one.get("ts"), text_of(one.get("id"))
        content = split(one.get("content"), skipped)
        for block in map(dict_of, list_of(one.get("content"))):
            if block.get("type") == "tool_result":
                output = plain(block.get("content"))
                failed = block.get("is_error") is True or _FAILED in output
                calls.finish(text_of(block.get("tool_use_id")), output if failed else "", failed=failed)
        if reason := _reason(role, one):
            skipped[reason] += 1
            continue
        text = _typed(content.text) if role == "user" else content.text
        if text:
            yield from calls.flush()
            yield Said(role, text, at, key=key)
        elif content.text:
            skipped[reasons.INJECTED] += 1
        for call, what in content.calls:
            yield from calls.begin(call, what, at)
    yield from calls.flush()


def _reason(role: str, one: Mapping[str, Any]) -> str:
    """Why a message is none of the conversation."""
    if role not in ("user", "assistant"):
        return reasons.SYSTEM if role == "system" else reasons.ROLE
    is_of_system = dict_of(one.get("metadata")).get("displayRole") == "system"
    return reasons.INJECTED if is_of_system else ""


def _typed(text: str) -> str:
    """What the user typed of a message."""
    own = without_reminders(text)
    found = _INPUT.match(own)
    return (found[1] if found else own).strip()
