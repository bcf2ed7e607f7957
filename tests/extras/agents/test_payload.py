"""What agents pass to a hook, in the shapes that their programs use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memcli.errors import UsageError
from memcli.extras.agents.events import COPILOT_HOOKS
from memcli.extras.agents.payload import Payload, caller_of, commands_of, edits_of, is_idle, read_payload

PATCH = "*** Begin Patch\n*** Update File: src/pay.py\n@@\n-    old()\n+    wait(1)\n*** End Patch"
WAIT = ["    wait(1)", "    post()"]
ADDED = "\n".join(WAIT)


def read(**fields: Any) -> Payload:
    return read_payload(json.dumps(fields).encode())


def edits(folder: Path, **fields: Any) -> list[tuple[str, list[str]]]:
    """The files that a tool is about to change, each with the lines that come."""
    found = edits_of(read(cwd=str(folder), **fields), str(folder))
    return [(edit.file, [line for _, line in edit.added]) for edit in found]


TOOLS: dict[str, tuple[dict[str, Any], list[tuple[str, list[str]]]]] = {
    "claude edits": ({"tool_input": {"file_path": "src/pay.py", "old_string": "post()", "new_string": ADDED}}, [("src/pay.py", WAIT)]),
    "codex patches": ({"tool_input": {"command": PATCH}}, [("src/pay.py", WAIT[:1])]),
    "codex patches in a shell": (
        {"tool_input": {"command": f"cd . && apply_patch <<'EOF'\n{PATCH}\nEOF"}}, [("src/pay.py", [*WAIT[:1], "cd . && apply_patch <<'EOF'", "", "EOF"])]
    ),
    "codex calls a shell in words": ({"tool_input": {"command": ["bash", "-lc", "rm src/pay.py"]}}, [("src/pay.py", ["bash -lc 'rm src/pay.py'"])]),
    "codex in a folder": ({"tool_input": {"cmd": "rm pay.py", "workdir": "src"}}, [("src/pay.py", ["rm pay.py"])]),
    "copilot patches": ({"tool_input": PATCH}, [("src/pay.py", WAIT[:1])]),
    "copilot edits": ({"tool_input": {"path": "src/pay.py", "old_str": "post()", "new_str": ADDED}}, [("src/pay.py", WAIT)]),
    "opencode patches": ({"tool_input": {"patchText": PATCH}}, [("src/pay.py", WAIT[:1])]),
    "cline edits": (
        {"preToolUse": {"toolName": "editor", "parameters": {"path": "src/pay.py", "command": "str_replace", "old_text": "post()", "new_text": ADDED}}},
        [("src/pay.py", WAIT)],
    ),
    "cline reads": ({"preToolUse": {"toolName": "read_files", "parameters": {"files": '[{"path": "src/pay.py"}, {"path": "a.py"}]'}}}, [("src/pay.py", []), ("a.py", [])]),
    "cline runs": ({"preToolUse": {"toolName": "execute_command", "parameters": {"command": "rm a.py"}}}, [("a.py", ["rm a.py"])]),
    "cline runs several": ({"preToolUse": {"toolName": "run_commands", "parameters": {"commands": '["ls", "rm a.py"]'}}}, [("a.py", ["ls", "rm a.py"])]),
    "claude edits twice": ({"tool_input": {"file_path": "a.py", "edits": [{"old_string": "a", "new_string": "b"}, {"new_string": "c"}]}}, [("a.py", ["b", "c"])]),
    "cursor asks before a command": ({"hook_event_name": "beforeShellExecution", "command": "rm a.py"}, [("a.py", ["rm a.py"])]),
    "a command that names no file": ({"tool_input": {"command": "git push --force"}}, [("", ["git push --force"])]),
    "a command on a file elsewhere": ({"tool_input": {"command": "rm /etc/hosts"}}, [("", ["rm /etc/hosts"])]),
    "a command that cannot be parsed": ({"tool_input": {"command": "rm 'a.py"}}, [("", ["rm 'a.py"])]),
    "files that are no JSON": ({"tool_input": {"files": "[a.py"}}, [("[a.py", [])]),
    "no file": ({"tool_input": {"topic": "x"}}, []),
}  # fmt: skip


def test_what_a_tool_is_about_to_change(tmp_path: Path) -> None:
    found = {case: edits(tmp_path, **fields) for case, (fields, _) in TOOLS.items()}
    assert found == {case: expected for case, (_, expected) in TOOLS.items()}


def test_no_line_or_file_of_a_change_is_left_out(tmp_path: Path) -> None:
    def ends(files: int, lines: int) -> list[tuple[str, int]]:
        given = {"path": [f"{n}.py" for n in range(files)], "content": "x\n" * lines + "y" * 5_000}
        return [(file, len(added[-1])) for file, added in edits(tmp_path, tool_input=given)]

    assert ends(1, 90_000) == [("0.py", 5_000)]
    assert ends(100, 900)[-1] == ("99.py", 5_000)
    for files, lines in ((1, 100_000), (100, 1_000), (5_001, 0)):
        with pytest.raises(UsageError, match=f"lines in {files:,} files are too many"):
            ends(files, lines)


def test_fields_of_a_payload() -> None:
    """What an agent put before a prompt is left out, and the agent of a session is no subagent."""
    prompts = {
        "which database?": "which database?",
        "<hook_context>&lt;memory-1&gt; a&lt;/memory-1&gt;</hook_context>\n\nwhich\ndatabase?": "which\ndatabase?",
        "<hook_context>a</hook_context>\n<hook_context>b</hook_context>\n\nwhich?": "which?",
        "what is <hook_context>a</hook_context>?": "what is <hook_context>a</hook_context>?",
        "<hook_context>a": "<hook_context>a",
        "<hook_context>a</hook_context>": "",
    }
    assert {prompt: read(prompt=prompt).prompt for prompt in prompts} == prompts
    tools = {"Edit": True, "search_replace": True, "": True, "Read": False, "read_file": False, "grep": False}
    assert {name: read(tool_name=name).may_change for name in tools} == tools
    cline: dict[str, Any] = {"taskId": "t", "sessionContext": {"rootSessionId": "l"}, "agent_id": "a"}
    for fields, session in (
        ({"session_id": "s", "agent_id": "b"}, "s/b"),
        (cline, "l"),
        ({**cline, "parent_agent_id": ""}, "l"),
        ({**cline, "parent_agent_id": "a0"}, "l/a"),
        ({**cline, "sessionContext": None}, "t"),
        ({**cline, "sessionContext": {"rootSessionId": ["x"]}}, "x"),
    ):
        parent = {"parent_agent_id": None} if "taskId" in fields else {}
        assert (fields, read(**{**parent, **fields}).session) == (fields, session)
    assert read(hookName="agent_end", turn={"outputText": "Done.", "status": "completed"}).text == "Done."


def test_calls_that_cannot_matter() -> None:
    def call(command: object) -> Payload:
        return read(tool_input={"command": command})

    assert is_idle("claude", "before-tool", call("git log | head; grep -rn 'time.sleep(1)' src"))
    assert is_idle("codex", "before-tool", call(["bash", "-lc", "ls"]))
    assert is_idle("gemini", "after-compaction", Payload())
    assert not is_idle("claude", "before-tool", call("git push"))
    assert not is_idle("claude", "before-tool", read(tool_input={"commands": ["ls", "rm a"]}))
    assert not is_idle("claude", "before-tool", read(tool_input={"file_path": "a.py"}))
    assert not is_idle("cline", "before-tool", call("ls"))  # it may still have to see what others see at the start
    assert not is_idle("claude", "after-compaction", Payload())
    assert commands_of(call(PATCH)) == []


def test_copilot_runs_hooks_of_claude_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It calls them in its own way; where it has hooks of its own, these answer."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    folder = project / "src"
    folder.mkdir()
    call = read(hook_event_name="UserPromptSubmit", timestamp="2026-05-03T12:00:00Z", cwd=str(folder), prompt="x")
    assert caller_of("claude", "prompt", call, {}) == "copilot"
    assert caller_of("claude", "prompt", read(cwd=str(folder), prompt="x"), {}) == "claude"
    assert caller_of("gemini", "prompt", call, {}) == "gemini"
    for home, environ in (
        (project / ".github", {}),
        (tmp_path / "copilot", {"COPILOT_HOME": str(tmp_path / "copilot")}),
    ):
        hooks = home / COPILOT_HOOKS
        hooks.parent.mkdir(parents=True)
        hooks.write_text('{"bash": "memcli hook run prompt --agent copilot || true"}')
        assert caller_of("claude", "prompt", call, environ) is None
        assert caller_of("claude", "stop", call, environ) == "copilot"  # not installed for this event
        assert caller_of("copilot", "prompt", call, environ) == "copilot"
        hooks.unlink()
