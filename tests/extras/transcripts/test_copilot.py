"""Sessions of Copilot CLI: what is no part of the conversation, and where the session is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.extras.transcripts.conftest import check, read
from tests.extras.transcripts.writers import line

SAID = {"toolRequests": [{"toolCallId": "c", "name": "view", "arguments": {"path": "a.py"}}], "content": "Let me see."}
OUTCOMES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"success": True, "result": {"content": "x"}}, ""),
    ({"success": False, "error": {"message": "no such file", "code": "x"}}, " (failed): no such file"),
    ({"success": False, "result": {"content": "no such file"}}, " (failed): no such file"),
    ({"success": False}, " (failed)"),
)


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": kind, "timestamp": "2026-01-02T03:04:05Z", "parentId": None}


def test_what_is_read_of_a_session(tmp_path: Path) -> None:
    for outcome, failure in OUTCOMES:
        ended = event("tool.execution_complete", toolCallId="c", **outcome)
        expected = ["Let me see.", f"ran: view a.py{failure}"]
        check(tmp_path, {str(outcome): ([event("assistant.message", **SAID), ended], expected, {})})
    rows = [
        event("user.message", content="a"), event("user.message", content="How to.", source="skill-x"),
        event("user.message", content="<hook_context>x</hook_context>"), event("assistant.message", **SAID, parentToolCallId="c"),
        event("session.compaction_complete", summaryContent="So far."),
    ]  # fmt: skip
    skipped = {"injected context": 2, "side chain": 1, "compaction summary": 1}
    check(tmp_path, {"of a subagent or a skill": (rows, ["a"], skipped)})
    (tmp_path / "9f0c").mkdir()
    (tmp_path / "9f0c" / "events.jsonl").write_bytes(line(rows[0]))
    (one,) = read(tmp_path / "9f0c" / "events.jsonl").transcripts
    assert one.key == "9f0c", "without a start it has the name of its folder"
