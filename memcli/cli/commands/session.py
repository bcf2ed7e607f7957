"""`memcli session`"""

from __future__ import annotations

import os
from typing import Any

from memcli.cli.arguments import CURRENT, asks_model, check_known, chosen_session, finish_endings, read_text
from memcli.cli.options import DRY_RUN, REQUIRED, Options, argument, flag, option
from memcli.cli.output import ask, redaction_note
from memcli.cli.verb import RECALL, CommandContext, Group, Http, ToolDeclaration
from memcli.errors import NotFoundError, RefusedError, UsageError
from memcli.model.space import ADMIN, JOURNAL, READER, WRITER
from memcli.wiring import extra

command = Group(
    "session",
    "Record conversations, import them from agents and chat exports, and read them again.",
    section=RECALL,
    line="Record, import and read conversations; assemble a context window",
)
_FORMATS = (
    "auto", "memcli", "jsonl", "claude-code", "codex", "gemini", "copilot", "cline", "opencode", "chatgpt", "claude-ai",
)  # fmt: skip


class OneSessionOptions(Options):
    """The argument of the commands for one session."""

    id: str | None = argument("[SESSION]", f"The session, by id or unique id prefix {CURRENT}.")


class StartOptions(Options):
    """The options of `memcli session start`."""

    title: str = option("--title", "-t", metavar="TEXT", help="A title.", default="")


@command.verb(
    StartOptions,
    role=WRITER,
    http=(Http(method="POST", path="/api/sessions", summary="Start a session", fields=("title",), status=201),),
)
def start(session: CommandContext, options: StartOptions) -> None:
    """Start a session and print its id. Git ignores sessions; text is redacted before it is stored.

    Example: export MEMCLI_SESSION=$(memcli session start --title "Slow login")

    >>> memory.session_start(title='Slow login')['state']
    'active'
    """
    from memcli.app.session import start as start_session
    from memcli.codec.session import session_to_json

    made = start_session(session.open(create=True), options.title)
    session.output.answer(session_to_json(made), made.id)


class AddOptions(OneSessionOptions):
    """The options of `memcli session add`."""

    text: str | None = argument("[TEXT]", "The message; without it, or with `-`, read standard input.")
    role: str = option("--role", "-r", metavar="user|assistant|tool", help="Who said it.", default="user")
    file: str | None = option("--file", "-f", metavar="FILE", help="Read the message from FILE.")
    speaker: str = option(metavar="NAME", help="The name of who said it.", default="")
    at: str | None = option(metavar="TIME", help="When it was said [default: now].")


@command.verb(
    AddOptions,
    role=WRITER,
    http=(
        Http(
            method="POST",
            path="/api/sessions/{id}/messages",
            summary="Add a message to a session",
            fields=("id", "text", "role", "speaker", "at"),
            required=("text",),
            status=201,
        ),
    ),
)
def add(session: CommandContext, options: AddOptions) -> None:
    """Add a message to a session.

    Example: memcli session add --role user "Why is the login slow?"

    >>> session = memory.session_start()['id']
    >>> memory.session_add(session, 'Why is the login slow?', role='user')['number']
    1
    """
    from memcli.app import session as app
    from memcli.codec.session import entry_to_json
    from memcli.model.conversation import ACTIVE, PAUSED
    from memcli.model.names import SESSION_MARK

    name, text = options.id, options.text
    # A single argument that is not the id of a session is the message, for the current session.
    if name is not None and text is None and not name.startswith(SESSION_MARK):
        name, text = None, name
    message = read_text(text, options.file, app.MAX_TEXT)
    workspace = session.open()
    chosen = chosen_session(workspace, name, ACTIVE, PAUSED)
    _, added, redactions = app.add(workspace, chosen.id, options.role, message, speaker=options.speaker, at=options.at)
    data: dict[str, Any] = {"session": chosen.id, **entry_to_json(added), "redactions": dict(redactions)}
    session.output.confirm(data, f"added {chosen.id} #{added.number}{redaction_note(redactions)}")


@command.verb(OneSessionOptions)
def pause(session: CommandContext, options: OneSessionOptions) -> None:
    """Pause a session: nothing is added until it is resumed.

    >>> memory.session_pause(memory.session_start()['id'])['state']
    'paused'
    """
    from memcli.model.conversation import ACTIVE, PAUSED

    _change(session, options.id, ACTIVE, PAUSED, "paused")


