"""What becomes of conversations: the verbs of `memcli session` that end them and read what they yield."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from memcli.cli.options import REQUIRED, Options, argument, flag, option
from memcli.cli.verb import CommandContext
from memcli.errors import NotFoundError, UsageError
from memcli.model.conversation import ACTIVE, PAUSED, STATES

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.model.conversation import Session as Conversation

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
    from memcli.app.gaps import Reviewed, review
    from memcli.app.session_end import end as end_session
    from memcli.cli.semantics import asks_model
    from memcli.render.gaps import reviewed_lines
    from memcli.render.session_end import ended_lines

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
    from memcli.render.session_end import arc_lines, arc_to_json

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
    from memcli.cli.semantics import asks_model
    from memcli.render.session_end import fact_lines

    if options.from_ is not None:
        if options.id is not None:
            raise UsageError("a session cannot be used with --from", "use one of them")
        from memcli.cli.transcripts import facts_of

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
    from memcli.cli.semantics import asks_model

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
    from memcli.app.session_topic import session_topic
    from memcli.embed import EMBEDDERS
    from memcli.wiring.embedders import ChosenEmbedder

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
    from memcli.cli.transcripts import sync_spool

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
