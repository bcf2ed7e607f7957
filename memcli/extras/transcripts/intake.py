"""The commands `memcli session import`, `sync` and `facts --from`: read transcripts, and print the result for each file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memcli.app.session import SessionImport
from memcli.cli.arguments import asks_model
from memcli.cli.output import on_one_line, redaction_note
from memcli.cli.verb import CommandContext
from memcli.codec.session import MAX_LINE
from memcli.conversation.facts import Fact, extract
from memcli.errors import CorruptError, LockedError, MemcliError, NotFoundError, UsageError, reporting_done
from memcli.extras.transcripts.discovery import discover
from memcli.extras.transcripts.files import part_of
from memcli.extras.transcripts.formats import conversations
from memcli.extras.transcripts.importing import MEMCLI, import_session, import_transcript, is_session, sync
from memcli.model.conversation import Message
from memcli.model.names import counted
from memcli.record import replace
from memcli.store.layout import Layout
from memcli.store.state import State
from memcli.summarize import LLM
from memcli.wiring import extra

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.cli.commands.session import FactsOptions
    from memcli.extras.transcripts.transcript import Transcript

_FIRST_LINE = 1 << 16


def import_files(session: CommandContext, files: Sequence[str], form: str, dry_run: bool) -> int:
    """Imports the files and prints the results; if one of several fails, the others are still imported. Returns the exit code."""
    workspace = session.open(create=not dry_run)
    done: list[SessionImport] = []
    failed: list[dict[str, str]] = []
    code = 0
    for path in files:
        try:
            with reporting_done(
                lambda: counted(len(done), "session") if done and len(files) == 1 and not dry_run else ""
            ):
                for one in _imported(session, workspace, path, form, dry_run):
                    done.append(one)
                    if not session.output.json:
                        session.output.confirm(None, _import_line(one, dry_run))
        except MemcliError as error:
            code = code or error.exit_code
            failed.append({"file": path, "error": error.message})
            if len(files) == 1:
                raise
            session.output.note(on_one_line(error) if path in error.message else f"{path}: {on_one_line(error)}")
    if session.output.json:
        data = {"sessions": [one.to_json() for one in done], "failed": failed, "dry_run": dry_run}
        session.output.answer(data, "")
    return code


def facts_of(session: CommandContext, path: str, options: FactsOptions) -> list[Fact]:
    """The facts in the conversations of a file, which are redacted first. Raises MemcliError."""
    try:
        workspace = session.open(semantic=options.semantic, model=options.model)
    except NotFoundError:
        if options.semantic == LLM:  # calls of a model need the quota and the ledger of a store
            raise
        from memcli.safety.secrets.detector import Detector

        detector = Detector({}, lambda _: "")
        talks = _talks(conversations(path), lambda text: detector.redact(text)[0])
        return [fact for _, messages in talks for fact in extract(messages)]
    asks = asks_model(workspace, options)
    talks = _talks(conversations(path), workspace.redactor.cleaner(workspace.store.policy(workspace.space)))
    if not asks:
        return [fact for _, messages in talks for fact in extract(messages)]

    return list(extra("advice.session").facts_by_model(workspace, talks))


def _talks(found: Iterable[Transcript], clean: Callable[[str], str]) -> Iterator[tuple[str, list[Message]]]:
    """The title and the messages of each conversation, numbered and redacted by `clean`."""
    for transcript in found:
        messages = enumerate(transcript.messages(), 1)
        yield clean(transcript.title), [replace(one, number=n, text=clean(one.text)) for n, one in messages]


def list_new(session: CommandContext) -> None:
    """Prints the transcripts of this project that are not imported yet."""
    workspace = session.open()
    found: list[str] = []
    for path in discover(os.path.expanduser("~"), os.path.dirname(workspace.root), os.environ):
        try:
            transcript = next(conversations(path), None)
        except MemcliError as error:
            session.output.note(f"{path}: {on_one_line(error)}")
            continue
        if transcript and not workspace.sessions.find_imported(workspace.space, transcript.source, transcript.key)[0]:
            found.append(path)
    session.output.answer(found, "\n".join(found))
    if not found:
        session.output.note("no transcripts of this project that are not imported")


def sync_spool(session: CommandContext, *, in_background: bool = False) -> None:
    """Imports the reports of agents' hooks. In the background it prints nothing, and does nothing while another process imports
    them."""
    workspace = session.open()
    try:
        with extra("agents.records").take_reports(State(Layout(workspace.root))) as entries:
            done = sync(workspace, entries, conversations)
    except LockedError:
        if in_background:
            return
        raise
    if in_background:
        return
    lines = [
        *(_import_line(one, dry_run=False) for one in done.imported),
        *(f"ended {one.session.id}" for one in done.ended),
    ]
    session.output.confirm(done.to_json(), "\n".join(lines) or "nothing to take in")
    for name, problem in done.failed.items():
        session.output.note(f"{name}: {problem}")


def _imported(
    session: CommandContext, workspace: Workspace, path: str, form: str, dry_run: bool
) -> Iterator[SessionImport]:
    """Imports the conversations in a file; gives a result for each. Raises MemcliError."""
    file = part_of(path)[0]
    first = _first_line(file)
    if form == MEMCLI or (form == "auto" and is_session(first)):
        yield import_session(workspace, _lines(file), path, session.options["space"], dry_run=dry_run)
        return
    is_empty = True
    skipped = Counter[str]()
    for transcript in conversations(path, skipped):
        is_empty = False
        if form not in ("auto", transcript.source):
            raise UsageError(f"{path} is of format {transcript.source}, not {form}", "omit --format to detect it")
        yield import_transcript(workspace, transcript, dry_run=dry_run)
    if any(skipped.values()):
        left = ", ".join(f"{n} {reason}" for reason, n in sorted(skipped.items()) if n)
        session.output.note(f"{path}: skipped {left}")
    if is_empty:
        raise UsageError(f"{path} contains no conversation", "see `memcli session import --help` for the formats")


def _first_line(path: str) -> bytes:
    """The first line of a file; empty for a path that is no regular file, whose error the readers of transcripts raise."""
    try:
        if not os.path.isfile(path) and os.path.exists(path):
            return b""
        with open(path, "rb") as file:
            return file.readline(_FIRST_LINE)
    except FileNotFoundError:
        raise NotFoundError(f"no file {path!r}", "check the name") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from None


def _lines(path: str) -> Iterator[bytes]:
    """The lines of a file. Raises CorruptError for one that is too long to be of a session."""
    with open(path, "rb") as file:
        while line := file.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                raise CorruptError(f"{path}: a line of more than {MAX_LINE >> 20} MiB", "export the session again")
            yield line


def _import_line(one: SessionImport, dry_run: bool) -> str:
    """The line that reports the import of a session."""
    would = "would be " if dry_run else ""
    skipped = ", ".join(f"{n} {reason}" for reason, n in sorted(one.skipped.items()))
    added = f"{one.added} of {one.read} messages added" if one.read else "no messages"
    name = one.session.source if one.status == "empty" else one.session.id
    counts = Counter(one.redactions)
    return f"{would}{one.status} {name} ({added}{f'; skipped {skipped}' if skipped else ''}){redaction_note(counts)}"
