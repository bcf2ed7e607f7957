"""Sessions of Gemini CLI: messages that are written again, taken back, or not of the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memcli.extras.transcripts import gemini
from tests.extras.transcripts.conftest import Case, check
from tests.extras.transcripts.writers import at

HEAD = {"sessionId": "g", "projectHash": "0a", "startTime": at(0)}


def user(key: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": at(1), "type": "user", "content": content, **more}


def model(key: str, content: Any, **more: Any) -> dict[str, Any]:
    return {**user(key, content, **more), "type": "gemini"}


CALL = {"id": "c", "name": "read_file", "args": {"file_path": "a.py"}, "status": "executing"}
CASES: Mapping[str, Case] = {
    "a message that is written again keeps its place": (
        [user("1", "a"), model("2", "Let me see.", toolCalls=[CALL]),
         user("3", [{"functionResponse": {"id": "c", "response": {"output": "x"}}}]),
         model("2", "Let me see.", toolCalls=[{**CALL, "status": "error", "resultDisplay": "no such file"}]),
         model("4", [{"text": "It is", "thought": True}, {"text": "gone."}])],
        ["a", "Let me see.", "ran: read_file a.py (failed): no such file", "gone."], {"repeated event": 1},
    ),
    "what was taken back": (
        [user("1", "a"), model("2", "b"), user("3", "c"), {"$rewindTo": "2"}, {"$rewindTo": "3"}, user("4", "d")],
        ["a", "d"], {"other branch": 2},
    ),
    "a compaction": (
        [user("1", "a"), {"$set": {"messages": [user("9", "<state_snapshot>So far.</state_snapshot>"), model("10", "Got it.")]}},
         user("2", "b")], ["a", "b"], {},
    ),
    "context of a hook": ([user("1", "<hook_context>&lt;memory-1&gt;x&lt;/memory-1&gt;</hook_context>\n\nWhy?")], ["Why?"], {}),
    "a type that is no text": ([{"id": "1", "type": []}, user("2", "b")], ["b"], {"no message": 2}),
    "context that is cut off": ([user("1", [{"text": "Why?"}, {"text": '<hook_context id="1">cut off'}])], ["Why?"], {}),
    "context of a session": ([user("1", [{"text": "<session_context>\nToday is Friday.\n</session_context>"}])], [], {}),
    "what is displayed": (
        [user("1", [{"text": "See @a.py"}, {"text": "--- a.py ---"}], displayContent=[{"text": "See @a.py"}])], ["See @a.py"], {},
    ),
    "an element of the user's": ([user("1", "What is <hook_contexts>?")], ["What is <hook_contexts>?"], {}),
}  # fmt: skip


def test_what_is_read_of_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(tmp_path, CASES, HEAD)
    monkeypatch.setattr(gemini, "_MOST_MESSAGES", 2)
    many = [user(str(n % 3), f"{n}") for n in range(6)]
    check(tmp_path, {"how many messages are held is bounded": (many, ["3", "4"], {"too long": 2})}, HEAD)
