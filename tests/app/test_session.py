"""Sessions: messages without secrets, transcripts that are imported once, what hooks reported, and what a deletion takes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from memcli.app import session as sessions
from memcli.app.purge import made_from_session, purge_session
from memcli.app.session import export_lines
from memcli.errors import LockedError, RefusedError
from memcli.extras.transcripts.importing import SessionSyncResult, import_transcript, sync
from memcli.model.conversation import Message
from memcli.record import Record, field
from tests.app.conftest import Project
from tests.conftest import NOW, raising

SECRET = "AKIA" + "Q3EGTX7ZP5RNB2WM"
CENTS = "We decided to store prices in cents because floats lose money."


class Talk(Record, kw_only=True):
    """A transcript as a reader of transcripts gives it."""

    key: str = "k1"
    said: tuple[Message, ...] = ()
    title: str = ""
    source: str = "codex"
    started_at: str = NOW
    cwd: str = ""
    skipped: dict[str, int] = field(default_factory=dict)

    def messages(self) -> Iterator[Message]:
        yield from self.said


def said(*texts: int | str | tuple[str, str]) -> tuple[Message, ...]:
    """Messages by a user, each known by its text, and with the date that is given."""
    pairs = [text if isinstance(text, tuple) else (f"text {text}", NOW) for text in texts]
    return tuple(Message(0, "user", text, at, key=f"m{text}") for text, at in pairs)


def shown(project: Project, name: str) -> list[str]:
    over = project.over()
    return [message.text for message in sessions.messages(over, sessions.find(over, name))]


def test_secrets_never_reach_the_disk_and_what_was_written_by_hand_is_not_shared_or_exported(project: Project) -> None:
    session = project.say(f"use {SECRET}", title=f"the key {SECRET}")
    file = project.root / f"local/sessions/main/{session.id}.jsonl"
    assert (project.holding(SECRET.encode()), "[REDACTED:aws_key]" in file.read_text()) == ([], True)
    with file.open("a") as added:
        added.write(json.dumps({"number": 2, "role": "user", "text": f"use {SECRET}"}) + "\n")
    over = project.over()
    session = sessions.find(over, session.id)
    assert SECRET.encode() not in b"".join(export_lines(over, session, redact=True))
    for act in (lambda: sessions.share(over, session, shared=True), lambda: list(export_lines(over, session))):
        with pytest.raises(RefusedError, match="1 place has some"):
            act()


def test_deleting_a_session_takes_what_was_made_of_it(project: Project) -> None:
    session, other = project.say(title="one"), project.say(title="other")
    for space, one in (("main", session), ("journal", session), ("main", other)):
        project.add(f"Of {one.title} in {space}.", f"{space}/{one.title}", space=space, provenance={"session": one.id})
    project.propose("Use tabs.", provenance={"session": session.id})
    assert sum(map(len, made_from_session(project.over(), session).values())) == 2
    gone = purge_session(project.over(), session)
    assert [memory.path for memory in gone] == ["journal/one", "main/one"]
    assert (project.listed(), project.waiting()) == (["main/other"], [])
    assert purge_session(project.over(), other, keep_memories=True) == []
    assert project.listed() == ["main/other"]
    acts = [(act["action"], act["changes"][0]["id"]) for act in project.acts() if "session" in act["action"]]
    assert acts == [(f"{act} session", one.id) for act in ("start", "delete") for one in (session, other)]


def test_a_transcript_is_imported_once_and_grows(project: Project) -> None:
    first = import_transcript(
        project.over(), Talk(said=said(1, 2, 2), title=f"the {SECRET}", skipped={"malformed line": 3})
    )
    data = first.to_json()
    name = str(data.pop("id"))
    assert data == {
        "status": "created", "title": "the [REDACTED:aws_key]", "source": "codex", "messages": 2, "read": 3, "added": 2,
        "skipped": {"already imported": 1, "malformed line": 3}, "redactions": {"aws_key": 1},
    }  # fmt: skip
    file = project.root / f"local/sessions/main/{name}.jsonl"
    before = file.read_bytes()
    grown = Talk(said=said(1, 2, 3))
    for talk, dry_run, status in ((Talk(said=said(1, 2, 2)), False, "unchanged"), (grown, True, "grown")):
        assert (import_transcript(project.over(), talk, dry_run=dry_run).status, file.read_bytes()) == (status, before)
    done = import_transcript(project.over(), grown)
    assert (done.status, done.added, shown(project, name)) == ("grown", 1, ["text 1", "text 2", "text 3"])
    assert [act["action"] for act in project.acts()] == ["import session", "import session"]


def entry(event: str, session: str = "9f0c", text: str = "", path: str = "") -> dict[str, str]:
    """What a hook reported."""
    at = "2026-01-30T10:00:00Z"
    return {"at": at, "agent": "claude", "event": event, "session": session, "text": text, "transcript": path}


def synced(project: Project, *entries: dict[str, str], **files: Talk | Exception) -> SessionSyncResult:
    """What hooks reported, taken in with the transcripts that there are, by path."""

    def read(path: str) -> list[Talk]:
        found = files.get(path)
        if isinstance(found, Exception):
            raise found
        return [found] if found else []

    return sync(project.over(), entries, read)


def test_what_hooks_reported_is_taken_in_once_and_grows_until_it_is_over(project: Project) -> None:
    begun, whole = Talk(key="9f0c", said=said((CENTS, NOW))), Talk(key="9f0c", said=said((CENTS, NOW), 2))
    first = synced(project, entry("stop", path="a"), a=begun)
    assert ([one.added for one in first.imported], first.ended) == ([1], [])
    done = synced(project, entry("stop", path="a"), entry("session-end", path="a"), a=whole)
    assert ([one.added for one in done.imported], [one.log[0].status for one in done.ended]) == ([1], ["created"])
    assert len(project.waiting()) == 1
    assert synced(project).to_json() == {"imported": [], "ended": [], "failed": {}}


def test_without_a_transcript_what_was_reported_is_kept(project: Project) -> None:
    reported = [
        entry("after-compaction", "c1", "The user wants prices in cents."),
        entry("stop", "c1", "Done.", "gone"),
    ]
    for error in (FileNotFoundError(2, "gone"), OSError(5, "Input/output error")):
        done = synced(project, *({**one, "session": str(error.errno)} for one in reported), gone=error)
        assert list(done.failed) == [str(error.errno)]
        (one,) = done.imported
        assert shown(project, one.session.id) == ["The user wants prices in cents.", "Done."]


def test_a_deleted_session_does_not_come_back_unless_it_is_imported(project: Project) -> None:
    talk = Talk(key="9f0c", source="claude-code", said=said(1))
    (one,) = synced(project, entry("stop", path="a"), a=talk).imported
    purge_session(project.over(), one.session)
    over = entry("session-end", text="Done.", path="a")
    assert synced(project, over, a=talk).to_json() == {"imported": [], "ended": [], "failed": {}}
    assert sessions.list_sessions(project.over()) == []
    import_transcript(project.over(), talk)
    assert [ended.session.id for ended in synced(project, over, a=talk).ended] == [one.session.id]


def test_a_full_journal_stops_no_other(project: Project) -> None:
    project.add("One.", space="journal", pinned=True)
    project.policy("journal", max_objects=1)
    files = {"a": Talk(key="9f0c", said=said(1)), "b": Talk(key="b2", said=said(2))}
    done = synced(project, entry("session-end", path="a"), entry("stop", "b2", path="b"), **files)
    assert (list(done.failed), len(done.imported)) == (["9f0c"], 2)
    project.policy("journal", max_objects=100)
    assert [one.session.id for one in synced(project).ended] == [done.imported[0].session.id]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), LockedError("locked", "try again")])
def test_a_write_that_fails_gives_no_transcript_up(
    project: Project, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr("memcli.store.sessions.FileSessions.take_in", raising(error))
    with pytest.raises(type(error)):
        synced(project, entry("session-end", text="What was reported.", path="a"), a=Talk(said=said(1)))
