"""Rollouts of Codex: calls and outputs, and what Codex writes for its user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.extras.transcripts.conftest import Found, read_bytes


def read_items(folder: Path, *payloads: dict[str, Any], kind: str = "response_item") -> Found:
    meta = {"type": "session_meta", "payload": {"id": "r", "cwd": "/p"}}
    rows = [meta, *({"type": kind, "timestamp": "2026-01-02T03:04:05Z", "payload": one} for one in payloads)]
    return read_bytes(folder, [json.dumps(one).encode() + b"\n" for one in rows])


def message(*texts: str, role: str = "user") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text} for text in texts]}


INJECTED = (
    "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>", "<user_instructions>\n\nx\n\n</user_instructions>",
    "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>", "<turn_aborted>\nx\n</turn_aborted>",
    "<permissions instructions>x</permissions instructions>", "<skill>\n<name>x</name>\n</skill>",
)  # fmt: skip


@pytest.mark.parametrize("text", INJECTED)
def test_what_codex_writes_for_the_user_is_no_message(tmp_path: Path, text: str) -> None:
    found = read_items(tmp_path, message(text), message(text, "Fix it."), message("Why?", role="assistant"))
    assert found.said == [("user", "Fix it."), ("assistant", "Why?")]
    assert found.skipped["injected context"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "<div>a</div>",
        "See <environment_context> in the docs",
        "# AGENTS are slow",
        "a <user_context>d</user_context>",
        "<context>a</context>",
        "<task_list>a</task_list>",
    ],
)
def test_what_the_user_writes_is_kept(tmp_path: Path, text: str) -> None:
    assert read_items(tmp_path, message(text)).said == [("user", text)]


def test_of_a_message_with_the_state_of_an_editor_the_request_is_kept(tmp_path: Path) -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix it.\n"
    assert read_items(tmp_path, message(text)).said == [("user", "Fix it.")]


OUTPUTS = {
    "as JSON": (json.dumps({"output": "boom", "metadata": {"exit_code": 2}}), "(failed): boom"),
    "as JSON, fine": (json.dumps({"output": "boom", "metadata": {"exit_code": 0}}), ""),
    "as text": ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nboom", "(failed): Exit code: 1 Wall time: 0.1 seconds Output: boom"),
    "newer": ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nExit code: 7", ""),
    "as an object": ({"content": "boom", "success": False}, "(failed): boom"),
    "as blocks": ([{"type": "input_text", "text": "Process exited with code 3"}], "(failed): Process exited with code 3"),
    "none": (None, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_says_whether_the_call_failed(tmp_path: Path, name: str) -> None:
    output, expected = OUTPUTS[name]
    run = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "make"}', "call_id": "k"}
    found = read_items(tmp_path, message("a"), run, {"type": "function_call_output", "call_id": "k", "output": output})
    assert found.said[1:] == [("tool", f"ran: make {expected}".strip())]


CALLS = {
    "ran: make all": {"type": "function_call", "name": "shell", "arguments": '{"command": ["bash", "-lc", "make all"]}'},
    "ran: ls -l": {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls", "-l"]}},
    "ran: apply_patch *** Begin Patch *** Add File: a": {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n*** Add File: a"},
    "ran: web_search cents": {"type": "web_search_call", "action": {"type": "search", "query": "cents"}},
    "ran: mcp__memcli__recall cents": {"type": "function_call", "namespace": "mcp__memcli__", "name": "recall", "arguments": '{"query": "cents"}'},
    "ran: update_plan": {"type": "function_call", "name": "update_plan", "arguments": "{broken"},
}  # fmt: skip


@pytest.mark.parametrize("expected", CALLS)
def test_a_call_says_what_was_run(tmp_path: Path, expected: str) -> None:
    found = read_items(tmp_path, message("a"), {**CALLS[expected], "call_id": "k"})
    ((_, text),) = found.said[1:]
    assert text.removesuffix(" {broken") == expected


def test_the_end_of_a_call_counts_where_its_output_does_not_say(tmp_path: Path) -> None:
    run = {"type": "function_call", "name": "shell", "arguments": '{"command": "make"}', "call_id": "k"}
    lines = [{"type": "response_item", "payload": one} for one in (message("a"), run)]
    lines.append(
        {"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "k", "exit_code": 2, "stderr": "boom"}}
    )
    lines.append(
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "k", "output": "boom"}}
    )
    found = read_bytes(tmp_path, [json.dumps(one).encode() + b"\n" for one in lines])
    assert found.said == [("user", "a"), ("tool", "ran: make (failed): boom")]


def test_the_first_versions_say_where_in_a_message(tmp_path: Path) -> None:
    head = {"id": "r0", "timestamp": "2025-05-01T00:00:00Z", "instructions": None}
    for text in (
        INJECTED[0],
        "<environment_context>\nCurrent working directory: /p\nApproval: never\n</environment_context>",
    ):
        found = read_bytes(tmp_path, [json.dumps(one).encode() + b"\n" for one in (head, message(text), message("Hi"))])
        (one,) = found.transcripts
        assert (one.key, one.cwd, one.started_at, found.said) == ("r0", "/p", "2025-05-01T00:00:00Z", [("user", "Hi")])


def test_a_rollout_without_an_id_has_that_in_its_name(tmp_path: Path) -> None:
    data = json.dumps({"type": "response_item", "payload": message("a")}).encode()
    name = "rollout-2026-08-10T13-02-51-0198c0de-1111-2222-3333-444455556666.jsonl"
    assert read_bytes(tmp_path, data, name).transcripts[0].key == "0198c0de-1111-2222-3333-444455556666"


def test_what_was_taken_back_is_left_out(tmp_path: Path) -> None:
    def taken_back(turns: int) -> dict[str, Any]:
        return {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": turns}}

    def said(text: str) -> list[dict[str, Any]]:
        """A prompt and its answer, as items and as events."""
        return [
            {"type": "response_item", "payload": message(text)},
            {"type": "event_msg", "payload": {"type": "user_message", "message": text}},
            {"type": "response_item", "payload": message(f"re {text}", role="assistant")},
            {"type": "event_msg", "payload": {"type": "agent_message", "message": f"re {text}"}},
        ]

    rows = [
        *said("a"),
        *said("b"),
        taken_back(1),
        *said("c"),
        *said("d"),
        taken_back(0),
        taken_back(2),
        *said("e"),
        *said("f"),
        taken_back(1),
    ]
    for kept in (rows, [row for row in rows if row["type"] == "event_msg"]):
        found = read_bytes(tmp_path, [json.dumps(one).encode() + b"\n" for one in kept])
        assert [text for _, text in found.said] == ["a", "re a", "e", "re e"]
        assert found.skipped["other branch"] >= 8
    everything = read_bytes(
        tmp_path, [json.dumps(one).encode() + b"\n" for one in (*said("a"), taken_back(9), *said("b"))]
    )
    assert [text for _, text in everything.said] == ["b", "re b"]
