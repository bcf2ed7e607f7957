"""Private state, carried to another clone: what somebody said, decided or deleted, which git does not have.

An export has a part for each of these, named as below, with the text of its file:

    spaces/SPACE        a private space, such as `journal`
    inbox/SPACE         what is proposed for a space, and what was rejected
    trash/RUN           what one command removed
    sessions/SPACE/ID   a session that git does not see
    kept/SPACE/ID       what the ends of a session have made, as digests
    ending/SPACE/ID     the end of that session was begun, and what it yields is not stored yet
    deleted/SPACE/ID    somebody deleted that session, which an agent recorded

An import adds to what is there: memories by id, of which the newer is kept; messages that a session lacks; proposals by
text; runs by name. What was removed here is not brought back in any version that was known here. The file may come from
anybody, so it passes all that other imports pass, and all of it is tried before anything is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, count

from memcli.app import inbox
from memcli.app.candidate import check_note
from memcli.app.redact import redacted_space as redacted
from memcli.app.session import SessionImport, export_lines
from memcli.app.workspace import Workspace, load_space
from memcli.codec.audit import entries
from memcli.codec.bundle import read_space
from memcli.codec.canonical import decode, encode
from memcli.codec.run import decode_run, run_bytes
from memcli.codec.session import decode_entry, decode_header, encode_header
from memcli.codec.space import encode_full, memory_digest
from memcli.errors import ConflictError, CorruptError, NotFoundError, RefusedError, UsageError, reporting_done
from memcli.extras.transfer.bundles import check_signature, take_in
from memcli.extras.transfer.private_form import decode_private_state, encode_private_state
from memcli.model.conversation import ENDED, Message, Session
from memcli.model.links import Run, is_run_name
from memcli.model.memory import Json
from memcli.model.names import check_space, is_session_id, session_id, show
from memcli.model.space import Policy, Space
from memcli.policy.retention import is_past_grace
from memcli.record import Record, field, replace
from memcli.wiring import extra

_OF_SESSIONS = ("sessions", "kept", "ending", "deleted")
_ASK_AGAIN = "make a new export"


class Taken(Record, frozen=False):
    """What an import did, or with `dry_run` would do, counted: memories and sessions by what became of them, and what is new
    of the rest. `signed_by` is the fingerprint of a key; empty when there is none."""

    memories: Counter[str] = field(default_factory=Counter)
    sessions: Counter[str] = field(default_factory=Counter)
    proposals: int = 0
    rejections: int = 0
    runs: int = 0
    signed_by: str = ""
    is_signed: bool = False
    dry_run: bool = False
    redactions: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Json]:
        return {
            "memories": dict(sorted(self.memories.items())), "sessions": dict(sorted(self.sessions.items())),
            "proposals": self.proposals, "rejections": self.rejections, "runs": self.runs, "signed": self.is_signed,
            "signed_by": self.signed_by or None, "dry_run": self.dry_run, "redactions": dict(sorted(self.redactions.items())),
        }  # fmt: skip


class _Content(Record):
    """The parts of a file, read and checked."""

    spaces: dict[str, Space]
    inbox: dict[str, Space]
    runs: dict[str, Run]
    sessions: dict[tuple[str, str, str], str]
    """The texts of what is about sessions, by what it is, space and id."""

    def of(self, what: str) -> Iterator[tuple[str, str, str]]:
        """What there is of one kind about sessions: space, id and text."""
        return ((space, name, text) for (kind, space, name), text in self.sessions.items() if kind == what)


def export_private_state(
    workspace: Workspace, sign: Callable[[bytes], str] | None = None, *, redact: bool = False
) -> tuple[bytes, str, dict[str, int]]:
    """The private state of the store, ready to be written, with its digest, and how many parts it has by kind; with `redact`
    without what is secret in it.

    Raises RefusedError for secrets that may not be taken out, UsageError for more than can be imported, CorruptError.
    """
    parts = {
        **_export_spaces(workspace, redact=redact),
        **dict(_export_sessions(workspace, redact=redact)),
    }
    data, digest = encode_private_state(parts, sign)
    return data, digest, dict(sorted(Counter(name.partition("/")[0] for name in parts).items()))


def _export_spaces(workspace: Workspace, *, redact: bool) -> dict[str, str]:
    """The parts that hold memories. Raises RefusedError."""
    parts: dict[str, str] = {}
    found = 0

    def clean(space: Space) -> Space:
        nonlocal found
        cleaned, secrets = workspace.redactor.clean_space(space)
        found += secrets
        return cleaned

    for name in workspace.store.spaces():
        if workspace.keeps_here(name) and workspace.store.policy(name).is_private:
            parts[f"spaces/{name}"] = encode_full(clean(load_space(workspace.store, name))).decode()
    for name in workspace.inbox.spaces():
        space = load_space(workspace.inbox, name)
        proposals = replace(space, objects=tuple(memory for memory in space.objects if not inbox.is_plan(memory)))
        parts[f"inbox/{name}"] = encode_full(clean(proposals)).decode()
    for run in workspace.trash.runs():
        if workspace.keeps_here(run.space.name):
            data = run_bytes(replace(run, space=clean(run.space)))
            parts[f"trash/{run.name}"] = data.decode()
    if found and not redact:
        places = "1 place has" if found == 1 else f"{found} places have"
        raise RefusedError(
            f"{places} secrets in the private state",
            "`memcli check secrets` shows where; --redact exports without them",
        )
    return parts


def _export_sessions(workspace: Workspace, *, redact: bool) -> Iterator[tuple[str, str]]:
    """The sessions that git does not see, and what is noted of sessions. Raises RefusedError, CorruptError."""
    sessions = workspace.sessions
    for space in sessions.spaces():
        over = workspace.copy_with(space=space)
        for name in sessions.ids(space):
            if not sessions.is_shared(space, name):
                lines = export_lines(over, sessions.open(space, name), redact=redact)
                yield f"sessions/{space}/{name}", b"".join(lines).decode()
            if kept := sessions.results(space, name):
                yield f"kept/{space}/{name}", encode(dict(kept)).decode()
        yield from ((f"ending/{space}/{name}", "") for name in sessions.marked(space, "ending"))
        yield from ((f"deleted/{space}/{name}", "") for name in sessions.marked(space, "deleted"))


def import_private_state(
    workspace: Workspace,
    data: bytes,
    where: str,
    *,
    trusted: frozenset[str] | None = None,
    dry_run: bool = False,
) -> Taken:
    """Adds the private state in a file to that of the store. The same again changes nothing. With `trusted`, fingerprints of
    keys, one of them must have signed it. With `dry_run`, nothing is stored.

    Raises CorruptError if the file was changed, has a wrong signature or is invalid, RefusedError, LockedError, StoreError.
    """
    parts, digest, signature = decode_private_state(data, where)
    signed_by = check_signature(digest, signature, where, trusted)
    content = _Content({}, {}, {}, {})
    for name, text in parts.items():
        place = f"{where}: {show(name)}"
        try:
            _read_part(workspace, name, text.encode(), place, content)
        except UsageError as error:
            raise CorruptError(f"{place}: {error.message}", _ASK_AGAIN) from None
    for is_trial in (True, False)[: 1 if dry_run else 2]:
        told = Taken(signed_by=signed_by, is_signed=bool(signature), dry_run=is_trial)
        _take(workspace, content, where, told)
    return told


def _read_part(workspace: Workspace, name: str, data: bytes, where: str, content: _Content) -> None:
    """Adds what a part holds to the content. Raises CorruptError, UsageError where it is not fit, RefusedError."""
    what, *rest = name.split("/")
    if what in _OF_SESSIONS and len(rest) == 2 and is_session_id(rest[1]):
        content.sessions[what, check_space(rest[0]), rest[1]] = _about_session(what, rest, data, where)
    elif what == "trash" and len(rest) == 1 and is_run_name(rest[0]):
        read_space(data, where)
        run = decode_run(rest[0], data, where)
        if not run.command.isprintable() or len(run.command) > 60:
            raise UsageError("the name of the command is not fit to be shown")
        content.runs[run.name] = run
    elif what in ("spaces", "inbox") and len(rest) == 1:
        space = read_space(data, where, with_hashes=what == "spaces")  # of what was rejected the hash is left
        if space.name != check_space(rest[0]):
            raise UsageError(f"it holds space {show(space.name)}")
        if what == "inbox":
            for memory in space.objects:
                check_note(memory)
            content.inbox[space.name] = space
            return
        if not space.policy.is_private:
            raise CorruptError(f"{where}: not a private space", "import it with an export of that space")
        is_private_here = not workspace.has_space(space.name) or workspace.store.policy(space.name).is_private
        if not workspace.keeps_here(space.name) or not is_private_here:
            raise RefusedError(
                f"space {space.name!r} is private in {where} and shared here; nothing was imported",
                f"`memcli space policy {space.name} --set visibility=private` makes it private here",
            )
        content.spaces[space.name] = space
    else:
        raise UsageError("not a part of the private state that this version reads")


def _about_session(what: str, rest: list[str], data: bytes, where: str) -> str:
    """The text of a part about a session. Raises CorruptError, UsageError."""
    if what == "sessions":
        session = decode_header(data.partition(b"\n")[0], where)
        if [session.space, session.id] != rest:
            raise UsageError(f"it holds session {show(f'{session.space}/{session.id}')}")
    elif what == "kept":
        kept = decode(data, where, _ASK_AGAIN)
        if not isinstance(kept, dict) or not all(type(version) is int for version in kept.values()):
            raise UsageError("it must be an object of whole numbers")
    elif data:
        raise UsageError("it must be empty")
    return data.decode()


def _take(workspace: Workspace, content: _Content, where: str, told: Taken) -> None:
    """Stores what is new, or tries it where `told` is of a dry run."""

    def done() -> str:
        found = [*told.memories.elements(), *told.sessions.elements()]
        count = len(found) + told.proposals + told.rejections + told.runs
        return "" if told.dry_run or not count else f"{count} memories, sessions and runs"

    with reporting_done(done):
        gone = _Gone(workspace)
        for name, space in content.spaces.items():
            fresh = gone.without(_redacted(workspace, space, told))
            plan, proposed = take_in(workspace, name, fresh, "merge", dry_run=told.dry_run)
            told.memories.update(created=plan.created, updated=plan.updated, kept=plan.kept, unchanged=plan.unchanged)
            told.memories.update(proposed=proposed, removed=len(space.objects) - len(fresh.objects))
        _take_sessions(workspace, content, where, told, gone)
        for name, space in content.inbox.items():
            found = _redacted(workspace, replace(space, policy=Policy()), told).objects
            memories = [
                m for m in found if not inbox.is_plan(m) and not gone.has_session(name, m.provenance.get("session"))
            ]
            proposed, refused = inbox.take_in(workspace.copy_with(space=name), memories, dry_run=told.dry_run)
            told.proposals += proposed
            told.rejections += refused
        _take_runs(workspace, content, told, gone)
    told.memories, told.sessions = +told.memories, +told.sessions


def _redacted(workspace: Workspace, space: Space, told: Taken) -> Space:
    clean, kinds = redacted(workspace, space.name, space)
    told.redactions.update(kinds)
    return clean


def _take_runs(workspace: Workspace, content: _Content, told: Taken, gone: _Gone) -> None:
    """Puts runs into the trash, but for those that it has, or that it would be emptied of."""
    known = {run.name for run in workspace.trash.runs()}
    for run in content.runs.values():
        space = run.space.name
        policy = workspace.store.policy(space) if workspace.has_space(space) else run.space.policy
        grace = run.grace(workspace.in_force(policy).grace_days)
        is_over = is_past_grace(run.removed_at, grace, workspace.clock())
        left = gone.without(_redacted(workspace, run.space, told))
        is_nothing = bool(run.space.objects) and not left.objects
        if run.name in known or is_over or is_nothing or not workspace.keeps_here(space):
            continue
        if not told.dry_run:
            workspace.trash.put(replace(run, space=left))
        told.runs += 1


def _take_sessions(workspace: Workspace, content: _Content, where: str, told: Taken, gone: _Gone) -> None:
    sessions = workspace.sessions
    new: set[tuple[str, str]] = set()
    begun = {space: _by_start(workspace, space) for space, _, _ in content.of("sessions")}
    for space, name, text in content.of("sessions"):
        lines, place = text.encode().splitlines(keepends=True), f"{where}: sessions/{space}/{name}"
        session = decode_header(lines[0], place)
        twins = [] if session.source else begun[space].get((session.started_at, session.title), [])
        done = _take_session(workspace, session, twins, lines, place, told.dry_run, gone)
        told.sessions[done.status if done else "skipped"] += 1
        if done:
            told.redactions.update(done.redactions)
            if done.status in ("created", "grown") and done.session.state == ENDED:
                new.add((space, name))
    if told.dry_run:
        return
    for space, name, text in content.of("kept"):
        ours = sessions.results(space, name)
        both = {**decode(text.encode(), where), **ours}
        if both != ours and name in sessions.ids(space):
            sessions.set_results(space, name, both)
    for space, name, _ in content.of("ending"):
        if (space, name) in new:
            sessions.mark(space, "ending", name)
    for space, name, _ in content.of("deleted"):
        if name not in (*sessions.ids(space), *sessions.marked(space, "deleted")):
            sessions.mark(space, "deleted", name)


def _take_session(
    workspace: Workspace, told: Session, twins: list[str], lines: list[bytes], where: str, dry_run: bool, gone: _Gone
) -> SessionImport | None:
    """Imports a session, which may be here under another id as one of its `twins`; None for one that was deleted here, or
    that git sees here. Where it went on in another way here, what has a source gets the messages that it lacks, and of what
    has none both are kept."""
    space, name = told.space, told.id
    ids = workspace.sessions.ids(space)
    for own in [name] * (name in ids) + [other for other in twins if other != name]:
        is_shared = workspace.sessions.is_shared(space, own)
        if is_shared and told.source:
            return None
        with suppress(ConflictError):
            done = _restore(workspace, told, own, lines, where, dry_run or is_shared)
            return None if is_shared else done
        if told.source:
            importing, over = extra("transcripts.importing"), workspace.copy_with(space=space)
            carried: SessionImport = importing.import_transcript(over, _Carried(lines, where), dry_run=dry_run)
            return carried
    names = chain([name], (session_id(space, name, number=number) for number in count(2)))
    free = next(own for own in names if own not in ids)
    return None if gone.has_session(space, free) else _restore(workspace, told, free, lines, where, dry_run)


def _by_start(workspace: Workspace, space: str) -> dict[tuple[str, str], list[str]]:
    """The ids of the sessions of a space that were not imported, by when they began and their titles."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in workspace.sessions.ids(space):
        with suppress(CorruptError, NotFoundError):
            session = workspace.sessions.open(space, name)
            if not session.source:
                found.setdefault((session.started_at, session.title), []).append(name)
    return found