@command.verb(OneSessionOptions)
def resume(session: CommandContext, options: OneSessionOptions) -> None:
    """Resume a session that is paused or has ended.

    >>> memory.session_resume(memory.session_start()['id'])['changed']
    False
    """
    from memcli.model.conversation import ACTIVE, PAUSED

    _change(session, options.id, PAUSED, ACTIVE, "resumed")


class SessionListOptions(Options):
    """The options of `memcli session list`."""

    limit: int = option(
        "--limit", "-l", metavar="N", help="Show the newest N; 0 shows all.", type=int, low=0, default=20
    )


@command.verb(
    SessionListOptions,
    role=READER,
    http=(Http(path="/api/sessions", summary="List sessions", fields=("limit",)),),
    returns="Objects",
)
def list_(session: CommandContext, options: SessionListOptions) -> None:
    """List sessions, the newest first.

    >>> memory.session_list()
    []
    """
    from memcli.app.session import list_sessions
    from memcli.codec.session import session_to_json
    from memcli.render.clean import grid

    workspace = session.open()
    finish_endings(workspace)
    found = list_sessions(workspace, options.limit or None)
    data = [session_to_json(one) | ({"problem": problem} if problem else {}) for one, problem in found]
    # A session whose file is damaged has the problem in place of its title.
    rows = [[s.id, s.state, str(s.messages), s.started_at, s.source, problem or s.title] for s, problem in found]
    header = ("id", "state", "messages", "started", "source", "title")
    session.output.answer(data, grid(header, rows) if rows else "")
    if not found:
        session.output.note("no sessions; `memcli session start` starts one")


class SessionShowOptions(OneSessionOptions):
    """The options of `memcli session show`."""

    from_: int = option(metavar="N", help="The first message to show.", type=int, low=1, default=1)
    to: int | None = option(metavar="N", help="The last message to show.", type=int, low=1)


@command.verb(
    SessionShowOptions,
    role=READER,
    http=(Http(path="/api/sessions/{id}", summary="Show the messages of a session", fields=("id", "from_", "to")),),
    tools=(
        ToolDeclaration(
            name="session",
            bare_verb="session list",
            description="Read a recorded conversation, whole or from one message to another; without an id, list the newest.",
            fields=("id", "from_", "to"),
        ),
    ),
)
def show(session: CommandContext, options: SessionShowOptions) -> None:
    """Show a session with its messages.

    Example: memcli session show --from 10 --to 20

    >>> memory.session_show(memory.session_start()['id'])['messages']
    []
    """
    from memcli.app import session as app
    from memcli.codec.session import entry_to_json, session_to_json
    from memcli.model.conversation import STATES
    from memcli.render.reports import session_lines

    workspace = session.open()
    chosen = chosen_session(workspace, options.id, *STATES)
    clean = workspace.redactor.cleaner(workspace.store.policy(workspace.space))
    chosen = app.shown(chosen, clean)
    found = list(app.messages(workspace, chosen, options.from_, options.to))
    header = {**session_to_json(chosen), "shared": workspace.sessions.is_shared(chosen.space, chosen.id)}
    data = {"session": header, "messages": [entry_to_json(message) for message in found]}
    session.output.answer(data, "\n".join(session_lines(chosen, found)))


class ShareOptions(Options):
    """The options of `memcli session share`."""

    id: str = argument("SESSION", "The session, by id or unique id prefix.", default=REQUIRED)
    undo: bool = flag(help="Move the session back into the private state.")


@command.verb(ShareOptions)
def share(session: CommandContext, options: ShareOptions) -> None:
    """Let git track a session: moves it out of the private state into `.memory/sessions/`.

    Exits with 5 if the session contains secrets.

    >>> memory.session_share(memory.session_start()['id'])['shared']
    True
    """
    from memcli.app.session import find
    from memcli.app.session import share as share_session

    workspace = session.open()
    chosen = find(workspace, options.id)
    changed = share_session(workspace, chosen, shared=not options.undo)
    state = "private" if options.undo else "shared"
    data = {"id": chosen.id, "shared": not options.undo, "changed": changed}
    session.output.confirm(data, f"{chosen.id} is {'' if changed else 'already '}{state}")
    path = f".memory/sessions/{chosen.space}/{chosen.id}.jsonl"
    if changed:
        do = f"if git tracks it, run `git rm --cached {path}`" if options.undo else f"commit {path} to share it"
        session.output.note(do)


