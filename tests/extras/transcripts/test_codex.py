"""Rollouts of Codex: calls and outputs, and what Codex writes for its user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.extras.transcripts.conftest import Case, check, read_bytes, read_rows

META = {"type": "session_meta", "payload": {"id": "r", "cwd": "/p"}}


def item(payload: Mapping[str, Any], kind: str = "response_item") -> dict[str, Any]:
    return {"type": kind, "timestamp": "2026-01-02T03:04:05Z", "payload": payload}


def message(*texts: str, role: str = "user") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text} for text in texts]}


INJECTED = (
    "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>", "<user_instructions>\n\nx\n\n</user_instructions>",
    "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>", "<turn_aborted>\nx\n</turn_aborted>",
    "<permissions instructions>x</permissions instructions>", "<skill>\n<name>x</name>\n</skill>",
)  # fmt: skip
WRITTEN = (
    "<div>a</div>", "See <environment_context> in the docs", "# AGENTS are slow", "a <user_context>d</user_context>",
    "<context>a</context>", "<task_list>a</task_list>",
)  # fmt: skip
EDITOR = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix it.\n"


def test_what_codex_writes_for_the_user_is_no_message(tmp_path: Path) -> None:
    injected: Mapping[str, Case] = {
        text: ([item(one) for one in (message(text), message(text, "Fix it."), message("Why?", role="assistant"))],
               ["Fix it.", "Why?"], {"injected context": 1}) for text in INJECTED
    }  # fmt: skip
    check(tmp_path, injected, META)
    written = {text: text for text in WRITTEN} | {EDITOR: "Fix it."}
    check(tmp_path, {text: ([item(message(text))], [said], {}) for text, said in written.items()}, META)


MAKE = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "make"}', "call_id": "k"}
ENDED = {"type": "exec_command_end", "call_id": "k", "exit_code": 2, "stderr": "boom"}
OUTPUTS = (
    (json.dumps({"output": "boom", "metadata": {"exit_code": 2}}), "(failed): boom"),
    (json.dumps({"output": "boom", "metadata": {"exit_code": 0}}), ""),
    ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nboom", "(failed): Exit code: 1 Wall time: 0.1 seconds Output: boom"),
    ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nExit code: 7", ""),
    ({"content": "boom", "success": False}, "(failed): boom"),
    ([{"type": "input_text", "text": "Process exited with code 3"}], "(failed): Process exited with code 3"),
    (None, ""),
)  # fmt: skip
CALLS = {
    "ran: make all": {"type": "function_call", "name": "shell", "arguments": '{"command": ["bash", "-lc", "make all"]}'},
    "ran: ls -l": {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls", "-l"]}},
    "ran: apply_patch *** Begin Patch *** Add File: a": {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n*** Add File: a"},
    "ran: web_search cents": {"type": "web_search_call", "action": {"type": "search", "query": "cents"}},
    "ran: mcp__memcli__recall cents": {"type": "function_call", "namespace": "mcp__memcli__", "name": "recall", "arguments": '{"query": "cents"}'},
    "ran: update_plan {broken": {"type": "function_call", "name": "update_plan", "arguments": "{broken"},
}  # fmt: skip


def test_calls_say_what_was_run_and_whether_it_failed(tmp_path: Path) -> None:
    def output(value: Any) -> dict[str, Any]:
        return item({"type": "function_call_output", "call_id": "k", "output": value})

    ran: Mapping[str, Case] = {
        str(value): ([item(MAKE), output(value)], [f"ran: make {said}".strip()], {}) for value, said in OUTPUTS
    }
    check(tmp_path, ran, META)
    check(tmp_path, {said: ([item({**one, "call_id": "k"})], [said], {}) for said, one in CALLS.items()}, META)
    event: Case = ([item(MAKE), item(ENDED, "event_msg"), output("boom")], ["ran: make (failed): boom"], {})
    check(tmp_path, {"an event says what the output does not": event}, META)


def test_the_first_versions_say_where_in_a_message(tmp_path: Path) -> None:
    head = {"id": "r0", "timestamp": "2025-05-01T00:00:00Z", "instructions": None}
    older = "<environment_context>\nCurrent working directory: /p\nApproval: never\n</environment_context>"
    for text in (INJECTED[0], older):
        found = read_rows(tmp_path, head, message(text), message("Hi"))
        (one,) = found.transcripts
        assert (one.key, one.cwd, one.started_at, found.texts) == ("r0", "/p", "2025-05-01T00:00:00Z", ["Hi"])
    name = "rollout-2026-08-10T13-02-51-0198c0de-1111-2222-3333-444455556666.jsonl"
    (one,) = read_bytes(tmp_path, json.dumps(item(message("a"))).encode(), name).transcripts
    assert one.key == "0198c0de-1111-2222-3333-444455556666", "without an id it has that in its name"


def test_what_was_taken_back_is_left_out(tmp_path: Path) -> None:
    def taken_back(turns: int) -> dict[str, Any]:
        return item({"type": "thread_rolled_back", "num_turns": turns}, "event_msg")

    def said(text: str) -> list[dict[str, Any]]:
        """A prompt and its answer, as items and as events."""
        return [
            item(message(text)), item({"type": "user_message", "message": text}, "event_msg"),
            item(message(f"re {text}", role="assistant")), item({"type": "agent_message", "message": f"re {text}"}, "event_msg"),
        ]  # fmt: skip

    rows = [
        *said("a"), *said("b"), taken_back(1), *said("c"), *said("d"), taken_back(0), taken_back(2), *said("e"), *said("f"),
        taken_back(1),
    ]  # fmt: skip
    for kept in (rows, [row for row in rows if row["type"] == "event_msg"]):
        found = read_rows(tmp_path, *kept)
        assert found.texts == ["a", "re a", "e", "re e"]
        assert found.skipped["other branch"] >= 8
    assert read_rows(tmp_path, *said("a"), taken_back(9), *said("b")).texts == ["b", "re b"]
