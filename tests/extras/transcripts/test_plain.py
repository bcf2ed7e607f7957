"""Messages with role and content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memcli.extras.transcripts.content import MAX_CHARACTERS, described, is_own, shortened
from memcli.extras.transcripts.transcript import Seen
from tests.extras.transcripts.conftest import read_rows


def test_roles_names_and_times_are_read_as_programs_write_them(tmp_path: Path) -> None:
    rows = [
        {"role": "human", "content": "a", "name": "Ann", "created_at": "2026-01-02"},
        {"role": "Assistant", "content": [{"type": "text", "text": "b"}, "c"], "ts": 1_767_312_000_000},
        {"role": "model", "content": {"type": "text", "text": "d"}, "time": "1767312000"},
        {"role": "user", "content": "half \ud83d of a pair"},
    ]
    (messages,) = read_rows(tmp_path, *rows).messages
    assert [(m.role, m.text, m.at, m.speaker) for m in messages] == [
        ("user", "a", "2026-01-02T00:00:00Z", "Ann"), ("assistant", "b\n\nc", "2026-01-02T00:00:00Z", ""),
        ("assistant", "d", "2026-01-02T00:00:00Z", ""), ("user", "half ? of a pair", "", ""),
    ]  # fmt: skip


def test_blocks_of_calls_and_results_are_joined(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a.py"}}
    failed = [{"type": "text", "text": "No such file"}]
    result = {"type": "tool_result", "tool_use_id": "t", "content": failed, "is_error": True}
    rows = [
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, call]},
        {"role": "user", "content": [result]},
    ]
    assert read_rows(tmp_path, *rows).said == [("assistant", "a"), ("tool", "ran: Read a.py (failed): No such file")]


def test_a_tool_without_a_call_is_kept_short(tmp_path: Path) -> None:
    rows = [
        {"role": "tool", "content": "3 failed\n" * 100, "name": "pytest"},
        {"role": "tool", "content": "x", "name": "memcli"},
        {"role": "tool", "content": "plain"},
    ]
    said = [text for _, text in read_rows(tmp_path, *rows).said]
    assert said[0].startswith("ran: pytest: 3 failed 3 failed")
    assert len(said[0]) <= MAX_CHARACTERS + 20
    assert said[1:] == ["ran: memcli", "plain"]


def test_a_message_that_comes_twice_is_one_but_not_another_with_its_id(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": text, "id": 7} for text in ("a", "b", "a", "b")]
    found = read_rows(tmp_path, *rows)
    assert (found.said, found.skipped["duplicate id"]) == ([("user", "a"), ("user", "b")], 2)
    assert len({message.key for message in found.messages[0]}) == 2
    assert len(read_rows(tmp_path, *({"role": "user", "content": "yes"} for _ in range(3))).said) == 3


def test_conversations_have_keys_of_their_own(tmp_path: Path) -> None:
    hello, other = ({"role": "user", "content": text} for text in ("Hello", "Bye"))
    keys = [read_rows(tmp_path, *rows).transcripts[0].key for rows in ([hello], [hello, other], [other])]
    assert keys[0] == keys[1] != keys[2]
    assert read_rows(tmp_path, {**hello, "session_id": "s"}).transcripts[0].key == "s"


def test_a_call_is_described_in_short() -> None:
    cases: tuple[tuple[str, Any, str], ...] = (
        ("Bash", {"command": "pytest -q\n"}, "pytest -q"),
        ("functions.exec_command", {"cmd": "ls"}, "functions.exec_command ls"),
        ("Grep", {"pattern": "cents", "path": "src"}, "Grep src"),
        ("Task", {"x": 1}, "Task"),
        ("", None, "a tool"),
        ("python", '{"code": "1 + 1"}', "python 1 + 1"),
        ("shell", ["ls"], "shell"),
        ("Bash", {"command": "x" * 500}, "x" * (MAX_CHARACTERS - 1) + "…"),
    )
    for name, arguments, expected in cases:
        assert described(name, arguments) == expected
    assert shortened("\x1b[31mE\x1b[0m  x\n" * 100 + "ValueError: no", from_end=True).endswith("E x ValueError: no")
    assert len(shortened("word " * 1_000, from_end=True)) == MAX_CHARACTERS


def test_memcli_is_recognised_as_a_server_and_as_a_command() -> None:
    ours = (
        "mcp__memcli__recall x",
        "memcli",
        "memcli recall x",
        "cd a && memcli list",
        ".venv/bin/memcli get a",
        "memcli.recall",
    )
    others = ("pytest tests/memcli_test.py", "cat notmemcli", "rg memcli-x", "Read /src/memclient.py")
    assert [command for command in (*ours, *others) if is_own(command)] == [*ours]


def test_ids_are_known_again_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.transcripts.transcript._MOST_RECENT", 10)
    seen = Seen()
    assert all(seen.add(str(number)) for number in range(100))
    assert not any(seen.add(str(number)) for number in range(100))