class EndOptions(OneSessionOptions):
    """The options of `memcli session end`."""

    outcome: str = option(metavar="TEXT", help="What came of it.", default="")
    semantic: str | None = option(
        metavar="local|llm|off", help="Who reads the session; llm asks a language model [default: local]."
    )
    model: str | None = option(metavar="PROVIDER:MODEL", help="The language model of --semantic llm.")


@command.verb(
    EndOptions,
    role=WRITER,
    reach=JOURNAL,
    http=(Http(method="POST", path="/api/sessions/{id}/end", summary="End a session", fields=("id", "outcome")),),
)
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
    from memcli.app.session_end import end as end_session
    from memcli.model.conversation import ACTIVE, PAUSED
    from memcli.record import as_dict
    from memcli.render.reports import ended_lines

    workspace = session.open(semantic=options.semantic, model=options.model)
    asks = asks_model(workspace, options)
    done = end_session(workspace, chosen_session(workspace, options.id, ACTIVE, PAUSED), options.outcome, asks=asks)
    gaps = extra("feedback.gaps")
    filled: list[Any] = []
    left: list[Any] = []
    # The session has ended and its memories are stored: a failure here is a warning.
    with workspace.behind_the_write("the review of questions that nothing answered"):
        filled, left = gaps.review(workspace, done.session.started_at)
    data = done.to_json()
    if filled or left:
        data = {**data, "gaps": {"filled": list(map(as_dict, filled)), "open": list(map(as_dict, left))}}
    session.output.confirm(data, "\n".join([*ended_lines(done), *gaps.reviewed_lines(filled, left)]))


@command.verb(
    OneSessionOptions,
    role=READER,
    http=(Http(path="/api/sessions/{id}/arc", summary="Show the episodes of a session", fields=("id",)),),
)
def arc(session: CommandContext, options: OneSessionOptions) -> None:
    """Show the course of a session: its episodes at the beginning, in the middle and at the end, and the key moments.

    >>> memory.session_arc(memory.session_start()['id'])['key_moments']
    []
    """
    from memcli.app.session_end import read_arc
    from memcli.model.conversation import STATES
    from memcli.render.reports import arc_lines

    workspace = session.open()
    chosen = chosen_session(workspace, options.id, *STATES)
    found = read_arc(workspace, chosen)
    parts = {name: [{"kind": one.kind, **one.as_field()} for one in episodes] for name, episodes in found.items()}
    session.output.answer({"id": chosen.id, **parts}, "\n".join(arc_lines(chosen, found)))


class FactsOptions(OneSessionOptions):
    """The options of `memcli session facts`."""

    from_: str | None = option("--from", metavar="FILE", help="Read a transcript; store nothing.")
    semantic: str | None = option(
        metavar="local|llm|off", help="Who reads the session; llm asks a language model [default: local]."
    )
    model: str | None = option(metavar="PROVIDER:MODEL", help="The language model of --semantic llm.")


@command.verb(FactsOptions, role=READER, returns="Objects")
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
    from memcli.model.conversation import STATES
    from memcli.render.reports import fact_lines

    if options.from_ is not None:
        if options.id is not None:
            raise UsageError("a session cannot be used with --from", "use one of them")
        named = [("", fact) for fact in extra("transcripts.intake").facts_of(session, options.from_, options)]
    else:
        workspace = session.open(semantic=options.semantic, model=options.model)
        asks = asks_model(workspace, options)
        named = read_facts(workspace, chosen_session(workspace, options.id, *STATES), asks=asks)
    data = [{**({"fact": name} if name else {}), **one.to_json()} for name, one in named]
    session.output.answer(data, "\n".join(fact_lines(named)))
    if not named:
        session.output.note("no facts")


