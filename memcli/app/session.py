"""Sessions: start one, add messages, pause and resume it, find, read, share and export it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from memcli.app.workspace import Workspace
from memcli.clock import normalize_time
from memcli.codec.session import check_writable, encode_entry, encode_header
from memcli.errors import ConflictError, CorruptError, NotFoundError, RefusedError, UsageError
from memcli.model.conversation import ACTIVE, ENDED, PAUSED, ROLES, Entry, Message, Session, StateChange
from memcli.model.memory import Json, Memory
from memcli.model.names import SESSION_MARK
from memcli.model.space import Touched
from memcli.model.usage import SESSION_END
from memcli.record import Record, field, replace
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import redact_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    _Entry = TypeVar("_Entry", bound=Entry)

MAX_TEXT = 64 << 20
"""The most characters of a message, as of a memory."""
MAX_NAME = 500
"""The most characters of a title, the name of a speaker or an outcome."""


def start(workspace: Workspace, title: str = "") -> Session:
    """Starts a session. Raises UsageError, RefusedError, LockedError, StoreError."""
    from memcli.app.repo import check_not_derived

    check_not_derived(workspace)
    detector = workspace.redactor.detector(workspace.space)
    clean, _ = redacted(detector, title=_one_line(title, "the title"))
    session = Session("", workspace.space, clean["title"], started_at=workspace.clock())
    made = workspace.sessions.start(session)
    record(workspace, "start session", made, "")
    return made


def add(
    workspace: Workspace, name: str, role: str, text: str, *, speaker: str = "", at: str | None = None
) -> tuple[Session, Message, Mapping[str, int]]:
    """Adds a message to the session of this id. Returns the session, the message, and the number of redactions by kind.
    Raises UsageError, NotFoundError, LockedError; ConflictError for a session that is paused or has ended."""
    if role not in ROLES:
        raise UsageError(f"no role {role!r}", f"choose one of {', '.join(ROLES)}")
    if not text.strip():
        raise UsageError("the message is empty", "give a text")
    if len(text) > MAX_TEXT:
        raise UsageError(f"the message is longer than {MAX_TEXT >> 20} MiB", "split it into parts")
    detector = workspace.redactor.detector(workspace.space)
    clean, kinds = redacted(detector, text=text.strip("\n"), speaker=_one_line(speaker, "--speaker"))
    time = workspace.clock() if at is None else normalize_time(at)
    message = Message(0, role, clean["text"], time, clean["speaker"])

    def make(session: Session) -> list[Message]:
        if session.state != ACTIVE:
            state = "is paused" if session.state == PAUSED else "has ended"
            raise ConflictError(f"session {session.id} {state}", f"`memcli session resume {session.id}` continues it")
        return [message]

    session = workspace.sessions.append(workspace.space, name, make)
    return session, replace(message, number=session.messages), kinds


def change_state(workspace: Workspace, name: str, state: str, outcome: str = "") -> tuple[Session, bool]:
    """Pauses, resumes or ends the session of this id; returns the session, and whether its state changed.

    Raises NotFoundError, LockedError; ConflictError where an ended session would be paused.
    """
    detector = workspace.redactor.detector(workspace.space)
    clean, _ = redacted(detector, outcome=_one_line(outcome, "--outcome"))
    change = StateChange(state, workspace.clock(), clean["outcome"])
    changed = False

    def make(session: Session) -> list[StateChange]:
        nonlocal changed
        if session.state == ENDED and state == PAUSED:
            raise ConflictError(f"session {session.id} has ended", f"`memcli session resume {session.id}` reopens it")
        changed = session.state != state
        return [change] if changed else []

    session = workspace.sessions.append(workspace.space, name, make)
    if changed and state == ENDED:
        record(workspace, "end session", session)
        workspace.counters.count(SESSION_END, workspace.space)
    return session, changed


def find(workspace: Workspace, ref: str) -> Session:
    """The session that `ref` names: an id, or the beginning of exactly one. Raises NotFoundError, UsageError."""
    space, sessions = workspace.space, workspace.sessions
    ids = [name for name in sessions.ids(space) if name.startswith(ref)] if ref.startswith(SESSION_MARK) else []
    if ref in ids or len(ids) == 1:
        return sessions.open(space, ref if ref in ids else ids[0])
    if ids:
        raise UsageError(f"{ref!r} matches {len(ids)} sessions of space {space!r}", "use a longer prefix")
    raise NotFoundError(f"no session {ref!r} in space {space!r}", "`memcli session list` lists the sessions")


def current(workspace: Workspace, *states: str) -> Session:
    """The session that was started last, of those in the first of these states that occurs. Imported ones are left out.

    Raises NotFoundError where there is none, UsageError where two were started in the same second.
    """
    # An import is a conversation that was held elsewhere: nothing is added to it by default.
    found = [session for session, problem in list_sessions(workspace) if not problem]
    in_state = ([one for one in found if one.state == state and not one.source] for state in states)
    chosen = next((some for some in in_state if some), [])
    if not chosen:
        imported = next((f", such as the imported {one.id}" for one in found if one.state in states), "")
        hint = f"start one with `memcli session start`, or name one{imported}"
        what = "no session that was started here" if imported else "no session"
        raise NotFoundError(f"{what} is {' or '.join(states)}", hint)
    newest = [session for session in chosen if session.started_at == chosen[0].started_at]
    if len(newest) > 1:
        ids = ", ".join(session.id for session in newest[:3])
        raise UsageError(f"{len(newest)} sessions were started at the same time: {ids}", "name one of them")
    return newest[0]


def list_sessions(workspace: Workspace, limit: int | None = None) -> list[tuple[Session, str]]:
    """The sessions of the space, the newest first, redacted, each with the reason why it cannot be read, empty where it can."""
    clean = workspace.redactor.cleaner(workspace.store.policy(workspace.space))
    found = []
    for name in workspace.sessions.ids(workspace.space):
        try:
            found.append((workspace.sessions.open(workspace.space, name), ""))
        except (CorruptError, NotFoundError) as error:
            found.append((Session(name, workspace.space), error.message))
    found.sort(key=lambda one: one[0].id)
    found.sort(key=lambda one: one[0].started_at, reverse=True)
    return [(shown(session, clean), problem) for session, problem in found[:limit]]


def messages(workspace: Workspace, session: Session, first: int = 1, last: int | None = None) -> Iterator[Message]:
    """The messages of a session from number `first` to `last`, redacted. Raises CorruptError."""
    clean = workspace.redactor.cleaner(workspace.store.policy(session.space))
    for entry in workspace.sessions.entries(session.space, session.id):
        if isinstance(entry, Message) and entry.number >= first:
            if last is not None and entry.number > last:
                return
            yield cleaned(entry, clean)


def tail(workspace: Workspace, session: Session, count: int) -> list[Message]:
    """The last `count` messages of a session, redacted, without reading the others. Raises CorruptError."""
    clean = workspace.redactor.cleaner(workspace.store.policy(session.space))
    found = workspace.sessions.tail(session.space, session.id, count)
    return [cleaned(message, clean) for message in found]


def share(workspace: Workspace, session: Session, *, shared: bool) -> bool:
    """Makes git track a session, or ignore it again; returns whether that changes anything.

    Raises RefusedError for a session with secrets that older rules did not find, NotFoundError, LockedError, StoreError.
    """
    if workspace.sessions.is_shared(session.space, session.id) == shared:
        return False
    if shared:
        check_is_clean(workspace, session, "sharing session")
    workspace.sessions.share(session.space, session.id, shared=shared)
    record(workspace, "share session" if shared else "unshare session", session)
    return True


def check_is_clean(workspace: Workspace, session: Session, what: str) -> None:
    """Raises RefusedError when the present rules find a secret in the session; `what` begins the message."""
    clean = workspace.redactor.cleaner(workspace.store.policy(session.space))
    stored = workspace.sessions.entries(session.space, session.id)
    count = sum(cleaned(entry, clean) != entry for entry in stored) + (shown(session, clean) != session)
    if count:
        places = "1 place has" if count == 1 else f"{count} places have"
        raise RefusedError(
            f"{what} {session.id} would hand on secrets: {places} some",
            "`memcli session export --redact` writes it without them; delete the session if it should not exist",
        )


def shown(session: Session, clean: Callable[[str], str]) -> Session:
    """The session, redacted by `clean`."""
    texts = {name: clean(getattr(session, name)) for name in ("title", "outcome", "source", "key")}
    return replace(session, **texts)


def cleaned(entry: _Entry, clean: Callable[[str], str]) -> _Entry:
    """A message or a change of state, redacted by `clean`."""
    names = ("text", "speaker", "key") if isinstance(entry, Message) else ("outcome",)
    return replace(entry, **{name: clean(getattr(entry, name)) for name in names})


def made_from(memories: Iterable[Memory], session: Session) -> list[Memory]:
    """Those of the memories that were made from the session."""
    return [memory for memory in memories if memory.provenance.get("session") == session.id]


def record(workspace: Workspace, action: str, session: Session, before: str | None = None) -> None:
    """Records an action on a session in the audit log. `before` is the digest of its file before, None where it is unchanged."""
    path = f"sessions/{session.space}/{session.id}.jsonl"
    with workspace.behind_the_write("recording it in the audit log"):
        after = workspace.sessions.digest(session.space, session.id)
        touched = Touched(session.id, path, after if before is None else before, after)
        workspace.audit.record(session.space, action, [touched])


def redacted(detector: Detector, **texts: str) -> tuple[dict[str, str], Mapping[str, int]]:
    """The texts, redacted to be stored, and the number of redactions by kind."""
    found = redact_fields(detector, texts)
    return {name: str(found.fields[name]) for name in texts}, found.kinds


def _one_line(text: str, what: str) -> str:
    line = " ".join(text.encode().decode().split())  # encoding raises for invalid Unicode
    if len(line) > MAX_NAME:
        raise UsageError(f"{what} is longer than {MAX_NAME} characters", "shorten it")
    return line


def export_lines(workspace: Workspace, session: Session, *, redact: bool = False) -> Iterator[bytes]:
    """The lines of the file of a session; with `redact`, without secrets.

    Raises RefusedError, without `redact`, for a session with secrets; CorruptError.
    """
    check_writable(session, session.id)
    if not redact:
        check_is_clean(workspace, session, "exporting session")
    clean = workspace.redactor.cleaner(workspace.store.policy(session.space))
    yield encode_header(shown(session, clean)) + b"\n"
    for entry in workspace.sessions.entries(session.space, session.id):
        yield encode_entry(cleaned(entry, clean)) + b"\n"


class SessionImport(Record):
    """The result of an import, or of its dry run: the session, and the numbers of messages that were read and added.

    `status` is `created`, `grown`, `unchanged`, or `empty` where the source has no messages. `skipped` counts messages that
    were not added, by reason; `redactions` removed secrets, by kind.
    """

    status: str
    session: Session
    read: int
    added: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    redactions: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        return {
            "status": self.status, "id": self.session.id, "title": self.session.title, "source": self.session.source,
            "messages": self.session.messages, "read": self.read, "added": self.added,
            "skipped": dict(sorted(self.skipped.items())), "redactions": dict(sorted(self.redactions.items())),
        }  # fmt: skip
