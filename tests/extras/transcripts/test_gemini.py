"""Sessions of Gemini CLI: messages that are written again, taken back, or not of the conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memcli.extras.transcripts import gemini
from tests.extras.transcripts.conftest import Found, read_bytes
from tests.extras.transcripts.writers import at, line

HEAD = {"sessionId": "g", "projectHash": "0a", "startTime": at(0)}


def message(key: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": at(1), "type": kind, "content": content, **more}


def read_lines(folder: Path, *lines: dict[str, Any]) -> Found:
    return read_bytes(folder, [line(one) for one in (HEAD, *lines)])


def test_a_message_that_is_written_again_keeps_its_place(tmp_path: Path) -> None:
    call = {"id": "c", "name": "read_file", "args": {"file_path": "a.py"}, "status": "executing"}
    found = read_lines(
        tmp_path,
        message("1", "user", "a"),
        message("2", "gemini", "Let me see.", toolCalls=[call]),
        message("3", "user", [{"functionResponse": {"id": "c", "response": {"output": "x"}}}]),
        message("2", "gemini", "Let me see.", toolCalls=[{**call, "status": "error", "resultDisplay": "no such file"}]),
        message("4", "gemini", [{"text": "It is", "thought": True}, {"text": "gone."}]),
    )
    assert found.said == [
        ("user", "a"),
        ("assistant", "Let me see."),
        ("tool", "ran: read_file a.py (failed): no such file"),
        ("assistant", "gone."),
    ]
    assert found.skipped["repeated event"] == 1


def test_what_was_taken_back_is_left_out(tmp_path: Path) -> None:
    found = read_lines(
        tmp_path,
        message("1", "user", "a"),
        message("2", "gemini", "b"),
        message("3", "user", "c"),
        {"$rewindTo": "2"},
        {"$rewindTo": "3"},
        message("4", "user", "d"),
    )
    assert found.said == [("user", "a"), ("user", "d")]
    assert found.skipped["other branch"] == 2


def test_a_compaction_takes_nothing_out_of_the_conversation(tmp_path: Path) -> None:
    summary = [message("9", "user", "<state_snapshot>So far.</state_snapshot>"), message("10", "gemini", "Got it.")]
    found = read_lines(tmp_path, message("1", "user", "a"), {"$set": {"messages": summary}}, message("2", "user", "b"))
    assert found.said == [("user", "a"), ("user", "b")]


@pytest.mark.parametrize(
    ("content", "more", "expected"),
    [
        ("<hook_context>&lt;memory-1&gt;x&lt;/memory-1&gt;</hook_context>\n\nWhy?", {}, ["Why?"]),
        ([{"text": "Why?"}, {"text": '<hook_context id="1">cut off'}], {}, ["Why?"]),
        ([{"text": "<session_context>\nToday is Friday.\n</session_context>"}], {}, []),
        ([{"text": "See @a.py"}, {"text": "--- a.py ---"}], {"displayContent": [{"text": "See @a.py"}]}, ["See @a.py"]),
        ("What is <hook_contexts>?", {}, ["What is <hook_contexts>?"]),
    ],
)
def test_a_prompt_is_what_its_user_typed(
    tmp_path: Path, content: Any, more: dict[str, Any], expected: list[str]
) -> None:
    found = read_lines(tmp_path, message("1", "user", content, **more))
    assert [text for _, text in found.said] == expected


def test_how_many_messages_are_held_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemini, "_MOST_MESSAGES", 2)
    found = read_lines(tmp_path, *(message(str(n % 3), "user", f"{n}") for n in range(6)))
    assert found.said == [("user", "3"), ("user", "4")]
    assert found.skipped["too long"] == 2