class PromoteOptions(Options):
    """The options of `memcli session promote`."""

    facts: list[str] = argument(
        "FACT...", "Facts, by the names that `memcli session facts` prints.", many=True, default=REQUIRED
    )
    semantic: str | None = option(
        metavar="local|llm|off", help="As it was for `memcli session facts` [default: local]."
    )
    model: str | None = option(metavar="PROVIDER:MODEL", help="The language model of --semantic llm.")


@command.verb(PromoteOptions, returns="Objects")
def promote(session: CommandContext, options: PromoteOptions) -> None:
    """Remember facts of a session.

    Example: memcli session promote ses_4fk2xw3h2lq7#12.1

    >>> session = memory.session_start()['id']
    >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
    >>> memory.session_promote(f'{session}#1.1')[0]['status']
    'created'
    """
    from memcli.app.session_end import promote as promote_facts

    workspace = session.open(semantic=options.semantic, model=options.model)
    outcomes = promote_facts(workspace, options.facts, asks=asks_model(workspace, options))
    session.output.confirm(
        [one.to_json() for one in outcomes], "\n".join(f"{one.status} {one.id} {one.path}" for one in outcomes)
    )


class TopicOptions(Options):
    """The options of `memcli session topic`."""

    previous: str = argument("PREVIOUS", "A prompt.", default=REQUIRED)
    current: str = argument("CURRENT", "The prompt that follows it.", default=REQUIRED)


@command.verb(TopicOptions)
def topic(session: CommandContext, options: TopicOptions) -> None:
    """Tell whether a prompt changes the topic of the one before it, by meaning and words, and why.

    Example: memcli session topic "add a retry to the upload" "and the download?"

    >>> memory.session_topic('add a retry to the upload', 'and the download?')['changed']
    False
    """
    from memcli.app.context import session_topic
    from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS, check_embedder

    try:
        name = session.open(tells_off=False).embedder
    except NotFoundError:
        name = session.options.get("embedder") or os.environ.get("MEMCLI_EMBEDDER") or DEFAULT_EMBEDDER
    check_embedder(name)
    # The thresholds were fitted to these models; cosines of others are on other scales.
    embedder = EMBEDDERS[name]() if name in EMBEDDERS else None
    found = session_topic(embedder, options.previous, options.current)
    verdict = "changed" if found.changed else "same topic"
    session.output.answer(found.to_json(), f"{verdict} (similarity {found.similarity:.2f}): {found.why}")


class SessionSyncOptions(Options):
    """The options of `memcli session sync`."""

    background: bool = flag(help="Wait for no other process, and say nothing.")


@command.verb(SessionSyncOptions)
def sync(session: CommandContext, options: SessionSyncOptions) -> None:
    """Take in the sessions of agents that their hooks reported, and finish what was interrupted.

    The hooks that `memcli agent install` sets up start this in the background when a session begins or ends.

    >>> memory.session_sync()['imported']
    []
    """
    extra("transcripts.intake").sync_spool(session, in_background=options.background)


class SessionDeleteOptions(Options):
    """The options of `memcli session delete`."""

    id: str = argument("SESSION", "The session, by id or unique id prefix.", default=REQUIRED)
    keep_memories: bool = flag(help="Keep the memories that were made from the session.")
    yes: bool = flag("--yes", "-y", help="Delete without asking for confirmation.")


@command.verb(
    SessionDeleteOptions,
    reach=JOURNAL,
    role=ADMIN,
    http=(
        Http(
            method="DELETE",
            path="/api/sessions/{id}",
            summary="Delete a session",
            fields=("id", "keep_memories"),
            fixed={"yes": True},
            in_query=True,
        ),
    ),
)
def delete(session: CommandContext, options: SessionDeleteOptions) -> None:
    """Delete a session for good, and the memories that were made from it, which `memcli restore` restores.

    Example: memcli session delete ses_4fk2 --yes

    >>> memory.session_delete(memory.session_start()['id'], yes=True)['deleted']
    True
    """
    from memcli.app.purge import made_from_session, purge_session
    from memcli.app.session import find

    workspace = session.open()
    chosen = find(workspace, options.id)
    made = 0 if options.keep_memories else sum(map(len, made_from_session(workspace, chosen).values()))
    what = f"{chosen.id} ({chosen.messages} messages){f' and {made} memories made from it' if made else ''}"
    if not options.yes and not ask(f"Delete session {what}?"):
        raise RefusedError(f"deleting session {what} needs confirmation", "add --yes; nothing was deleted")
    was_shared = workspace.sessions.is_shared(chosen.space, chosen.id)
    gone = purge_session(workspace, chosen, keep_memories=options.keep_memories)
    data = {"id": chosen.id, "deleted": True, "memories": [{"id": m.id, "path": m.path} for m in gone]}
    lines = [f"deleted {chosen.id}", *(f"purged {m.id} {m.path}" for m in gone)]
    session.output.confirm(data, "\n".join(lines))
    if was_shared:
        session.output.note(f"commits that have .memory/sessions/{chosen.space}/{chosen.id}.jsonl keep its text")


