"""`memcli session context`"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memcli.cli.arguments import CURRENT, VARIABLE, check_known, chosen_session, decode, read_text
from memcli.cli.options import Options, argument, flag, option
from memcli.cli.output import has_input
from memcli.cli.verb import CommandContext, Http, ToolDeclaration, verb
from memcli.errors import NotFoundError, UsageError
from memcli.model.conversation import ACTIVE, PAUSED, WINDOW_TOKENS
from memcli.model.space import READER

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.extras.window.allocation import ContextWindow
    from memcli.model.conversation import Session as Conversation
    from memcli.model.memory import Json
    from memcli.model.recall import Bundle

_FORMATS = ("markdown", "json", "openai", "anthropic")
_MOST = 10**7


class ContextOptions(Options):
    """The options of `memcli session context`."""

    query: str | None = argument(
        "[QUERY]", "The task; `-` reads standard input [default: the last user message of the session]."
    )
    session: str | None = option(metavar="SESSION", help=f"The session, by id or unique id prefix {CURRENT}.")
    no_session: bool = flag(help="Use no session: the window has the system prompt and memories only.")
    system: str | None = option(metavar="FILE", help="Begin with this system prompt; `-` reads standard input.")
    total: int = option(
        metavar="TOKENS", help="The size of the window.", type=int, low=1, high=_MOST, default=WINDOW_TOKENS
    )
    reserve_system: int | None = option(
        metavar="TOKENS",
        help="Reserved for the system prompt [default: 2000, or an eighth of a small window].",
        type=int,
        low=0,
        high=_MOST,
    )
    reserve_working: int | None = option(
        metavar="TOKENS",
        help="Left free for the answer [default: 8000, or a quarter of a small window].",
        type=int,
        low=0,
        high=_MOST,
    )
    insert: str | None = option(
        metavar="ID|PATH", help="Insert the context that this memory keeps, in place of less relevant messages."
    )
    format: str | None = option(metavar="|".join(_FORMATS), help="The output format [default: markdown].")


@verb(
    ContextOptions,
    role=READER,
    http=(
        Http(
            path="/api/context",
            summary="Assemble a context window within a token budget",
            posted=True,
            fields=("query", "session", "no_session", "total", "reserve_system", "reserve_working"),
            required=("query",),
        ),
    ),
    tools=(
        ToolDeclaration(
            name="context",
            description=(
                "Assemble a context window for a task within a token budget: recalled memories, and of a session its "
                "recent messages and the summaries of older ones. Says what was left out."
            ),
            fields=("query", "session", "total"),
        ),
    ),
    returns="Any",
)
def command(session: CommandContext, options: ContextOptions) -> None:
    """Assemble a context window within a token budget: a system prompt, recalled memories, summaries of older messages of the
    session, and its recent messages.

    Recent messages get 60 % of the room, memories 40 %; what one does not use goes to the other, then to summaries. Standard
    error says what was left out. The formats openai and anthropic are the message lists of these providers.

    Example: memcli session context "how do we deploy?" --system prompt.md --total 32000 | llm

    >>> window = memory.session_context('which database?', total=4000)
    >>> [item['text'] for item in window['sections'][0]['items']]
    ['We chose PostgreSQL over MySQL: we need JSONB.']
    >>> memory.session_context('which database?', format='openai')[0]['role']
    'system'
    """
    from memcli.extras.window import rendering as as_window
    from memcli.extras.window.allocation import limits
    from memcli.extras.window.assembling import assemble

    if options.format is not None:
        check_known("format", options.format, _FORMATS)
    name = options.format or ("json" if session.output.json else "markdown")
    if options.no_session and options.session is not None:
        raise UsageError("--session and --no-session exclude each other", "use one of them")
    bounds = limits(options.total, options.reserve_system, options.reserve_working)
    query = _query(options)
    system = read_text(None, options.system) if options.system is not None else ""
    workspace = session.open()
    chosen = None if options.no_session else _session(workspace, options.session)
    window, bundle = assemble(workspace, bounds, query=query, session=chosen, system=system, inserted=options.insert)
    space = workspace.space
    if name == "markdown":
        session.output.write(as_window.render(window, space))
    else:
        session.output.json = True  # the lists of messages are JSON, also without --json
        data: Json
        if name == "json":
            data = as_window.window_to_json(window, bundle.query.topic, space)
        else:
            data = as_window.openai(window, space) if name == "openai" else as_window.anthropic(window, space)
        session.output.answer(data, "")
    _report(session, window, bundle, name)


def _report(session: CommandContext, window: ContextWindow, bundle: Bundle, name: str) -> None:
    """Prints notes on what the window holds and lacks; JSON contains that already."""
    from memcli.extras.window import rendering as as_window
    from memcli.render.as_prompt import degraded, untrusted

    for line in as_window.report(window) if name != "json" else ():
        session.output.note(line)
    if bundle.withheld:
        session.output.note(f"{bundle.withheld:,} more memories match less well and were not considered")
    for line in filter(None, (untrusted(bundle), degraded(bundle))):
        session.output.note(line)
    if bundle.is_from_clone:
        session.output.note("this store was cloned and not accepted: see `memcli trust --status`")


def _query(options: ContextOptions) -> str:
    """The query, from the argument or a pipe; empty to take the last message of the session. Raises UsageError."""
    given = options.query
    if options.system == "-":
        if given == "-":
            raise UsageError("standard input cannot be both the query and the system prompt", "use a file for one")
        given = given or ""
    if given is None:
        return read_text(None, "-").strip() if has_input() else ""
    # An argument may have bytes that are no UTF-8, which Python holds as surrogates.
    text = read_text(None, "-") if given == "-" else decode(os.fsencode(given), "the query")
    if not text.strip() and options.query is not None:
        raise UsageError(
            "the query is empty", "say what the task is, or omit it to use the last message of the session"
        )
    return text


def _session(workspace: Workspace, name: str | None) -> Conversation | None:
    """The named session, else the current one, or None if there is none. Raises NotFoundError, UsageError."""
    try:
        return chosen_session(workspace, name, ACTIVE, PAUSED)
    except NotFoundError:
        if name or os.environ.get(VARIABLE):
            raise
        return None
