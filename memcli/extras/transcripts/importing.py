"""Import sessions: transcripts of other programs, exported files of sessions, and the reports of agents' hooks.

`sync` also completes the ends of sessions that were interrupted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from memcli.app.repo import check_not_derived
from memcli.app.session import MAX_NAME, MAX_TEXT, SessionImport, record, redacted
from memcli.app.session_end import Ended, end, finish_all
from memcli.app.workspace import Workspace
from memcli.clock import normalize_time
from memcli.codec.session import check_writable, decode_entry, decode_header
from memcli.digests import sha256
from memcli.errors import CorruptError, MemcliError, RefusedError, UsageError, reason
from memcli.extras.transcripts.transcript import Transcript
from memcli.extras.transcripts.values import text_of
from memcli.model.conversation import ENDED, ROLES, Entry, Message, Session, StateChange
from memcli.model.memory import Json
from memcli.model.names import is_session_id
from memcli.record import Record, field, replace
from memcli.safety.secrets.detector import Detector

MEMCLI = "memcli"
"""The name of the format that `export_lines` writes."""
DELETED = "deleted"
"""The status of a conversation that was not imported because its session was deleted."""
_MAX_KEY = 200


def import_transcript(
    workspace: Workspace, transcript: Transcript, *, dry_run: bool = False, may_revive: bool = True,
    messages: Iterable[Message] | None = None,
) -> SessionImport:  # fmt: skip
    """Imports a conversation. Messages that are stored already stay as they are; either all others are added, or none. A
    deleted session is imported again with `may_revive`, and otherwise reported as DELETED. `messages` replaces
    `transcript.messages()` for a caller that handles the errors of reading them.

    Raises what reading it raises, RefusedError, LockedError, CorruptError, StoreError.
    """
    check_not_derived(workspace)
    intake = _Intake(workspace.redactor.detector(workspace.space))
    session = Session(
        "",
        workspace.space,
        intake.name(transcript.title),
        started_at=_time(transcript.started_at),
        source=transcript.source,
        key=intake.key(transcript.key),
    )
    stored, was_deleted = workspace.sessions.find_imported(session.space, session.source, session.key)
    if was_deleted and not may_revive:
        return SessionImport(DELETED, session, 0, 0)
    before = "" if stored is None else workspace.sessions.digest(stored.space, stored.id)
    incoming = intake.usable(transcript.messages() if messages is None else messages)
    after, added = workspace.sessions.take_in(session, incoming, intake.message, dry_run=dry_run)
    if added and not dry_run:
        record(workspace, "import session", after, before)
    skipped = Counter(transcript.skipped) + intake.skipped
    skipped["already imported"] = intake.read - added - intake.skipped.total()
    status = ("created" if stored is None else "grown") if added else "empty" if stored is None else "unchanged"
    return SessionImport(status, after, intake.read, added, +skipped, intake.redactions)


def is_session(first: bytes) -> bool:
    """Whether this first line of a file is the header of an exported session."""
    try:
        decode_header(first, "it")
    except CorruptError:
        return False
    return True


def import_session(
    workspace: Workspace, lines: Iterable[bytes], where: str, into: str | None, *, dry_run: bool = False
) -> SessionImport:
    """Imports the file of a session into the space `into`, by default the one that it names: all of it, or nothing.

    Raises CorruptError naming the wrong line, ConflictError if the session is stored with other messages, RefusedError,
    LockedError, StoreError.
    """
    rest = iter(lines)
    header = decode_header(next(rest, b""), f"{where}:1")
    check_writable(header, where)
    if not is_session_id(header.id):
        raise CorruptError(f"{where}:1: {header.id[:80]!a} is not the id of a session", "correct it at its source")
    target = workspace.copy_with(space=into or header.space)
    check_not_derived(target)
    intake = _Intake(target.redactor.detector(target.space))
    session = replace(
        header, space=target.space, title=intake.name(header.title), started_at=_time(header.started_at),
        source=intake.name(header.source), key=intake.key(header.key),
    )  # fmt: skip
    is_new = session.id not in target.sessions.ids(session.space)
    before = "" if is_new else target.sessions.digest(session.space, session.id)
    entries = map(intake.entry, intake.numbered(rest, where))
    after, added = target.sessions.restore(session, entries, dry_run=dry_run)
    if (added or is_new) and not dry_run:
        record(target, "import session", after, before)
    skipped = intake.skipped + Counter({"already imported": intake.read - added})
    status = "created" if is_new else "grown" if added else "unchanged"
    return SessionImport(status, after, intake.read, added, +skipped, intake.redactions)


class _Intake:
    """Cleans, redacts and validates incoming entries; counts those read and skipped, and the redactions by kind."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.read = 0
        self.skipped: Counter[str] = Counter()
        self.redactions: Counter[str] = Counter()

    def usable(self, messages: Iterable[Message]) -> Iterator[Message]:
        """The messages that can be stored; others are counted. A message without a key gets its number as key."""
        for self.read, message in enumerate(messages, 1):
            if message.role not in ROLES:
                self.skipped["unknown role"] += 1
            elif not message.text.strip():
                self.skipped["empty message"] += 1
            elif len(message.text) > MAX_TEXT:
                self.skipped["too long"] += 1
            else:
                yield message if message.key else replace(message, key=f"#{self.read}")

    def numbered(self, lines: Iterable[bytes], where: str) -> Iterator[Entry]:
        """The entries in the lines below a header. Raises CorruptError for messages that are not numbered without gaps."""
        for number, line in enumerate(lines, 2):
            if not line.endswith(b"\n"):
                self.skipped["incomplete last line"] += 1
                return
            entry = decode_entry(line, f"{where}:{number}")
            if isinstance(entry, Message):
                self.read += 1
                if entry.number != self.read:
                    raise CorruptError(
                        f"{where}:{number}: message {entry.number} where {self.read} should be",
                        "export the session again",
                    )
            yield entry

    def entry(self, entry: Entry) -> Entry:
        """A redacted message or change of state."""
        if isinstance(entry, Message):
            return self.message(entry)
        return StateChange(entry.state, _time(entry.at), self.name(entry.outcome))

    def message(self, message: Message) -> Message:
        """A redacted message, without its number."""
        key = _text(message.key)
        clean, kinds = redacted(self._detector, text=_text(message.text), speaker=_text(message.speaker), key=key)
        self.redactions.update(kinds)
        speaker = " ".join(clean["speaker"].split())[:MAX_NAME]
        return Message(0, message.role, clean["text"], _time(message.at), speaker, _key(key, clean["key"]))

    def name(self, text: str) -> str:
        """A redacted title or another short text, on one line."""
        clean, kinds = redacted(self._detector, title=_text(text))
        self.redactions.update(kinds)
        return " ".join(clean["title"].split())[:MAX_NAME]

    def key(self, key: str) -> str:
        """A key; its digest instead of one that contains a secret or is too long."""
        text = _text(key)
        return _key(text, redacted(self._detector, key=text)[0]["key"])


