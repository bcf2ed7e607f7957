"""Sessions of Cline: what the user typed, and which calls failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.extras.transcripts.conftest import Found, read_bytes

PROMPTS = {
    '<user_input mode="act">Why?</user_input>': ["Why?"], "Why?": ["Why?"], "<user_input>a <b></user_input>": ["a <b>"],
    '<user_input mode="act">Why?</user_input>\n<hook_context source="UserPromptSubmit">x</hook_context>': ["Why?"],
    '<hook_context source="PreToolUse" tool_name="editor">\nRecalled notes': [],
}  # fmt: skip
RESULTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"content": '{"query":"a","result":"said \\"success\\":false","success":true}'}, ""),
    ({"content": '{"result":"","success":false}'}, ' (failed): {"result":"","success":false}'),
    ({"content": [{"type": "text", "text": "boom"}], "is_error": True}, " (failed): boom"),
)


def read_messages(folder: Path, *messages: Any) -> Found:
    return read_bytes(folder, json.dumps({"agent": "lead", "sessionId": "l", "messages": messages}, indent=1).encode())


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"id": "m", "role": "user", "content": [{"type": "text", "text": text}], **more}


def test_what_is_read_of_a_session(tmp_path: Path) -> None:
    assert {text: read_messages(tmp_path, user(text)).texts for text in PROMPTS} == PROMPTS
    call = {"type": "tool_use", "id": "c", "name": "run_commands", "input": {"commands": ["make"]}}
    for result, failure in RESULTS:
        outcome = {"type": "tool_result", "tool_use_id": "c", **result}
        messages = ({"role": "assistant", "content": [call]}, {"role": "user", "content": [outcome]})
        assert read_messages(tmp_path, *messages).said == [("tool", f"ran: make{failure}")]
    odd = ({"role": "system", "content": "x"}, {"role": 3, "content": "x"}, None, "x")
    found = read_messages(tmp_path, user("a", metadata={"displayRole": "system"}), *odd, user("b"))
    assert found.said == [("user", "b")]
    assert (found.skipped["injected context"], found.skipped["system"], found.skipped["unknown role"]) == (1, 1, 3)
