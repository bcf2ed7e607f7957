"""`memcli session sync`: what the hooks of agents reported is taken in once, and what is over is ended."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from memcli.errors import LockedError
from memcli.store.agents import Spool
from memcli.store.layout import Layout
from memcli.store.state import State
from tests.conftest import Run

SAID = (
    ("user", "We decided to store prices in cents because floats lose money."),
    ("assistant", "Done. I changed src/prices.py to store integers."),
)


def transcript(path: str, session: str, said: tuple[tuple[str, str], ...] = SAID) -> str:
    parent, lines = None, []
    for n, (role, text) in enumerate(said, 1):
        name = str(uuid.UUID(int=n))
        line = {"type": role, "uuid": name, "parentUuid": parent, "sessionId": session, "cwd": str(Path.cwd())}
        at = f"2026-01-2{n}T10:00:00Z"
        lines.append(json.dumps({**line, "timestamp": at, "message": {"role": role, "content": text}}))
        parent = name
    Path(path).write_text("\n".join(lines) + "\n")
    return str(Path(path).absolute())


def spool(event: str, session: str = "9f0c", *, path: str = "", text: str = "", agent: str = "claude") -> None:
    entry = {"at": "2026-01-30T10:00:00Z", "agent": agent, "event": event, "session": session, "cwd": str(Path.cwd())}
    Spool(State(Layout(".memory"))).add({**entry, "transcript": path, "text": text})


def synced(run: Run) -> dict:
    result = run("session", "sync", "--json")
    assert result.code == 0, result.err
    return result.json


@pytest.fixture(autouse=True)
def store(run: Run) -> None:
    assert run("init").code == 0


def test_a_session_that_is_over_is_imported_and_ended(run: Run) -> None:
    path = transcript("talk.jsonl", "9f0c")
    spool("stop", path=path, text="Done.")
    spool("session-end", path=path)
    done = synced(run)
    assert [(one["status"], one["messages"], one["source"]) for one in done["imported"]] == [
        ("created", 2, "claude-code")
    ]
    assert [one["log"][0]["status"] for one in done["ended"]] == ["created"]
    assert synced(run) == {"imported": [], "ended": [], "failed": {}}
    assert "cents" in run("inbox").out


def test_a_session_that_goes_on_grows(run: Run) -> None:
    spool("stop", path=transcript("talk.jsonl", "9f0c", SAID[:1]))
    assert [one["added"] for one in synced(run)["imported"]] == [1]
    spool("stop", path=transcript("talk.jsonl", "9f0c"))
    done = synced(run)
    assert ([one["added"] for one in done["imported"]], done["ended"]) == ([1], [])


def test_without_a_transcript_what_was_reported_is_kept(run: Run) -> None:
    spool("after-compaction", "c1", text="The user wants prices in cents.", agent="codex")
    spool("stop", "c1", text="I changed the prices.", path=str(Path("gone.jsonl").absolute()), agent="codex")
    done = synced(run)
    assert list(done["failed"]) == ["c1"]
    (one,) = done["imported"]
    shown = run("session", "show", one["id"], "--json").json["messages"]
    assert [message["text"] for message in shown] == ["The user wants prices in cents.", "I changed the prices."]


def test_what_is_taken_in_half_way_is_taken_in_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    spool("session-end", path=transcript("talk.jsonl", "9f0c"))

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("memcli.app.session_import.import_transcript", fail)
        assert run("session", "sync").code != 0
    spool("stop", "other", text="Something else.", agent="codex")
    assert {one["source"] for one in synced(run)["imported"]} == {"claude-code", "codex"}


def test_a_transcript_that_fails_to_be_read_stops_no_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    spool("session-end", "bad", path=transcript("bad.jsonl", "bad"), text="What was reported.")
    with monkeypatch.context() as patch:
        patch.setattr("memcli.wiring.transcripts.read_transcripts", fail)
        done = synced(run)
    assert done["failed"] == {"bad": "Input/output error"}
    assert [one["messages"] for one in done["imported"]] == [1]
    assert synced(run)["imported"] == []


def test_a_deleted_session_does_not_come_back_unless_it_is_imported(run: Run) -> None:
    path = transcript("talk.jsonl", "9f0c")
    spool("stop", path=path)
    (one,) = synced(run)["imported"]
    assert run("session", "delete", one["id"], "--yes").code == 0
    spool("session-end", path=path, text="Done.")
    assert synced(run) == {"imported": [], "ended": [], "failed": {}}
    assert run("session", "list", "--json").json == []
    assert run("session", "import", path).code == 0
    spool("session-end", path=path)
    assert [one["session"]["id"] if "session" in one else one["id"] for one in synced(run)["ended"]] == [one["id"]]


def test_a_full_journal_stops_no_other(run: Run) -> None:
    assert run("remember", "One.", "-s", "journal", "--pin").code == 0
    assert run("space", "policy", "journal", "--set", "max_objects=1").code == 0
    spool("session-end", path=transcript("talk.jsonl", "9f0c"))
    spool("stop", "b2", path=transcript("other.jsonl", "b2"))
    done = synced(run)
    assert (list(done["failed"]), len(done["imported"])) == (["9f0c"], 2)
    assert run("space", "policy", "journal", "--set", "max_objects=100").code == 0
    assert [one["id"] for one in synced(run)["ended"]] == [done["imported"][0]["id"]]


def test_while_the_store_is_locked_no_transcript_is_given_up(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise LockedError("locked", "try again")

    spool("session-end", path=transcript("talk.jsonl", "9f0c"), text="What was reported.")
    with monkeypatch.context() as patch:
        patch.setattr("memcli.store.sessions.FileSessions.take_in", fail)
        assert run("session", "sync").code == LockedError.exit_code
    assert [one["messages"] for one in synced(run)["imported"]] == [2]