def _key(key: str, clean: str) -> str:
    is_plain = key == clean and len(key) <= _MAX_KEY
    return key if is_plain else f"sha256:{sha256(key.encode()).hexdigest()[:32]}"


def _text(text: str) -> str:
    """`text` with replacements for NUL and for characters that UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _time(text: str) -> str:
    """A time in the form of memcli; empty for a text that is no time."""
    try:
        return normalize_time(text) if text else ""
    except UsageError:
        return ""


_Read = TypeVar("_Read")
Read = Callable[[str], Iterable[Transcript]]
"""Reads the conversations in a file. Raises MemcliError."""
_END = "session-end"
_SOURCES = {"claude": "claude-code"}
"""The formats of agents' transcripts whose names differ from those of the agents."""


class SessionSyncResult(Record, frozen=False):
    """The sessions that were imported and those that were ended. `failed` has by session why a transcript could not be read."""

    imported: list[SessionImport] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        return {
            "imported": [one.to_json() for one in self.imported],
            "ended": [one.to_json() for one in self.ended],
            "failed": self.failed,
        }


def sync(workspace: Workspace, entries: Sequence[Mapping[str, Json]], read: Read) -> SessionSyncResult:
    """Imports the sessions that `entries` of the spool report, and ends those that are over. Importing the same entries again
    changes nothing. Raises LockedError, CorruptError of the store, StoreError."""
    done = SessionSyncResult(ended=finish_all(workspace))
    sessions: dict[tuple[str, str], list[Mapping[str, Json]]] = {}
    for entry in entries:
        sessions.setdefault((text_of(entry.get("agent")), text_of(entry.get("session"))), []).append(entry)
    for (agent, key), own in sessions.items():
        try:
            found = _import(workspace, agent, key, own, read, done)
            done.imported += found
            if any(entry.get("event") == _END for entry in own):
                over = [one.session for one in found if one.session.messages and one.session.state != ENDED]
                done.ended += [end(workspace, session) for session in over]
        except (CorruptError, RefusedError) as error:  # concerns one session: the others can be imported
            done.failed[key] = error.message
    return done


def _import(
    workspace: Workspace,
    agent: str,
    key: str,
    entries: Sequence[Mapping[str, Json]],
    read: Read,
    done: SessionSyncResult,
) -> list[SessionImport]:
    """Imports a session from its transcript, or from the reports of its hooks if no transcript can be read."""
    path = next((path for entry in reversed(entries) if (path := text_of(entry.get("transcript")))), "")
    try:
        found = [one for one in _readable(partial(read, path)) if not key or one.key == key] if path else []
        if found:
            return _imported(workspace, found)
    except _UnreadableError as error:
        done.failed[key or path] = error.message
    source, began = _SOURCES.get(agent, agent), text_of(entries[0].get("at"))
    reported = Transcript(source=source, key=key, messages=partial(_reported, entries), started_at=began)
    return _imported(workspace, [reported]) if key and any(reported.messages()) else []


def _imported(workspace: Workspace, found: Sequence[Transcript]) -> list[SessionImport]:
    """Imports the conversations; returns the results without those of deleted sessions."""
    # A deleted session must not come back when its agent reports another turn.
    done = [import_transcript(workspace, one, may_revive=False, messages=_readable(one.messages)) for one in found]
    return [one for one in done if one.status != DELETED]


class _UnreadableError(MemcliError):
    """A transcript cannot be read: its session is skipped, while an error of the store ends the import, to be repeated."""


def _readable(read: Callable[[], Iterable[_Read]]) -> Iterator[_Read]:
    """The items of `read`; its errors are raised as _UnreadableError."""
    try:
        yield from read()
    except (MemcliError, OSError) as error:
        raise _UnreadableError(reason(error)) from None


def _reported(entries: Sequence[Mapping[str, Json]]) -> Iterator[Message]:
    """The messages that the hooks of an agent reported: the last ones of its turns, and the summaries of compactions."""
    for entry in entries:
        if text := text_of(entry.get("text")):
            at, event = text_of(entry.get("at")), text_of(entry.get("event"))
            # The key is made of the report, so that one that is imported again adds nothing.
            yield Message(0, "assistant", text, at, "", f"{event} {at}")
