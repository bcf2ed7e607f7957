"""What becomes of conversations: the verbs of `memcli session` that end them and read what they yield.

The transcripts that `memcli session import` reads: one file after the other, and what came of each.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memcli.cli.arguments import asks_model
from memcli.cli.options import REQUIRED, Options, argument, flag, option
from memcli.cli.output import on_one_line, redacted_told
from memcli.cli.verb import CommandContext
from memcli.codec.session import MAX_LINE
from memcli.errors import CorruptError, LockedError, MemcliError, NotFoundError, UsageError, reporting_done
from memcli.model.conversation import ACTIVE, PAUSED, STATES
from memcli.summarize import LLM

if TYPE_CHECKING:
    from memcli.app.session_import import SessionImport
    from memcli.app.workspace import Workspace
    from memcli.conversation.facts import Fact
    from memcli.model.conversation import Message
    from memcli.model.conversation import Session as Conversation
    from memcli.ports.sessions import Transcript


VARIABLE = "MEMCLI_SESSION"
CURRENT = f"[default: {VARIABLE}, or the session started last]"


class OneOptions(Options):
    """What the commands take that are of one session."""

    id: str | None = argument("[SESSION]", f"The session, by id or unique id prefix {CURRENT}.")


def _semantic_option() -> Any:
    return option(metavar="local|llm|off", help="Who reads the session; llm asks a language model [default: local].")


def _model_option() -> Any:
    return option(metavar="PROVIDER:MODEL", help="The language model of --semantic llm.")


class EndOptions(OneOptions):
    """What `memcli session end` takes."""

    outcome: str = option(metavar="TEXT", help="What came of it.", default="")
    semantic: str | None = _semantic_option()
    model: str | None = _model_option()


def end(session: CommandContext, options: EndOptions) -> None:
    """End a session: remember what happened in it.

    The journal of its space, which git ignores, gets a memory of the session, its episodes and the facts that were stated:
    `journal` for the default space, `journal@shop` for the space shop, which is read with -s shop. Facts that are clear enough
    are proposed for the space of the session (see `memcli inbox`), or go there at once if its policy has promote=auto. With the policy gaps=true, questions of this time that nothing answered are asked again. With
    --semantic llm a language model sums it up and finds the facts, each in the words of the session, in at most 30 s; if it
    fails, the local layer does so. The last messages are sent, and summaries of those before them, without secrets.

    Example: memcli session end --outcome "Login takes 400 ms now"

    >>> session = memory.session_start(title='Prices')['id']
    >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
    >>> [fact['status'] for fact in memory.session_end(session)['promoted']]
    ['proposed']
    """
    from memcli.app.feedback import Reviewed, review
    from memcli.app.session_end import end as end_session
    from memcli.cli.arguments import asks_model
    from memcli.render.reports import ended_lines, reviewed_lines

    workspace = session.open(semantic=options.semantic, model=options.model)
    asks = asks_model(workspace, options)
    done = end_session(workspace, chosen_session(workspace, options.id, ACTIVE, PAUSED), options.outcome, asks=asks)
    reviewed = Reviewed()
    with workspace.behind_the_write("the review of questions that nothing answered"):
        reviewed = review(workspace, done.session.started_at)
    gaps = {"gaps": reviewed.to_json()} if reviewed != Reviewed() else {}
    session.output.confirm({**done.to_json(), **gaps}, "\n".join([*ended_lines(done), *reviewed_lines(reviewed)]))


def arc(session: CommandContext, options: OneOptions) -> None:
    """Show the course of a session: its episodes at the beginning, in the middle and at the end, and the key moments.

    >>> memory.session_arc(memory.session_start()['id'])['key_moments']
    []
    """
    from memcli.app.session_end import read_arc
    from memcli.render.reports import arc_lines, arc_to_json

    workspace = session.open()
    chosen = chosen_session(workspace, options.id, *STATES)
    found = read_arc(workspace, chosen)
    session.output.answer({"id": chosen.id, **arc_to_json(found)}, "\n".join(arc_lines(chosen, found)))


class FactsOptions(OneOptions):
    """What `memcli session facts` takes."""

    from_: str | None = option("--from", metavar="FILE", help="Read a transcript; store nothing.")
    semantic: str | None = _semantic_option()
    model: str | None = _model_option()


def facts(session: CommandContext, options: FactsOptions) -> None:
    """List the facts that a session states: decisions, preferences, constraints, goals, procedures, corrections, things never
    to do. Questions, offers, hypotheses and what was taken back later are none.

    Example: memcli session facts --from transcript.jsonl --json

    >>> session = memory.session_start()['id']
    >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
    >>> [fact['kind'] for fact in memory.session_facts(session)]
    ['decision']
    """
    from memcli.app.session_end import read_facts
    from memcli.cli.arguments import asks_model
    from memcli.render.reports import fact_lines

    if options.from_ is not None:
        if options.id is not None:
            raise UsageError("a session cannot be used with --from", "use one of them")

        named = [("", fact) for fact in facts_of(session, options.from_, options)]
    else:
        workspace = session.open(semantic=options.semantic, model=options.model)
        asks = asks_model(workspace, options)
        named = read_facts(workspace, chosen_session(workspace, options.id, *STATES), asks=asks)
    data = [{**({"fact": name} if name else {}), **one.to_json()} for name, one in named]
    session.output.answer(data, "\n".join(fact_lines(named)))
    if not named:
        session.output.note("no facts")


class PromoteOptions(Options):
    """What `memcli session promote` takes."""

    facts: list[str] = argument(
        "FACT...", "Facts, by the names that `memcli session facts` prints.", many=True, default=REQUIRED
    )
    semantic: str | None = option(
        metavar="local|llm|off", help="As it was for `memcli session facts` [default: local]."
    )
    model: str | None = _model_option()


def promote(session: CommandContext, options: PromoteOptions) -> None:
    """Remember facts of a session.

    Example: memcli session promote ses_4fk2xw3h2lq7#12.1

    >>> session = memory.session_start()['id']
    >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
    >>> memory.session_promote(f'{session}#1.1')[0]['status']
    'created'
    """
    from memcli.app.session_end import promote as promote_facts
    from memcli.cli.arguments import asks_model

    workspace = session.open(semantic=options.semantic, model=options.model)
    outcomes = promote_facts(workspace, options.facts, asks=asks_model(workspace, options))
    session.output.confirm(
        [one.to_json() for one in outcomes], "\n".join(f"{one.status} {one.id} {one.path}" for one in outcomes)
    )


class TopicOptions(Options):
    """What `memcli session topic` takes."""

    previous: str = argument("PREVIOUS", "A prompt.", default=REQUIRED)
    current: str = argument("CURRENT", "The prompt that follows it.", default=REQUIRED)


def topic(session: CommandContext, options: TopicOptions) -> None:
    """Tell whether a prompt changes the topic of the one before it, by meaning and words, and why.

    Example: memcli session topic "add a retry to the upload" "and the download?"

    >>> memory.session_topic('add a retry to the upload', 'and the download?')['changed']
    False
    """
    from memcli.app.context import session_topic
    from memcli.embed import EMBEDDERS
    from memcli.wiring.indexes import ChosenEmbedder

    try:
        name = session.open(tells_off=False).embedder
    except NotFoundError:
        name = session.options.get("embedder") or os.environ.get("MEMCLI_EMBEDDER") or ""
    chosen = ChosenEmbedder(name)
    chosen.check()
    # The cosines of other models are on no scale that the thresholds hold for.
    embedder = chosen.load() if chosen.name in EMBEDDERS else None
    found = session_topic(embedder, options.previous, options.current)
    told = "changed" if found.changed else "same topic"
    session.output.answer(found.to_json(), f"{told} (similarity {found.similarity:.2f}): {found.why}")


class SessionSyncOptions(Options):
    """What `memcli session sync` takes."""

    background: bool = flag(help="Wait for no other process, and say nothing.")


def sync(session: CommandContext, options: SessionSyncOptions) -> None:
    """Take in the sessions of agents that their hooks reported, and finish what was interrupted.

    The hooks that `memcli agent install` sets up start this in the background when a session begins or ends.

    >>> memory.session_sync()['imported']
    []
    """

    sync_spool(session, in_background=options.background)


def chosen_session(workspace: Workspace, name: str | None, *states: str) -> Conversation:
    """The session of this name; else that of the environment, or the current one in the first of these states."""
    from memcli.app.session import current, find

    finish_endings(workspace)

    ref = name or os.environ.get(VARIABLE)
    return find(workspace, ref) if ref else current(workspace, *states)


def finish_endings(workspace: Workspace) -> None:
    """Does what earlier commands were interrupted in."""
    if workspace.sessions.ending(workspace.space):
        from memcli.app.session_end import finish_all

        with workspace.behind_the_write("finishing the end of an earlier session"):
            finish_all(workspace)


_FIRST_LINE = 1 << 16


def import_files(session: CommandContext, files: Sequence[str], form: str, dry_run: bool) -> int:
    """Imports the files; a file that fails does not keep the others from being imported. Returns the exit code."""
    workspace = session.open(create=not dry_run)
    done: list[SessionImport] = []
    failed: list[dict[str, str]] = []
    code = 0
    for path in files:
        try:
            with reporting_done(lambda: _many(done) if len(files) == 1 and not dry_run else ""):
                for one in _imported(session, workspace, path, form, dry_run):
                    done.append(one)
                    if not session.output.json:
                        session.output.confirm(None, _told(one, dry_run))
        except MemcliError as error:
            code = code or error.exit_code
            failed.append({"file": path, "error": error.message})
            if len(files) == 1:
                raise
            session.output.note(on_one_line(error) if path in error.message else f"{path}: {on_one_line(error)}")
    if session.output.json:
        told = {"sessions": [one.to_json() for one in done], "failed": failed, "dry_run": dry_run}
        session.output.answer(told, "")
    return code


def facts_of(session: CommandContext, path: str, options: FactsOptions) -> list[Fact]:
    """The facts that the conversations in a file state, without what is secret in them. Raises MemcliError."""
    from memcli.conversation.facts import extract
    from memcli.wiring.transcripts import read_transcripts

    try:
        workspace = session.open(semantic=options.semantic, model=options.model)
    except NotFoundError:
        if options.semantic == LLM:  # the quota and the ledger are those of a store
            raise
        from memcli.safety.secrets.detector import Detector

        detector = Detector({}, lambda _: "")
        talks = _talks(read_transcripts(path), lambda text: detector.redact(text)[0])
        return [fact for _, said in talks for fact in extract(said)]
    asks = asks_model(workspace, options)
    talks = _talks(read_transcripts(path), workspace.redactor.cleaner(workspace.store.policy(workspace.space)))
    if not asks:
        return [fact for _, said in talks for fact in extract(said)]
    from memcli.app.session_yield import facts_by_model

    return list(facts_by_model(workspace, talks))


def _talks(found: Iterable[Transcript], clean: Callable[[str], str]) -> Iterator[tuple[str, list[Message]]]:
    """The title and the messages of each conversation, numbered and without secrets."""
    from memcli.record import replace

    for transcript in found:
        said = enumerate(transcript.messages(), 1)
        yield clean(transcript.title), [replace(one, number=n, text=clean(one.text)) for n, one in said]


def list_new(session: CommandContext) -> None:
    """Prints the transcripts of this project that are not imported yet."""
    from memcli.wiring.transcripts import discover, read_transcripts

    workspace = session.open()
    found: list[str] = []
    for path in discover(workspace.root, os.environ):
        try:
            told = next(read_transcripts(path), None)
        except MemcliError as error:
            session.output.note(f"{path}: {on_one_line(error)}")
            continue
        if told and workspace.sessions.find_imported(workspace.space, told.source, told.key) is None:
            found.append(path)
    session.output.answer(found, "\n".join(found))
    if not found:
        session.output.note("no transcripts of this project that are not imported")


def sync_spool(session: CommandContext, *, in_background: bool = False) -> None:
    """Takes in what the hooks of agents reported. In the background, not while another process does, and in silence."""
    from memcli.app.session_import import sync
    from memcli.store.agents import Spool
    from memcli.store.layout import Layout
    from memcli.store.state import State
    from memcli.wiring.transcripts import read_transcripts

    workspace = session.open()
    try:
        with Spool(State(Layout(workspace.root))).taking() as entries:
            done = sync(workspace, entries, read_transcripts)
    except LockedError:
        if in_background:
            return
        raise
    if in_background:
        return
    lines = [*(_told(one, dry_run=False) for one in done.imported), *(f"ended {one.session.id}" for one in done.ended)]
    session.output.confirm(done.to_json(), "\n".join(lines) or "nothing to take in")
    for name, problem in done.failed.items():
        session.output.note(f"{name}: {problem}")


def _imported(
    session: CommandContext, workspace: Workspace, path: str, form: str, dry_run: bool
) -> Iterator[SessionImport]:
    """What came of each conversation in a file. Raises MemcliError."""
    from memcli.app.session_import import MEMCLI, import_session, import_transcript, is_session
    from memcli.wiring.transcripts import file_of, read_transcripts

    file = file_of(path)
    first = _first_line(file)
    if form == MEMCLI or (form == "auto" and is_session(first)):
        yield import_session(workspace, _lines(file), path, session.options["space"], dry_run=dry_run)
        return
    is_empty = True
    found = read_transcripts(path)
    for transcript in found:
        is_empty = False
        if form not in ("auto", transcript.source):
            raise UsageError(f"{path} is of format {transcript.source}, not {form}", "omit --format to detect it")
        yield import_transcript(workspace, transcript, dry_run=dry_run)
    if any(found.skipped.values()):
        left = ", ".join(f"{n} {reason}" for reason, n in sorted(found.skipped.items()) if n)
        session.output.note(f"{path}: skipped {left}")
    if is_empty:
        raise UsageError(f"{path} contains no conversation", "see `memcli session import --help` for the formats")


def _first_line(path: str) -> bytes:
    """The first line of a file; nothing of what is no file, which is left to the readers of transcripts."""
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


def _many(done: Sequence[SessionImport]) -> str:
    return "" if not done else "1 session" if len(done) == 1 else f"{len(done)} sessions"


def _told(one: SessionImport, dry_run: bool) -> str:
    would = "would be " if dry_run else ""
    skipped = ", ".join(f"{n} {reason}" for reason, n in sorted(one.skipped.items()))
    added = f"{one.added} of {one.read} messages added" if one.read else "no messages"
    name = one.session.source if one.status == "empty" else one.session.id
    counts = Counter(one.redactions)
    return f"{would}{one.status} {name} ({added}{f'; skipped {skipped}' if skipped else ''}){redacted_told(counts)}"
