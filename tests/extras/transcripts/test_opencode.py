"""The database of opencode: its sessions are read and nothing is written, whatever it holds."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import CorruptError, MemcliError, NotFoundError, UsageError
from memcli.extras.transcripts.formats import conversations
from memcli.extras.transcripts.opencode import _COLUMNS
from tests.extras.transcripts import writers
from tests.extras.transcripts.conftest import Found, read
from tests.extras.transcripts.writers import Turn

TALK = [
    Turn("user", "Why does the total differ?"), Turn("assistant", "Let me look: 😀"),
    Turn("tool", "pytest -q", "1 failed in 0.12s"), Turn("tool", "git diff"), Turn("assistant", "It rounds."),
]  # fmt: skip
SAID = [turn.expected for turn in TALK]


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with two sessions."""
    path = tmp_path / "opencode.db"
    writers.opencode(str(path), {"ses_1": TALK, "ses_2": TALK[:1]})
    return path


def only(path: Path, session: str = "ses_1") -> Found:
    return read(path.with_name(f"{path.name}#{session}"))


def test_sessions_are_read_in_order_once_and_one_is_named_behind_the_file(path: Path) -> None:
    """A subagent has none; one that grew gives the same keys again."""
    writers.opencode(str(path), {"ses_3": TALK}, parent_id="ses_1")
    found = read(path)
    first, second = found.transcripts
    assert (first.source, first.key, first.title, first.cwd) == ("opencode", "ses_1", "Chat ses_1", writers.FOLDER)
    assert (first.started_at[:10], second.key, found.skipped["subagent file"]) == (writers.DAY, "ses_2", 1)
    assert [[(one.role, one.text) for one in messages] for messages in found.messages] == [SAID, SAID[:1]]
    assert only(path).said == SAID
    change(path, "DELETE FROM session WHERE id = 'ses_2'", "DELETE FROM message WHERE session_id = 'ses_2'",
           "DELETE FROM part WHERE message_id LIKE 'msg_ses_2%'")  # fmt: skip
    writers.opencode(str(path), {"ses_2": TALK})
    keys = [one.key for one in only(path, "ses_2").messages[0]]
    assert (keys[0], len(set(keys))) == (found.messages[1][0].key, len(TALK))
    for name, session, message in (
        (path.name, "ses_3", "no session"),
        (path.name, "ses_4", "no session"),
        ("none.db", "ses_1", "no such file"),
    ):
        with pytest.raises(NotFoundError, match=message):
            only(path.with_name(name), session)


def test_what_was_taken_back_is_left_out(path: Path) -> None:
    change(path, """UPDATE session SET revert = '{"messageID": "msg_ses_1_000002"}'""")
    found = only(path)
    assert (found.said, found.skipped["other branch"]) == (SAID[:2], 9)


PARTS: tuple[tuple[object, str], ...] = (
    ({"type": "reasoning", "text": "Hm."}, "thinking"),
    ({"type": "text", "text": "The file says x.", "synthetic": True}, "injected context"),
    ({"type": "text", "text": "Noted.", "ignored": True}, "injected context"), ({"type": "file", "url": "data:x"}, "attachment"),
    ({"type": "tool", "tool": "bash", "state": {"status": "running", "input": {}}}, "no message"),
    ({"type": "text", "text": "<hook_context>x</hook_context>"}, "empty"), ({"type": "text", "text": "x" * 130_000}, "too long"),
    ("{broken", "malformed"), ("[]", "malformed"), ("[" * 100_000, "malformed"), (7, "malformed"),
)  # fmt: skip


def test_a_part_that_says_nothing_is_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.transcripts.opencode.MAX_BYTES", 120_000)
    before = only(path, "ses_2").skipped
    for part, reason in PARTS:
        with closing(sqlite3.connect(path)) as database, database:
            data = json.dumps(part) if isinstance(part, dict) else part
            database.execute("INSERT OR REPLACE INTO part VALUES ('prt_x', 'msg_ses_2_000000', 1, ?)", (data,))
        found = only(path, "ses_2")
        assert (part, found.said, found.skipped[reason]) == (part, SAID[:1], before[reason] + 1)


