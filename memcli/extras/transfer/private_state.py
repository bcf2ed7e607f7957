"""Export and import of private state: sessions, decisions and deletions of a clone, which git does not track.

An export has a part for each of these files, named as below, with the content of the file:

    spaces/SPACE        a private space, such as `journal`
    inbox/SPACE         the proposals for a space, and the rejected ones
    trash/RUN           the memories that one command removed
    sessions/SPACE/ID   a session that git does not track
    kept/SPACE/ID       digests of the memories that the ends of a session have made
    ending/SPACE/ID     the end of this session has begun, and its results are not stored yet
    deleted/SPACE/ID    the user deleted this session, which an agent recorded

An import only adds: memories by id, the newer version wins; messages that a session lacks; proposals by text; runs by name.
A memory that was removed in this clone is not restored in any version that was stored here. The file may come from anybody,
so it passes the checks of all imports, and the whole import is tried before anything is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
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


class PrivateImport(Record, frozen=False):
    """What an import of private state did, or with `dry_run` would do: the counts of memories and sessions by outcome, and of
    new proposals, rejections and runs of the trash. `signed_by` is the fingerprint of the key, or empty."""

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
    """The parts of a file, parsed and checked. `spaces` and `inbox` are by space, `runs` by name."""

    spaces: dict[str, Space]
    inbox: dict[str, Space]
    runs: dict[str, Run]
    sessions: dict[tuple[str, str, str], str]
    """The texts of the parts about sessions, by kind, space and id."""

    def of(self, what: str) -> Iterator[tuple[str, str, str]]:
        """Space, id and text of each part about a session that is of the kind `what`."""
        return ((space, name, text) for (kind, space, name), text in self.sessions.items() if kind == what)


def export_private_state(
    workspace: Workspace, sign: Callable[[bytes], str] | None = None, *, redact: bool = False
) -> tuple[bytes, str, dict[str, int]]:
    """The content of a file with the private state of the store, its digest, and the number of its parts by kind.

    Raises RefusedError for secrets unless `redact` is given, which removes them; UsageError for more than can be imported,
    CorruptError.
    """
    parts = {
        **_export_spaces(workspace, redact=redact),
        **dict(_export_sessions(workspace, redact=redact)),
    }
    data, digest = encode_private_state(parts, sign)
    return data, digest, dict(sorted(Counter(name.partition("/")[0] for name in parts).items()))


def _export_spaces(workspace: Workspace, *, redact: bool) -> dict[str, str]:
    """The parts that hold memories. Raises RefusedError for secrets, unless `redact` is given."""
    parts: dict[str, str] = {}
    found = 0

    def clean(space: Space) -> Space:
        nonlocal found
        cleaned, secrets = workspace.redactor.clean_space(space)
        found += secrets
        return cleaned

    for name in workspace.store.spaces():
        # What is on a server every clone has already.
        if workspace.keeps_here(name) and workspace.store.policy(name).is_private:
            parts[f"spaces/{name}"] = encode_full(clean(load_space(workspace.store, name))).decode()
    for name in workspace.inbox.spaces():
        space = load_space(workspace.inbox, name)
        # A plan of `store maintain` refers to the memories of this store, so it is of no use in another.
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
    """The parts about sessions: those that git does not track, and marks of any. Raises RefusedError for secrets, unless
    `redact` is given; CorruptError."""
    sessions = workspace.sessions
    for space in sessions.spaces():
        over = workspace.copy_with(space=space)
        for name in sessions.ids(space):
            if not sessions.is_shared(space, name):
                lines = export_lines(over, sessions.open(space, name), redact=redact)
                yield f"sessions/{space}/{name}", b"".join(lines).decode()
            if digests := sessions.results(space, name):
                yield f"kept/{space}/{name}", encode(dict(digests)).decode()
        yield from ((f"ending/{space}/{name}", "") for name in sessions.marked(space, "ending"))
        yield from ((f"deleted/{space}/{name}", "") for name in sessions.marked(space, "deleted"))


def import_private_state(
    workspace: Workspace,
    data: bytes,
    where: str,
    *,
    trusted: frozenset[str] | None = None,
    dry_run: bool = False,
) -> PrivateImport:
    """Adds the private state in a file to that of the store; importing the same again changes nothing. With `trusted`,
    fingerprints of keys, one of these keys must have signed the file. With `dry_run`, nothing is stored.

    Raises CorruptError for a file that was modified, has a wrong signature or is invalid, RefusedError, LockedError,
    StoreError.
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
    # The trial raises what the import would raise, so that a file with one bad part is refused before anything is stored.
    for is_trial in (True, False)[: 1 if dry_run else 2]:
        report = PrivateImport(signed_by=signed_by, is_signed=bool(signature), dry_run=is_trial)
        _take(workspace, content, where, report)
    return report


