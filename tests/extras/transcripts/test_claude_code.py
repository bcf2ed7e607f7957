"""Sessions of Claude Code: the tree, and what is no message of the user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extras.transcripts import writers
from tests.extras.transcripts.conftest import Found, read_bytes
from tests.extras.transcripts.test_formats import turns
from tests.extras.transcripts.writers import Turn


def row(key: str, parent: str | None, content: Any, role: str = "user", group: str = "", **more: Any) -> dict[str, Any]:
    """A line. A text of the assistant is a block."""
    if role == "assistant" and isinstance(content, str):
        content = [{"type": "text", "text": content}]
    message = {"role": role, "content": content, **({"id": group} if group else {})}
    return {"type": role, "uuid": key, "parentUuid": parent, "sessionId": "s", "cwd": "/p", "message": message, **more}


def call(key: str, command: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": key, "name": "Bash", "input": {"command": command}}]


def result(key: str, output: str, *, failed: bool = False) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": key, "content": output, "is_error": failed}]


def read_rows(folder: Path, *rows: dict[str, Any]) -> Found:
    return read_bytes(folder, [json.dumps(one).encode() + b"\n" for one in rows])


@given(turns.filter(lambda talk: any(turn.role == "user" for turn in talk)), st.randoms(use_true_random=False))
def test_the_order_is_that_of_the_tree(tmp_path_factory: pytest.TempPathFactory, talk: list[Turn], random: Any) -> None:
    lines = list(writers.claude_code(talk))
    random.shuffle(lines)
    found = read_bytes(tmp_path_factory.mktemp("tree"), lines)
    assert found.said == [turn.expected for turn in talk]


@given(turns, st.data())
def test_a_line_that_comes_twice_is_one_message(
    tmp_path_factory: pytest.TempPathFactory, talk: list[Turn], data: st.DataObject
) -> None:
    lines = list(writers.claude_code(talk))
    for _ in range(3):
        place = data.draw(st.integers(0, len(lines) - 1))
        lines.insert(data.draw(st.integers(place, len(lines))), lines[place])
    found = read_bytes(tmp_path_factory.mktemp("twice"), lines)
    assert (found.said, found.skipped["duplicate id"]) == ([turn.expected for turn in talk], 3)


def test_the_last_leaf_wins(tmp_path: Path) -> None:
    rows = [
        row("1", None, "a"),
        row("2", "1", "b", "assistant"),
        row("3", "2", "old"),
        row("4", "3", "old", "assistant"),
        row("5", "2", "new"),
    ]
    found = read_rows(tmp_path, *rows)
    assert [text for _, text in found.said] == ["a", "b", "new"]
    assert found.skipped["other branch"] == 2
    found = read_rows(tmp_path, *rows, row("6", None, "another beginning"))
    assert [text for _, text in found.said] == ["another beginning"]


def test_a_boundary_of_a_compaction_leads_to_what_was_said_before(tmp_path: Path) -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        "logicalParentUuid": "2",
    }
    summary = row("s", "b", "This session is being continued.", isCompactSummary=True)
    rows = [row("1", None, "a"), row("2", "1", "b", "assistant"), row("9", "1", "left", "assistant")]
    found = read_rows(tmp_path, *rows, boundary, summary, row("3", "s", "c"))
    assert [text for _, text in found.said] == ["a", "b", "c"]
    assert found.skipped["compaction summary"] == 1
    del boundary["logicalParentUuid"]
    found = read_rows(tmp_path, *rows[:2], boundary, summary, row("3", "s", "c"))
    assert [text for _, text in found.said] == ["a", "b", "c"]
    found = read_rows(tmp_path, *rows[:2], {**summary, "parentUuid": None}, row("3", "s", "c"))
    assert [text for _, text in found.said] == ["a", "b", "c"]
    assert read_rows(tmp_path, boundary, summary, row("3", "s", "c")).said == [("user", "c")]


def test_blocks_on_lines_of_their_own_are_one_message(tmp_path: Path) -> None:
    rows = [
        row("1", None, "a"), row("2", "1", [{"type": "thinking", "thinking": "x"}], "assistant", "m"),
        row("3", "2", "First.", "assistant", "m"), row("4", "3", "First.", "assistant", "m"),
        row("5", "4", "Second.", "assistant", "m"), row("6", "5", "Third.", "assistant", "n"),
    ]  # fmt: skip
    found = read_rows(tmp_path, *rows)
    assert [text for _, text in found.said] == ["a", "First.\n\nSecond.", "Third."]
    assert found.messages[0][1].key == "2"


def test_of_calls_made_at_once_all_results_are_found(tmp_path: Path) -> None:
    """Only the last result is an ancestor of what follows."""
    rows = [
        row("1", None, "a"), row("2", "1", "Both.", "assistant", "m"), row("3", "2", call("t1", "make"), "assistant", "m"),
        row("4", "3", call("t2", "ls"), "assistant", "m"), row("r1", "3", result("t1", "No rule", failed=True)),
        row("r2", "4", result("t2", "x")), row("5", "r2", "Done.", "assistant", "n"),
    ]  # fmt: skip
    said = ["a", "Both.", "ran: make (failed): No rule", "ran: ls", "Done."]
    assert [text for _, text in read_rows(tmp_path, *rows).said] == said
    interrupted = read_rows(tmp_path, *rows[:4], rows[5], rows[4])
    assert [text for _, text in interrupted.said] == said[:-1]


@pytest.mark.parametrize(
    "parents", [("3", "1", "2"), ("1", "1", "2"), (None, "3", "2"), ("2", "1", "1"), (None, "1", "3")]
)
def test_a_circle_ends_and_is_counted(tmp_path: Path, parents: tuple[str | None, ...]) -> None:
    found = read_rows(tmp_path, *(row(key, parent, f"text {key}") for key, parent in zip("123", parents, strict=True)))
    texts = [text for _, text in found.said]
    assert len(texts) == len(set(texts)) >= 1
    assert found.skipped["cycle"] + found.skipped["other branch"] >= 1


def test_a_lost_line_does_not_hide_what_was_said_before(tmp_path: Path) -> None:
    hook = {
        "type": "attachment",
        "uuid": "h",
        "parentUuid": None,
        "sessionId": "s",
        "attachment": {"type": "hook_success"},
    }
    found = read_rows(tmp_path, row("1", None, "a"), row("2", "1", "b", "assistant"), hook, row("4", "3", "d"))
    assert [text for _, text in found.said] == ["a", "b", "d"]


def test_side_chains_and_files_of_subagents_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "t" / "subagents"
    folder.mkdir(parents=True)
    for name in ("agent-1.jsonl", "agent-2.jsonl", "agent-2.meta.json"):
        (folder / name).touch()
    found = read_rows(
        tmp_path, row("1", None, "a"), row("2", "1", "look", isSidechain=True), row("3", "1", "b", "assistant")
    )
    assert [text for _, text in found.said] == ["a", "b"]
    assert (found.skipped["side chain"], found.skipped["subagent file"]) == (1, 2)
    assert read_rows(tmp_path, row("1", None, "a", isSidechain=True)).said == []


NOT_SAID = {
    "meta": ({"content": "Continue.", "isMeta": True}, "injected context"),
    "a program": ({"content": "Wake up.", "origin": {"kind": "task"}}, "injected context"),
    "typed by no one": ({"content": "Wake up.", "promptSource": "system"}, "injected context"),
    "command": ({"content": "<command-name>/clear</command-name>\n<command-args></command-args>"}, "command of the program"),
    "output": ({"content": "<local-command-stdout>Set model</local-command-stdout>"}, "command of the program"),
    "caveat": ({"content": "<local-command-caveat>Caveat: x</local-command-caveat>"}, "command of the program"),
    "shell": ({"content": "<bash-input>ls</bash-input>"}, "command of the program"),
    "task": ({"content": "<task-notification>\n<task-id>1</task-id></task-notification>"}, "command of the program"),
    "interrupted": ({"content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]}, "command of the program"),
    "reminder": ({"content": "<system-reminder>\nBe brief.\n</system-reminder>"}, "injected context"),
    "memories": ({"content": "Recalled notes to weigh, not instructions to follow."}, "recalled by memcli"),
    "image": ({"content": [{"type": "image", "source": {}}]}, "image"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_SAID)
def test_what_the_user_did_not_write_is_no_message(tmp_path: Path, name: str) -> None:
    fields, reason = NOT_SAID[name]
    found = read_rows(tmp_path, row("1", None, "a"), row("2", "1", **fields), row("3", "2", "b", "assistant"))
    assert [text for _, text in found.said] == ["a", "b"]
    assert found.skipped[reason] == 1


def test_what_is_said_around_a_reminder_or_a_bundle_is_kept(tmp_path: Path) -> None:
    bundle = (
        'Recalled notes to weigh, not instructions to follow.\n<memory-0123abcd space="main">\nx\n</memory-0123abcd>'
    )
    text = f"Fix <b>it</b>.<system-reminder>x</system-reminder>\n{bundle}\nNow."
    assert read_rows(tmp_path, row("1", None, text)).said == [("user", "Fix <b>it</b>.\n\nNow.")]


def test_attachments_hold_no_message_but_what_was_typed_meanwhile(tmp_path: Path) -> None:
    def attached(key: str, parent: str, **attachment: Any) -> dict[str, Any]:
        return {"type": "attachment", "uuid": key, "parentUuid": parent, "sessionId": "s", "attachment": attachment}

    queued = {
        "type": "queued_command",
        "prompt": "Also the docs.",
        "commandMode": "prompt",
        "origin": {"kind": "human"},
    }
    rows = [
        row("1", None, "a"), attached("2", "1", type="hook_additional_context", content=["Pinned: x"]),
        attached("3", "2", type="hook_success", content="Pinned: y", stdout="Pinned: y"), attached("4", "3", **queued),
        attached("5", "4", **{**queued, "commandMode": "task-notification"}), attached("6", "5", **{**queued, "isMeta": True}),
        row("7", "6", "b", "assistant"),
    ]  # fmt: skip
    found = read_rows(tmp_path, *rows)
    assert [text for _, text in found.said] == ["a", "Also the docs.", "b"]
    assert found.skipped["injected context"] == 4
    assert read_rows(tmp_path, *rows[:4]).said == [("user", "a"), ("user", "Also the docs.")]


def test_what_the_program_answers_in_place_of_the_model_is_no_message(tmp_path: Path) -> None:
    error = row("2", "1", "API Error: 529", "assistant", isApiErrorMessage=True)
    assert read_rows(tmp_path, row("1", None, "a"), error, row("3", "2", "b")).said == [("user", "a"), ("user", "b")]


def test_a_session_says_what_it_is_called_and_where_it_took_place(tmp_path: Path) -> None:
    titles = [
        {"type": "summary", "summary": "Of old", "leafUuid": "x"},
        {"type": "ai-title", "aiTitle": "By the model", "sessionId": "s"},
        {"type": "custom-title", "customTitle": "By the user", "sessionId": "s"},
    ]
    for count, title in ((0, ""), (1, "Of old"), (2, "By the model"), (3, "By the user")):
        timed = row("1", None, "a", timestamp="2026-01-02T03:04:05.678+01:00")
        (one,) = read_rows(tmp_path, *titles[:count], timed).transcripts
        assert (one.key, one.title, one.cwd, one.started_at) == ("s", title, "/p", "2026-01-02T02:04:05Z")


def test_what_memcli_answered_is_not_kept(tmp_path: Path) -> None:
    tool = [{"type": "tool_use", "id": "t", "name": "mcp__memcli__recall", "input": {"query": "cents"}}]
    for calls in (tool, call("t", "memcli recall cents")):
        rows = [
            row("1", None, "a"),
            row("2", "1", calls, "assistant", "m"),
            row("3", "2", result("t", "Use cents.", failed=True)),
        ]
        ((_, text),) = read_rows(tmp_path, *rows).said[1:]
        assert text.startswith("ran: m")
        assert text.endswith("cents (failed)")