def test_nothing_is_written_and_what_is_not_checkpointed_is_read(path: Path) -> None:
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("DELETE FROM session WHERE id = 'ses_2'")
        writer.commit()
        before = path.read_bytes()
        assert [one.key for one in read(path).transcripts] == ["ses_1"]
        assert path.read_bytes() == before


@pytest.mark.parametrize("hindrance", ["folder", "files"])
def test_a_database_that_nothing_can_be_written_beside_is_read(path: Path, hindrance: str) -> None:
    change(path, "PRAGMA journal_mode = WAL")
    for ending in ("-wal", "-shm") if hindrance == "files" else ():
        path.with_name(path.name + ending).mkdir()
    path.parent.chmod(0o500 if hindrance == "folder" else 0o700)
    try:
        assert only(path).said == SAID
    finally:
        path.parent.chmod(0o700)


def test_a_database_that_is_being_written_is_not_read_half_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda where, _, **more: connect(where, 0, **more))
    with closing(connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CorruptError, match="database is locked"):
            read(path)


FOREIGN: dict[str, tuple[Callable[[Path], object], type[MemcliError], str]] = {
    "another program": (
        lambda path: change(path, "DROP TABLE part"), UsageError, "not a database of a known version of opencode: no part.id",
    ),
    "another version": (
        lambda path: change(path, "ALTER TABLE message RENAME COLUMN data TO content"), UsageError, "no message.data",
    ),
    "a view that never ends": (
        lambda path: change(path, "DROP TABLE part", """CREATE VIEW part AS WITH RECURSIVE n(id) AS
            (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, id AS message_id, 1 AS time_created, '' AS data FROM n"""),
        UsageError, "no part.id",
    ),
    "ids that are not unique": (
        lambda path: change(path, "ALTER TABLE part RENAME TO old", "CREATE TABLE part AS SELECT * FROM old"),
        UsageError, "no part.id",
    ),
    "cut off": (lambda path: os.truncate(path, 5000), CorruptError, "cannot be read"),
    "noise": (
        lambda path: path.write_bytes(path.read_bytes()[:100] + b"\xff" * 9000), CorruptError, "cannot be read",
    ),
}  # fmt: skip


def test_what_is_no_database_of_opencode_gives_one_clear_line(path: Path) -> None:
    whole = path.read_bytes()
    for name, (damage, kind, message) in FOREIGN.items():
        path.write_bytes(whole)
        damage(path)
        with pytest.raises(kind) as raised:
            read(path)
        lines = raised.value.message + raised.value.hint
        assert (name, message in raised.value.message, "\n" in lines) == (name, True, False)
        assert raised.value.hint


@given(st.data())
def test_no_values_raise_anything_but_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Any field of a database replaced by another value."""
    path = tmp_path_factory.mktemp("odd") / "opencode.db"
    writers.opencode(str(path), {"ses_1": TALK[:3]})
    odd = st.sampled_from([0, -1, 1e308, "", "x", b"\xff\xfe", "[]", "{}", '{"type": "tool", "state": []}',
                           '{"type": []}', '{"role": []}', '{"role": "user", "type": "text", "text": {}}'])  # fmt: skip
    columns = [(table, name) for table, names in _COLUMNS.items() for name in names if name != "parent_id"]
    with closing(sqlite3.connect(path)) as database, database:
        for _ in range(data.draw(st.integers(1, 4))):
            table, name = data.draw(st.sampled_from(columns))
            with suppress(sqlite3.IntegrityError):
                row = data.draw(st.integers(1, 3))
                database.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (data.draw(odd), row))
    with suppress(MemcliError):
        for transcript in conversations(str(path)):
            for message in transcript.messages():
                assert message.role in ("user", "assistant", "tool")
                (message.text + message.key).encode()