def _read_part(workspace: Workspace, name: str, data: bytes, where: str, content: _Content) -> None:
    """Parses a part and adds it to the content. Raises CorruptError, UsageError for an invalid part, RefusedError for a space
    that is shared in this store."""
    what, *rest = name.split("/")
    if what in _OF_SESSIONS and len(rest) == 2 and is_session_id(rest[1]):
        content.sessions[what, check_space(rest[0]), rest[1]] = _about_session(what, rest, data, where)
    elif what == "trash" and len(rest) == 1 and is_run_name(rest[0]):
        read_space(data, where)  # `decode_run` reads local files, and checks neither hashes nor limits
        run = decode_run(rest[0], data, where)
        # The name is printed by `restore --list`, and the file may come from anybody.
        if not run.command.isprintable() or len(run.command) > 60:
            raise UsageError("the name of the command is not fit to be shown")
        content.runs[run.name] = run
    elif what in ("spaces", "inbox") and len(rest) == 1:
        # Of a rejected proposal only the hash of its text is stored, so it does not match the memory.
        space = read_space(data, where, with_hashes=what == "spaces")
        if space.name != check_space(rest[0]):
            raise UsageError(f"it holds space {show(space.name)}")
        if what == "inbox":
            for memory in space.objects:
                # The note of a proposal decides what accepting it does.
                check_note(memory)
            content.inbox[space.name] = space
            return
        if not space.policy.is_private:
            raise CorruptError(f"{where}: not a private space", "import it with an export of that space")
        # A private memory must not get into a shared space, which git would publish.
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
    """The checked text of a part about a session; `rest` is its space and id. Raises CorruptError, UsageError."""
    if what == "sessions":
        session = decode_header(data.partition(b"\n")[0], where)
        if [session.space, session.id] != rest:
            raise UsageError(f"it holds session {show(f'{session.space}/{session.id}')}")
    elif what == "kept":
        digests = decode(data, where, _ASK_AGAIN)
        if not isinstance(digests, dict) or not all(type(version) is int for version in digests.values()):
            raise UsageError("it must be an object of whole numbers")
    elif data:
        raise UsageError("it must be empty")
    return data.decode()


def _take(workspace: Workspace, content: _Content, where: str, report: PrivateImport) -> None:
    """Stores what is new in the content, unless `report.dry_run`, and counts it in the report."""

    def done() -> str:
        found = [*report.memories.elements(), *report.sessions.elements()]
        count = len(found) + report.proposals + report.rejections + report.runs
        return "" if report.dry_run or not count else f"{count} memories, sessions and runs"

    with reporting_done(done):
        removals = _Removals(workspace)
        for name, space in content.spaces.items():
            fresh = removals.without(_redacted(workspace, space, report))
            plan, proposed = take_in(workspace, name, fresh, "merge", dry_run=report.dry_run)
            report.memories.update(created=plan.created, updated=plan.updated, kept=plan.kept, unchanged=plan.unchanged)
            report.memories.update(proposed=proposed, removed=len(space.objects) - len(fresh.objects))
        _take_sessions(workspace, content, where, report, removals)
        for name, space in content.inbox.items():
            # Without its policy: that of a stranger must not decide whether personal data is redacted.
            found = _redacted(workspace, replace(space, policy=Policy()), report).objects
            memories = [
                m for m in found if not inbox.is_plan(m) and not removals.has_session(name, m.provenance.get("session"))
            ]
            proposed, refused = inbox.take_in(workspace.copy_with(space=name), memories, dry_run=report.dry_run)
            report.proposals += proposed
            report.rejections += refused
        _take_runs(workspace, content, report, removals)
    # The plus drops what was counted as zero.
    report.memories, report.sessions = +report.memories, +report.sessions


