"""From the hooks of an agent to the stored conversation, by the transcript that the agent keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Run
from tests.extras.transcripts import writers
from tests.extras.transcripts.writers import Turn

TALK = [
    Turn("user", "We decided to store prices in cents because floats lose money."),
    Turn("tool", "pytest -q"),
    Turn("assistant", "Done. I changed src/prices.py to store integers."),
]


class Agent(NamedTuple):
    """Where and how an agent keeps its transcript, and what it passes to its hooks."""

    file: str
    write: Callable[[Path, Sequence[Turn]], object]
    stop: dict[str, Any] | None
    end: dict[str, Any] | None


def write_lines(source: str) -> Callable[[Path, Sequence[Turn]], object]:
    return lambda path, turns: path.write_bytes(b"".join(writers.LINES[source][0](turns)))


def write_cline(path: Path, turns: Sequence[Turn]) -> None:
    path.write_text(json.dumps(writers.cline(turns), indent=1))


def write_opencode(path: Path, turns: Sequence[Turn]) -> None:
    path.unlink(missing_ok=True)
    writers.opencode(str(path), {"ses_1": turns, "ses_2": TALK})


CLINE = {"taskId": "conv_1", "sessionContext": {"rootSessionId": "l1"}, "agent_id": "agent_1", "parent_agent_id": None}
AGENTS = {
    "gemini": Agent(
        ".gemini/tmp/shop/chats/session-1.jsonl", write_lines("gemini"),
        {"session_id": "g-1", "transcript_path": "{path}", "prompt_response": "Done."},
        {"session_id": "g-1", "transcript_path": "{path}", "reason": "exit"},
    ),
    "copilot": Agent(
        ".copilot/session-state/p-1/events.jsonl", write_lines("copilot"),
        {"session_id": "p-1", "transcript_path": "{path}"}, {"session_id": "p-1", "reason": "complete"},
    ),
    "cline": Agent(
        ".cline/data/sessions/l1/l1.messages.json", write_cline, None,
        {**CLINE, "hookName": "agent_end", "taskComplete": {}},
    ),
    "opencode": Agent(".local/share/opencode/opencode.db", write_opencode, {"sessionID": "ses_1"}, None),
}  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
def test_a_session_is_stored_once_grows_and_ends(
    agent: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    file, write, stop, end = AGENTS[agent]
    path = tmp_path / "home" / file
    path.parent.mkdir(parents=True)
    assert run("init").code == 0

    def report(event: str, payload: dict[str, Any] | None) -> dict[str, Any]:
        """Calls the hook, and takes in what it reported."""
        if payload is not None:
            data = json.dumps(payload).replace("{path}", str(path))
            assert run("hook", "run", event, "--agent", agent, stdin=data.encode()).code == 0
        done: dict[str, Any] = json.loads(run("session", "sync", "--json").out)
        assert done["failed"] == {}
        return done

    write(path, TALK[:1])
    assert [one["added"] for one in report("stop", stop)["imported"]] == ([1] if stop else [])
    write(path, TALK)
    first, other = ("session-end", end) if end else ("stop", stop)
    done = report(first, other)
    (one,) = done["imported"]
    assert (one["source"], one["messages"]) == (agent, 3)
    assert len(done["ended"]) == (1 if end else 0)
    shown = json.loads(run("session", "show", one["id"], "--json").out)
    assert [(message["role"], message["text"]) for message in shown["messages"]] == [turn.expected for turn in TALK]
    assert shown["session"]["state"] == ("ended" if end else "active")
    assert bool(json.loads(run("list", "-s", "journal", "--json").out)) == bool(end)


def test_sessions_of_a_database(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imported by their names; of another version it is named in one line."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = tmp_path / "home" / AGENTS["opencode"].file
    path.parent.mkdir(parents=True)
    write_opencode(path, TALK)
    assert run("init").code == 0
    done = run("session", "import", f"{path}#ses_2", "--json").json
    assert [(one["status"], one["source"], one["added"]) for one in done["sessions"]] == [("created", "opencode", 3)]
    done = run("session", "import", str(path), "--json").json
    assert [one["status"] for one in done["sessions"]] == ["created", "unchanged"]
    for form in ("auto", "memcli"):
        assert run("session", "import", f"{path}#ses_3", "--format", form).code == (3 if form == "auto" else 6)
        assert run("session", "import", f"{path}x#ses_3", "--format", form).code == 3
    path.write_bytes(path.read_bytes().replace(b"time_created", b"time_changed"))
    found = run("session", "import", "--discover")
    (line, _) = found.err.splitlines()
    assert (found.code, found.out) == (0, "")
    assert "not a database of a known version of opencode" in line
    hook = run("hook", "run", "stop", "--agent", "opencode", stdin=b'{"sessionID": "ses_1"}')
    assert (hook.code, hook.out, hook.err) == (0, "", "")
    assert run("session", "import", str(path)).code == 2