def _restore(
    workspace: Workspace, told: Session, own: str, lines: list[bytes], where: str, dry_run: bool
) -> SessionImport:
    header = encode_header(replace(told, id=own)) + b"\n"
    importing = extra("transcripts.importing")
    done: SessionImport = importing.import_session(workspace, [header, *lines[1:]], where, None, dry_run=dry_run)
    return done


class _Carried:
    """An imported session in a file, as what it was imported from."""

    skipped: Mapping[str, int] = {}

    def __init__(self, lines: list[bytes], where: str) -> None:
        session = decode_header(lines[0], where)
        self.source, self.key, self.title, self.started_at = (
            session.source,
            session.key,
            session.title,
            session.started_at,
        )
        self._lines, self._where = lines[1:], where

    def messages(self) -> Iterator[Message]:
        entries = (decode_entry(line, self._where) for line in self._lines if line.endswith(b"\n"))
        return (entry for entry in entries if isinstance(entry, Message))


class _Gone:
    """What was removed here, by what the audit log says: digests of all versions of what is no longer there."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, dict[str, set[str]]] = {}

    def has_session(self, space: str, name: str | None) -> bool:
        """Whether somebody deleted a session, and it was not imported again since."""
        sessions = self._workspace.sessions
        return (
            name is not None
            and name not in sessions.ids(space)
            and name in (*self._of(space), *sessions.marked(space, "deleted"))
        )

    def without(self, space: Space) -> Space:
        """A space without the memories that were removed here in that version, or a later one."""
        removed = self._of(space.name)
        there = {m.id for m in load_space(self._workspace.store, space.name).objects} if removed else set()
        objects = (m for m in space.objects if m.id in there or memory_digest(m) not in removed.get(m.id, ()))
        return replace(space, objects=tuple(objects))

    def _of(self, space: str) -> dict[str, set[str]]:
        """The digests of what was removed from a space and is not back, by id."""
        if space not in self._known:
            digests: dict[str, set[str]] = {}
            last: dict[str, str] = {}
            for entry in entries(self._workspace.audit.read(space)):
                for change in entry["changes"]:
                    name, before, after = (str(change.get(key, "")) for key in ("id", "before", "after"))
                    digests.setdefault(name, set()).update((before, after))
                    last[name] = after
            self._known[space] = {name: known for name, known in digests.items() if not last[name]}
        return self._known[space]