def _redacted(workspace: Workspace, space: Space, report: PrivateImport) -> Space:
    """The space without secrets, which are counted in the report."""
    clean, kinds = redacted(workspace, space.name, space)
    report.redactions.update(kinds)
    return clean


def _take_runs(workspace: Workspace, content: _Content, report: PrivateImport, removals: _Removals) -> None:
    """Puts runs into the trash, except those that it has, and those past the grace period, which `gc` would delete at once."""
    known = {run.name for run in workspace.trash.runs()}
    for run in content.runs.values():
        space = run.space.name
        policy = workspace.store.policy(space) if workspace.has_space(space) else run.space.policy
        grace = run.grace(workspace.in_force(policy).grace_days)
        is_over = is_past_grace(run.removed_at, grace, workspace.clock())
        fresh = removals.without(_redacted(workspace, run.space, report))
        is_empty = bool(run.space.objects) and not fresh.objects
        if run.name in known or is_over or is_empty or not workspace.keeps_here(space):
            continue
        if not report.dry_run:
            workspace.trash.put(replace(run, space=fresh))
        report.runs += 1


def _take_sessions(
    workspace: Workspace, content: _Content, where: str, report: PrivateImport, removals: _Removals
) -> None:
    """Imports the sessions and their marks, unless `report.dry_run`, and counts the sessions. Raises CorruptError, StoreError."""
    sessions = workspace.sessions
    new: set[tuple[str, str]] = set()
    begun = {space: _by_start(workspace, space) for space, _, _ in content.of("sessions")}
    for space, name, text in content.of("sessions"):
        lines, place = text.encode().splitlines(keepends=True), f"{where}: sessions/{space}/{name}"
        session = decode_header(lines[0], place)
        # The id of an agent's session is a digest of its source, the same in all clones; any other may have another id here.
        twins = [] if session.source else begun[space].get((session.started_at, session.title), [])
        done = _take_session(workspace, session, twins, lines, place, report.dry_run, removals)
        report.sessions[done.status if done else "skipped"] += 1
        if done:
            report.redactions.update(done.redactions)
            if done.status in ("created", "grown") and done.session.state == ENDED:
                new.add((space, name))
    if report.dry_run:
        return
    # Without these digests the next end of the session would store again what somebody has purged or edited.
    for space, name, text in content.of("kept"):
        own = sessions.results(space, name)
        merged = {**decode(text.encode(), where), **own}  # what this clone has recorded takes precedence
        if merged != own and name in sessions.ids(space):
            sessions.set_results(space, name, merged)
    # Only for a session that is new here: the results of one that this clone has ended are stored already.
    for space, name, _ in content.of("ending"):
        if (space, name) in new:
            sessions.mark(space, "ending", name)
    # Without this mark the next report of the agent would bring the session back.
    for space, name, _ in content.of("deleted"):
        if name not in (*sessions.ids(space), *sessions.marked(space, "deleted")):
            sessions.mark(space, "deleted", name)


