"""What each client makes of what our hooks print: for calls as the programs make them, what reaches the model, or refuses a
tool call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memcli.extras.agents.events import COPILOT_HOOKS, NATIVE, hook_command
from memcli.extras.agents.payload import MAX_BYTES
from tests.conftest import Result, Run
from tests.extras.agents.conftest import Fire, entries, payload
from tests.local_state import reported

FILE = "src/orders/handler.py"
SLEEP = "time.sleep(1)"
PATCH = f"*** Begin Patch\n*** Update File: {FILE}\n@@\n-    pass\n+    {SLEEP}\n*** End Patch"


class Seen(NamedTuple):
    """What a client makes of an answer: text for the model, or a refusal with its reason."""

    text: str = ""
    refusal: str = ""


def _specific(out: dict[str, Any], native: str) -> dict[str, Any]:
    """The part for one event, which a client takes only with the event's own name."""
    found: dict[str, Any] = out.get("hookSpecificOutput", {})
    return found if found.get("hookEventName") == native else {}


def _decided(fields: Mapping[str, Any]) -> str:
    return str(fields.get("permissionDecisionReason", "")) if fields.get("permissionDecision") == "deny" else ""


def _claude(out: dict[str, Any], native: str) -> Seen:
    found = _specific(out, native)
    return Seen(found.get("additionalContext", ""), _decided(found) if native == "PreToolUse" else "")


def _codex(out: dict[str, Any], native: str) -> Seen:
    known = {"hookEventName", "additionalContext", "permissionDecision", "permissionDecisionReason"}
    assert set(out) <= {"hookSpecificOutput"}
    assert set(out.get("hookSpecificOutput", {})) <= known, "Codex refuses output with other fields"
    return _claude(out, native)


def _copilot(out: dict[str, Any], native: str) -> Seen:
    return Seen(out.get("additionalContext", ""), _decided(out) if native == "PreToolUse" else "")


def _gemini(out: dict[str, Any], native: str) -> Seen:
    takes = native in ("SessionStart", "BeforeAgent", "AfterTool")
    refusal = out.get("reason", "") if out.get("decision") == "deny" and native == "BeforeTool" else ""
    return Seen(_specific(out, native).get("additionalContext", "") if takes else "", refusal)


def _cursor(out: dict[str, Any], native: str) -> Seen:
    refusal = out.get("agent_message", "") if out.get("permission") == "deny" and native == "preToolUse" else ""
    return Seen(out.get("additional_context", ""), refusal)


def _cline(out: dict[str, Any], native: str) -> Seen:
    takes = native in ("UserPromptSubmit", "PreToolUse")
    return Seen(out.get("contextModification", "") if takes and not out["cancel"] else "")


def _opencode(out: dict[str, Any], _native: str) -> Seen:
    return Seen(refusal=out.get("deny", ""))


READERS: Mapping[str, Callable[[dict[str, Any], str], Seen]] = {
    "claude": _claude, "codex": _codex, "copilot": _copilot, "gemini": _gemini, "cursor": _cursor, "cline": _cline, "opencode": _opencode,
}  # fmt: skip
CAN_REFUSE = sorted(READERS.keys() - {"cline"})

EDITS: Mapping[str, dict[str, Any]] = {
    "claude": {"tool_name": "Edit", "tool_input": {"file_path": FILE, "old_string": "pass", "new_string": SLEEP}},
    "codex": {"tool_name": "apply_patch", "tool_input": {"command": PATCH}},
    "copilot": {"tool_name": "Edit", "tool_input": PATCH},
    "gemini": {"tool_name": "replace", "tool_input": {"file_path": FILE, "old_string": "pass", "new_string": SLEEP}},
    "cursor": {"tool_name": "Write", "tool_input": {"file_path": FILE, "contents": SLEEP}},
    "cline": {
        "preToolUse": {"toolName": "editor", "parameters": {"path": FILE, "command": "str_replace", "new_text": SLEEP}}
    },
    "opencode": {"tool_name": "apply_patch", "tool_input": {"patchText": PATCH}},
}
SHELLS = {
    "claude": "Bash", "codex": "Bash", "copilot": "Bash", "gemini": "run_shell_command", "cursor": "Shell",
    "cline": "execute_command", "opencode": "bash",
}  # fmt: skip
COMMANDS = {
    "shell": f"echo '{SLEEP}' | tee {FILE}",
    "push": "git push --force",
    "look": f"ls src; cat {FILE}",
}


