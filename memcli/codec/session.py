"""The session file: JSON Lines of a header, then messages and changes of state in the order of their arrival.

    {"format": "memcli/session", "id": "ses_...", "space": "main", "started_at": "...", "version": 1}
    {"at": "...", "number": 1, "role": "user", "text": "..."}
    {"at": "...", "state": "paused"}

Bytes after the last newline were truncated by a crash and are ignored. The last line determines the state of the session: a
message means that it is active.
"""

from __future__ import annotations

from collections.abc import Mapping

from memcli.codec.canonical import decode, encode_line
from memcli.errors import CorruptError, UsageError
from memcli.model.conversation import (
    ACTIVE,
    ENDED,
    MESSAGE_FIELDS,
    SESSION_FIELDS,
    STATE_FIELDS,
    Entry,
    Message,
    Session,
    StateChange,
)
from memcli.model.memory import Json
from memcli.model.shapes import check_fields
from memcli.record import replace

FORMAT = "memcli/session"
VERSION = 1
MAX_LINE = 400 << 20
"""The most bytes of a line: a text of 64 MiB of control characters, escaped."""
MEND = "`memcli check store --repair` recovers the intact messages"


def encode_header(session: Session) -> bytes:
    """The first line, without its newline."""
    names = ("title", "started_at", "source", "key")
    fields = {name: getattr(session, name) for name in names if getattr(session, name)}
    return encode_line(
        {"format": FORMAT, "version": session.version, "id": session.id, "space": session.space, **fields}
    )


def encode_entry(entry: Entry) -> bytes:
    """The line of a message or a change of state, without its newline."""
    return encode_line(entry_to_json(entry))


def entry_to_json(entry: Entry) -> dict[str, Json]:
    """A message or a change of state as JSON, without fields equal to their default."""
    fields = MESSAGE_FIELDS if isinstance(entry, Message) else STATE_FIELDS
    return {name: value for name in fields if (value := getattr(entry, name)) or name == "text"}


def session_to_json(session: Session) -> dict[str, Json]:
    """A session as JSON for the output of commands."""
    names = ("id", "space", "title", "state", "started_at", "ended_at", "outcome", "source", "key", "messages")
    fields = {name: getattr(session, name) for name in names}
    return {name: value for name, value in fields.items() if value or name in ("title", "messages")}


def decode_header(line: bytes, where: str) -> Session:
    """The session of a header line, as active and without messages. Raises CorruptError naming `where`."""
    tree = _parse(line, where)
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise CorruptError(f'{where}: not a session (no "format": "{FORMAT}")', MEND)
    version = tree.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise CorruptError(f"{where}: version is missing or not a number", MEND)
    # A newer version may have other fields: it is read as far as it is known, and never written.
    if version == VERSION:
        _check(tree, SESSION_FIELDS, ("id", "space"), where)
    known = {name: tree[name] for name in SESSION_FIELDS if isinstance(tree.get(name), str) and name != "format"}
    return Session(**{"id": "", "space": "", **known, "version": version})


def decode_entry(line: bytes, where: str) -> Entry:
    """The message or change of state in a line. Raises CorruptError naming `where`."""
    tree = _parse(line, where)
    if not isinstance(tree, dict) or ("state" in tree) == ("number" in tree):
        raise CorruptError(f"{where}: neither a message nor a change of state", MEND)
    kind: type[Entry] = StateChange if "state" in tree else Message
    fields = STATE_FIELDS if kind is StateChange else MESSAGE_FIELDS
    _check(tree, fields, ("state",) if kind is StateChange else ("number", "role", "text"), where)
    return kind(**{name: tree[name] for name in fields if name in tree})


def check_writable(session: Session, where: str) -> None:
    """Raises CorruptError when the file has a newer format, to which this version must not append."""
    if session.version > VERSION:
        raise CorruptError(
            f"{where}: written by a newer memcli (format version {session.version}; this one writes {VERSION})",
            "upgrade memcli; nothing was changed",
        )


def end_of(tail: bytes, start: int, where: str) -> tuple[int, StateChange, int] | None:
    """The end of a session file, from its bytes `tail` at offset `start`: the number of the last message, the state, and the
    size of the file in complete lines; None when `tail` does not reach back to a message.

    Raises CorruptError for a line that cannot be read.
    """
    size = tail.rfind(b"\n") + 1
    change: StateChange | None = None
    last = end = size
    while end:
        begin = tail.rfind(b"\n", 0, end - 1) + 1
        if not begin:  # the header, or a line that begins before `tail`
            break
        entry = decode_entry(tail[begin:end], where)
        if isinstance(entry, Message):
            return entry.number, change or StateChange(ACTIVE), start + last
        change, end = change or entry, begin
    return None if start else (0, change or StateChange(ACTIVE), last)


def with_end(session: Session, messages: int, change: StateChange) -> Session:
    """The session with the state and the number of messages that `end_of` returned."""
    is_ended = change.state == ENDED
    return replace(
        session, messages=messages, state=change.state, ended_at=change.at if is_ended else "",
        outcome=change.outcome if is_ended else "",
    )  # fmt: skip


def _parse(line: bytes, where: str) -> Json:
    try:
        return decode(line, where)
    except CorruptError:
        raise CorruptError(f"{where}: not valid JSON in UTF-8", MEND) from None


def _check(tree: Mapping[str, Json], fields: Mapping[str, Json], required: tuple[str, ...], where: str) -> None:
    for name in required:
        if name not in tree:
            raise CorruptError(f"{where}: {name} is missing", MEND)
    try:
        check_fields(tree, fields)
    except UsageError as error:
        raise CorruptError(f"{where}: {error.message}", MEND) from None