def _take_session(
    workspace: Workspace,
    session: Session,
    twins: list[str],
    lines: list[bytes],
    where: str,
    dry_run: bool,
    removals: _Removals,
) -> SessionImport | None:
    """Imports a session, which this store may have under another id, as one of its `twins`. None for a session that was
    deleted here, or that git tracks here.

    If the two differ, a session with a source (an agent's) gets the messages that it lacks; of one without, both are stored.
    """
    space, name = session.space, session.id
    ids = workspace.sessions.ids(space)
    for own in [name] * (name in ids) + [other for other in twins if other != name]:
        is_shared = workspace.sessions.is_shared(space, own)
        if is_shared and session.source:
            return None
        with suppress(ConflictError):
            # A shared session is never written to: the trial only compares its messages.
            done = _restore(workspace, session, own, lines, where, dry_run or is_shared)
            return None if is_shared else done
        if session.source:
            # An agent's session may have gone on in both clones: its messages are joined by their keys.
            importing, over = extra("transcripts.importing"), workspace.copy_with(space=space)
            transcript = importing.Transcript(
                source=session.source, key=session.key, title=session.title, started_at=session.started_at,
                messages=partial(_messages, lines[1:], where),
            )  # fmt: skip
            carried: SessionImport = importing.import_transcript(over, transcript, dry_run=dry_run)
            return carried
    names = chain([name], (session_id(space, name, number=number) for number in count(2)))
    free = next(own for own in names if own not in ids)
    return None if removals.has_session(space, free) else _restore(workspace, session, free, lines, where, dry_run)


def _by_start(workspace: Workspace, space: str) -> dict[tuple[str, str], list[str]]:
    """The ids of the sessions of a space that have no source, by time of their start and title."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in workspace.sessions.ids(space):
        # A damaged session here must not keep others from being imported.
        with suppress(CorruptError, NotFoundError):
            session = workspace.sessions.open(space, name)
            if not session.source:
                found.setdefault((session.started_at, session.title), []).append(name)
    return found


def _restore(
    workspace: Workspace, session: Session, own: str, lines: list[bytes], where: str, dry_run: bool
) -> SessionImport:
    """Imports a session under the id `own`. Raises ConflictError if the stored session has other messages."""
    header = encode_header(replace(session, id=own)) + b"\n"
    importing = extra("transcripts.importing")
    done: SessionImport = importing.import_session(workspace, [header, *lines[1:]], where, None, dry_run=dry_run)
    return done


def _messages(lines: list[bytes], where: str) -> Iterator[Message]:
    """The messages in the lines of a session below its header, without a line that was cut off."""
    entries = (decode_entry(line, where) for line in lines if line.endswith(b"\n"))
    return (entry for entry in entries if isinstance(entry, Message))


class _Removals:
    """The memories and sessions that were removed from this store, as its audit logs record them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._digests: dict[str, dict[str, set[str]]] = {}  # by space, as `_of` returns them

    def has_session(self, space: str, name: str | None) -> bool:
        """Whether a session was deleted, and not imported again since; False for no name."""
        sessions = self._workspace.sessions
        return (
            name is not None
            and name not in sessions.ids(space)
            and name in (*self._of(space), *sessions.marked(space, "deleted"))
        )

    def without(self, space: Space) -> Space:
        """A space without the memories whose version was stored here before the memory was removed."""
        removed = self._of(space.name)
        stored = {m.id for m in load_space(self._workspace.store, space.name).objects} if removed else set()
        # A version that was never stored here is no version that somebody here has removed: it is imported.
        objects = (m for m in space.objects if m.id in stored or memory_digest(m) not in removed.get(m.id, ()))
        return replace(space, objects=tuple(objects))

    def _of(self, space: str) -> dict[str, set[str]]:
        """By id, the digests of all versions of the memories that were removed from a space and not stored again."""
        if space not in self._digests:
            digests: dict[str, set[str]] = {}
            last: dict[str, str] = {}
            for entry in entries(self._workspace.audit.read(space)):
                for change in entry["changes"]:
                    name, before, after = (str(change.get(key, "")) for key in ("id", "before", "after"))
                    digests.setdefault(name, set()).update((before, after))
                    last[name] = after
            self._digests[space] = {name: known for name, known in digests.items() if not last[name]}
        return self._digests[space]