class SessionImportOptions(Options):
    """The options of `memcli session import`."""

    files: list[str] = argument(
        "[FILE...]", "Transcripts, chat exports (a .zip as it is), or exported sessions.", many=True
    )
    format: str = option("--format", metavar="|".join(_FORMATS), help="The format; auto detects it.", default="auto")
    discover: bool = flag(help="List the transcripts of this project that are not imported yet.")
    dry_run: bool = DRY_RUN


@command.verb(SessionImportOptions, returns="Any")
def import_(session: CommandContext, options: SessionImportOptions) -> int:
    """Import transcripts: JSON Lines with role and content, sessions of Claude Code, Codex, Gemini CLI, Copilot CLI, Cline
    and opencode, exports of ChatGPT and Claude.ai, and what `memcli session export` wrote.

    Importing a file again adds only what is new in it. Lines that cannot be read are skipped and counted. FILE#ID is one
    session of opencode's database.

    Example: memcli session import $(memcli session import --discover)

    >>> session = memory.session_start()['id']
    >>> _ = memory.session_export(session, out='session.jsonl')
    >>> memory.session_import('session.jsonl')['sessions'][0]['status']
    'unchanged'
    """
    check_known("format", options.format, _FORMATS)
    if options.discover == bool(options.files):
        raise UsageError("give either files or --discover", "--discover lists files that can be imported")
    if options.discover:
        extra("transcripts.intake").list_new(session)
        return 0
    code: int = extra("transcripts.intake").import_files(session, options.files, options.format, options.dry_run)
    return code


class SessionExportOptions(Options):
    """The options of `memcli session export`."""

    id: str = argument("SESSION", "The session, by id or unique id prefix.", default=REQUIRED)
    out: str = option("--out", "-o", metavar="FILE", help="Write to this file; `-` is standard output.", default="-")
    redact: bool = flag(help="Replace secrets with [REDACTED:kind] instead of failing.")


@command.verb(SessionExportOptions, returns="Any")
def export(session: CommandContext, options: SessionExportOptions) -> None:
    """Export a session as JSON Lines, which `memcli session import` reads without loss.

    Exits with 5 if the session contains secrets; --redact removes them.

    Example: memcli session export ses_4fk2 --out session.jsonl

    >>> memory.session_export(memory.session_start()['id']).startswith('{"format":"memcli/session"')
    True
    """
    from memcli.app.session import export_lines, find

    workspace = session.open()
    chosen = find(workspace, options.id)
    lines = export_lines(workspace, chosen, redact=options.redact)
    if options.out == "-":
        for line in lines:
            session.output.raw(line.decode())
        return
    from memcli.store.target import write_export

    data = b"".join(lines)
    write_export(options.out, data)
    report = {"id": chosen.id, "messages": chosen.messages, "path": options.out, "bytes": len(data)}
    session.output.confirm(report, f"exported {chosen.id} to {options.out}")


def _change(session: CommandContext, name: str | None, before: str, state: str, done: str) -> None:
    """Changes a session from the state `before` to `state`, and prints the result, with `done` as its verb."""
    from memcli.app.session import change_state
    from memcli.codec.session import session_to_json

    workspace = session.open()
    # In either state: that it has been changed already is an answer, not an error.
    chosen, changed = change_state(workspace, chosen_session(workspace, name, before, state).id, state)
    data = {**session_to_json(chosen), "changed": changed}
    session.output.confirm(data, f"{done} {chosen.id}" if changed else f"{chosen.id} is already {chosen.state}")
