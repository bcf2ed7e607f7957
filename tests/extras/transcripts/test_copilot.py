"""Sessions of Copilot CLI: what is no part of the conversation, and where the session is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extras.transcripts.conftest import read, read_bytes
from tests.extras.transcripts.writers import line

SAID = {"toolRequests": [{"toolCallId": "c", "name": "view", "arguments": {"path": "a.py"}}], "content": "Let me see."}


def event(kind: str, **data: Any) -> bytes:
    return line({"type": kind, "data": data, "id": kind, "timestamp": "2026-01-02T03:04:05Z", "parentId": None})


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ({"success": True, "result": {"content": "x"}}, ""),
        ({"success": False, "error": {"message": "no such file", "code": "x"}}, " (failed): no such file"),
        ({"success": False, "result": {"content": "no such file"}}, " (failed): no such file"),
        ({"success": False}, " (failed)"),
    ],
)
def test_an_outcome_says_whether_the_call_failed(tmp_path: Path, outcome: dict[str, Any], expected: str) -> None:
    found = read_bytes(
        tmp_path,
        [event("assistant.message", **SAID), event("tool.execution_complete", toolCallId="c", **outcome)],
    )
    assert found.said == [("assistant", "Let me see."), ("tool", f"ran: view a.py{expected}")]


def test_what_a_subagent_or_a_skill_says_is_no_part(tmp_path: Path) -> None:
    found = read_bytes(
        tmp_path,
        [
            event("user.message", content="a"),
            event("user.message", content="How to.", source="skill-x"),
            event("user.message", content="<hook_context>x</hook_context>"),
            event("assistant.message", **SAID, parentToolCallId="c"),
            event("session.compaction_complete", summaryContent="So far."),
        ],
    )
    assert found.said == [("user", "a")]
    assert (found.skipped["injected context"], found.skipped["side chain"]) == (2, 1)
    assert found.skipped["compaction summary"] == 1


def test_a_session_without_a_start_has_the_name_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "9f0c").mkdir()
    (tmp_path / "9f0c" / "events.jsonl").write_bytes(event("user.message", content="a"))
    assert [one.key for one in read(tmp_path / "9f0c" / "events.jsonl").transcripts] == ["9f0c"]
