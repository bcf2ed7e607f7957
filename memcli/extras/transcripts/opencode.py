"""Sessions of opencode: rows of its SQLite database, which is opened for reading only."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import Any
from urllib.parse import quote

from memcli.errors import CorruptError, NotFoundError, UsageError
from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.content import call_message, described, without_reminders
from memcli.extras.transcripts.transcript import RawMessage, Transcript, parsed
from memcli.extras.transcripts.values import MAX_BYTES, dict_of, moment, object_in, text_of
from memcli.model.names import show

SOURCE = "opencode"
MARK = b"SQLite format 3\0"
_ROLES = ("user", "assistant")
_COLUMNS = {
    "session": ("id", "parent_id", "directory", "title", "revert", "time_created"),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "time_created", "data"),
}
_IS_TABLE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?"
_SESSIONS = "SELECT id, title, directory, time_created FROM session WHERE parent_id IS NULL ORDER BY time_created, id"
_SUBAGENTS = "SELECT count(*) FROM session WHERE parent_id IS NOT NULL"
_PARTS = """SELECT message.rowid, message.id, part.rowid FROM message LEFT JOIN part ON part.message_id = message.id
WHERE message.session_id = ? ORDER BY message.time_created, message.id, part.id"""
_ROWS = {table: f"SELECT id, time_created, data FROM {table} WHERE rowid = ?" for table in ("message", "part")}
_REASONS = {
    "reasoning": reasons.THINKING, "file": reasons.ATTACHMENT, "compaction": reasons.COMPACTION,
    "subtask": reasons.SUBAGENT,
}  # fmt: skip


def read_opencode(path: str, only: str, skipped: Counter[str]) -> Iterator[Transcript]:
    """The sessions in a database, without those of subagents; only the one with the id `only`, unless that is empty.

    Raises UsageError for a database of another program or version, NotFoundError for an unknown id, CorruptError.
    """
    with _opened(path) as database:
        found = [row for row in database.execute(_SESSIONS) if not only or row[0] == only]
        skipped[reasons.SUBAGENT] += 0 if only else database.execute(_SUBAGENTS).fetchone()[0]
    if only and not found:
        raise NotFoundError(
            f"{show(path)}: no session {show(only)}", "list sessions with `memcli session import --discover`"
        )
    for key, title, directory, created in found:
        yield parsed(
            SOURCE,
            text_of(key),
            partial(_read, path, text_of(key)),
            title=text_of(title),
            started_at=moment(created),
            cwd=text_of(directory),
        )


@contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """The database. Raises UsageError if it lacks tables of opencode, CorruptError if it cannot be read."""
    try:
        with closing(_connected(path)) as database:
            for table, columns in _COLUMNS.items():
                # Only a table with unique ids is accepted: a view of that name might have endless rows.
                is_table = database.execute(_IS_TABLE, (table,)).fetchone()
                found = database.execute(f"PRAGMA table_info({table})").fetchall() if is_table else []
                keys = [name for _, name, _, _, _, place in found if place]
                there = {name for _, name, *_ in found} if keys == ["id"] else set()
                if missing := [column for column in columns if column not in there]:
                    raise UsageError(
                        f"{show(path)}: not a database of a known version of opencode: no {table}.{missing[0]}",
                        "update memcli",
                    )
            yield database
    except sqlite3.Error as error:
        raise CorruptError(f"{show(path)}: cannot be read: {error}", "close opencode and try again") from None


def _connected(path: str) -> sqlite3.Connection:
    """A connection that never writes. Raises sqlite3.Error."""
    # SQLite needs files beside a database in use. Where it cannot make them, as in a read-only folder, the database is opened
    # as immutable.
    where = f"file:{quote(os.fsencode(os.path.abspath(path)))}"
    failed = sqlite3.Error()
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        database = sqlite3.connect(f"{where}?{mode}", 1.0, uri=True, isolation_level=None)
        # A longer value raises DataError instead of filling the memory.
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            # A schema that was made to mislead must not call functions with side effects.
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        except sqlite3.Error as error:
            database.close()
            failed = error
            if (
                error.sqlite_errorcode == sqlite3.SQLITE_BUSY
            ):  # a writer is at work: as immutable it could be half written
                break
        else:
            return database
    raise failed


def _read(path: str, session: str, skipped: Counter[str]) -> Iterator[RawMessage]:
    """The messages of a session, up to the point that it was reverted to. Raises UsageError, CorruptError."""
    with _opened(path) as database:
        (revert,) = database.execute("SELECT revert FROM session WHERE id = ?", (session,)).fetchone() or ("",)
        # A reverted session names the first message that was undone; it and all later ones are left out.
        values = object_in(text_of(revert).encode("utf-8", "replace"), Counter(), "") or {}
        reverted = text_of(values.get("messageID"))
        last, role, is_reverted = None, "", False
        for message, key, part in database.execute(_PARTS, (session,)):
            if message != last:
                values = _values(database, "message", message, skipped)
                last, role = message, text_of(values.get("role"))
                is_reverted = is_reverted or key == reverted
                if role not in _ROLES or values.get("summary") is True:
                    skipped[reasons.COMPACTION if role in _ROLES else reasons.ROLE] += 1
                    role = ""
            if is_reverted:
                skipped[reasons.BRANCH] += 1
            elif role and part is not None:
                yield from _part(role, _values(database, "part", part, skipped), skipped)


def _values(database: sqlite3.Connection, table: str, row: int, skipped: Counter[str]) -> dict[str, Any]:
    """The JSON object in a row, with its id and time; empty for one that is too long or no object, which is counted."""
    try:
        key, at, data = database.execute(_ROWS[table], (row,)).fetchone()
    except sqlite3.DataError:
        skipped[reasons.TOO_LONG] += 1
        return {}
    values = object_in(text_of(data).encode("utf-8", "replace"), skipped, reasons.MALFORMED) or {}
    return {**values, "id": key, "at": at}


def _part(role: str, values: Mapping[str, Any], skipped: Counter[str]) -> Iterator[RawMessage]:
    """The message of a part: its text, or its tool call."""
    # A call without a result yet is skipped; the next import reads it.
    kind, key, at = text_of(values.get("type")), text_of(values.get("id")), values.get("at")
    state = dict_of(values.get("state"))
    if kind == "tool" and state.get("status") in ("completed", "error"):
        what = described(text_of(values.get("tool")), state.get("input"))
        yield call_message(what, at, key, text_of(state.get("error")) if state["status"] == "error" else None)
    elif kind == "text" and values.get("synthetic") is not True and values.get("ignored") is not True:
        text = text_of(values.get("text"))
        yield RawMessage(role, without_reminders(text) if role == "user" else text, at, key=key)
    else:
        skipped[reasons.INJECTED if kind == "text" else _REASONS.get(kind, reasons.META)] += 1