def tool_of(client: str, tool: str) -> dict[str, Any]:
    """What a client passes before an edit, or before a command in its shell."""
    if tool == "edit":
        return EDITS[client]
    command = ["bash", "-lc", COMMANDS[tool]] if client == "codex" else COMMANDS[tool]
    if client == "cline":
        return {"preToolUse": {"toolName": SHELLS[client], "parameters": {"command": command}}}
    return {"tool_name": SHELLS[client], "tool_input": {"command": command}}


def see(client: str, event: str, found: Result, native: str = "") -> Seen:
    """What the client makes of an answer to the hook of an event."""
    assert (found.code, found.err) == (0, "")
    if not found.out.startswith("{"):
        assert not found.out or client == "opencode", "other clients take JSON alone"
        return Seen(found.out)
    return READERS[client](json.loads(found.out), native or NATIVE[client][event])


@pytest.fixture
def guarded(run: Run, project: Path) -> Path:
    """The project, with memories that are enforced."""
    run("remember", "Never call time.sleep in a handler.", "--kind", "negative", "--path", "code/sleep", "--trigger",
        r"time\.sleep", "--enforce")  # fmt: skip
    run("remember", "Never push with force: it lost a release.", "--kind", "negative", "--path", "git/force", "--trigger",
        r"git push.*--force", "--enforce")  # fmt: skip
    return project


@pytest.mark.parametrize("client", READERS)
def test_what_reaches_the_model(client: str, guarded: Path, fire: Fire) -> None:
    """Once a session each, and at the start what is pinned."""
    seen = {event: see(client, event, fire(client, event)).text for event in ("session-start", "prompt")}
    first = "prompt" if client == "cline" else "session-start"
    assert {event for event, text in seen.items() if "release/day" in text} == {first}
    assert "orders/database" in seen["prompt"]

    def use(tool: str) -> str:
        return see(client, "before-tool", fire(client, "before-tool", **tool_of(client, tool))).text

    assert use("look") == ""
    shell = use("shell")
    assert ("orders/sleep" in shell, "code/sleep" in shell, "git/force" in shell) == (True, True, False)
    assert use("edit") == ""
    assert "git/force" in use("push")
    for event in NATIVE[client].keys() & {"stop", "session-end", "after-compaction"}:
        assert fire(client, event).out == ""
    outcomes = [entry["outcome"] for entry in entries(guarded, "agents.log") if entry["event"] == "before-tool"]
    assert outcomes[-3:] == ["injected", "shown before", "injected"], "a command that only reads is not even noted"


@pytest.mark.parametrize("client", READERS)
def test_what_is_refused(client: str, guarded: Path, run: Run, fire: Fire) -> None:
    run("space", "policy", "main", "--set", "agents.enforce=deny")
    native = "BeforeTool" if client == "gemini" else ""

    def use(tool: str, **changes: Any) -> Seen:
        name = {"hook_event_name": native} if native else {}
        return see(
            client, "before-tool", fire(client, "before-tool", **{**tool_of(client, tool), **name, **changes}), native
        )

    for tool, path in (("edit", "code/sleep"), ("shell", "code/sleep"), ("push", "git/force")):
        name = json.loads(run("get", path, "--json").out)["id"]
        for _ in range(2):  # as often as it is tried
            refusal = use(tool).refusal
            assert (f"[{name}]" in refusal) == (client in CAN_REFUSE)
    assert use("look") == Seen()
    harmless = use("edit", tool_input={"file_path": FILE, "path": FILE, "patchText": PATCH.replace(SLEEP, "x")})
    assert harmless.refusal == ""
    assert ("orders/sleep" in harmless.text) == (client not in ("gemini", "cline")), "it is still warned of"


@pytest.mark.parametrize("client", READERS)
def test_what_cannot_be_read_is_refused_or_told(client: str, project: Path, run: Run, fire: Fire) -> None:
    native = "BeforeTool" if client == "gemini" else NATIVE[client]["before-tool"]
    fields = {**payload(client, "before-tool", project), "hook_event_name": native, "rest": "x" * MAX_BYTES}

    def use(data: bytes) -> Seen:
        return see(client, "before-tool", fire(client, "before-tool", data), native)

    long, cut = json.dumps(fields).encode(), json.dumps(fields)[:400].encode()
    assert ["more than 4 MB" in use(long).text, "not JSON" in use(cut).text] == [client != "gemini"] * 2
    run("space", "policy", "main", "--set", "agents.enforce=deny")
    refusals = ["more than 4 MB" in use(long).refusal, "not JSON" in use(cut).refusal]
    assert refusals == [client in CAN_REFUSE] * 2


def test_only_changes_by_enforced_memories_are_refused(guarded: Path, run: Run, fire: Fire) -> None:
    run("space", "policy", "main", "--set", "agents.enforce=deny")
    run("remember", "Migrations are written by hand.", "--kind", "negative", "--path", "db/hand", "--trigger", "path:migrations/**",
        "--enforce")  # fmt: skip
    run("remember", "Avoid eval.", "--kind", "negative", "--path", "code/eval", "--trigger", "eval")

    def use(name: str, **tool: str) -> Seen:
        return see("claude", "before-tool", fire("claude", "before-tool", tool_name=name, tool_input=tool))

    assert "db/hand" in use("Read", file_path="migrations/1.sql").text
    assert "migrations/1.sql: [mem_" in use("Write", file_path="migrations/1.sql", content="x").refusal
    assert "code/eval" in use("Write", file_path="a.py", content="eval(x)").text
    assert "call time.sleep" in use("Write", file_path="a.py", content="x\n" * 3_000 + "x" * 3_000 + SLEEP).refusal
    assert "too many" in use("Write", file_path="a.py", content="x\n" * 100_000).refusal


def test_gemini_is_warned_after_a_tool_and_refused_before_it(guarded: Path, run: Run, fire: Fire) -> None:
    """Older installations call the hook for compaction before every request."""
    edit = tool_of("gemini", "edit")
    assert fire("gemini", "before-tool", **edit, hook_event_name="BeforeTool").out == ""
    run("space", "policy", "main", "--set", "agents.enforce=deny")
    assert "code/sleep" in see("gemini", "before-tool", fire("gemini", "before-tool", **edit)).text
    before = entries(guarded, "agents.log")
    none = json.dumps({"session_id": "gem-1", "cwd": str(guarded)}).encode()
    assert fire("gemini", "after-compaction", none).out == ""
    assert fire("gemini", "before-tool", **edit).out == ""
    assert (len(entries(guarded, "agents.log")), reported(guarded)) == (len(before) + 1, [])


def test_copilot_gets_one_answer_of_two_installations(
    project: Path, run: Run, fire: Fire, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = json.dumps(payload("copilot", "prompt", project)).encode()
    seen = see("copilot", "prompt", fire("claude", "prompt", prompt))
    assert "orders/database" in seen.text, "it runs the hooks of Claude Code's settings"
    hooks = project / ".github" / COPILOT_HOOKS
    hooks.parent.mkdir(parents=True)
    hooks.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"bash": hook_command("prompt", "copilot")}]}}))
    again = json.dumps(payload("copilot", "prompt", project, session_id="two")).encode()
    assert fire("claude", "prompt", again).out == ""
    assert len(entries(project, "agents.log")) == 1
    assert "orders/database" in see("copilot", "prompt", fire("copilot", "prompt", again)).text


def test_cline_sees_the_start_once_with_the_first_tool(project: Path, fire: Fire) -> None:
    def look(**changes: Any) -> str:
        return see("cline", "before-tool", fire("cline", "before-tool", **tool_of("cline", "look"), **changes)).text

    assert fire("cline", "session-start").out == ""
    assert "release/day" in look()
    assert look() == ""
    assert fire("cline", "session-start", taskId="2").out == ""
    both = see("cline", "before-tool", fire("cline", "before-tool", taskId="2")).text
    assert both.index("release/day") < both.index("orders/sleep")
    assert entries(project, "agents.log")[-1]["outcome"] == "injected"
    assert look(taskId="3") == "", "a session whose start was not reported"
