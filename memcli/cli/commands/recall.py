"""`memcli recall`"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from memcli.cli import arguments
from memcli.cli.arguments import check_known, decode, read_text
from memcli.cli.options import KIND_FILTER, NO_USAGE, REVISION, TAG_FILTER, UNDER, Options, argument, flag, option
from memcli.cli.output import has_input, is_terminal
from memcli.cli.verb import RECALL, CommandContext, Http, ToolDeclaration, verb
from memcli.clock import normalize_time
from memcli.errors import MemcliError, NotFoundError, UsageError
from memcli.model.recall import DEFAULT_LIMIT, Query
from memcli.model.space import READER
from memcli.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.app.recall import Verify
    from memcli.app.workspace import Workspace
    from memcli.model.anchors import FileEdit
    from memcli.model.recall import Bundle

    Ask = Callable[..., Iterator[Bundle]]

_MOST_LINES = 5
_ASK = 'ask a question: memcli recall "which database?", or list a kind with --kind, a path with --under'
_MAX_LIMIT = 10_000
_UPKEEP_EVERY = 50
_PARTS = {"turns": "log", "chunks": "chunk", "episodes": "episode"}
"""The parts of sessions that --include and --exclude name, with the kinds of their memories."""


class RecallOptions(Options):
    """The options of `memcli recall`."""

    topic: str | None = argument("[TOPIC]", "The question; `-` reads standard input.")
    topics: str | None = option(metavar="FILE", help="Answer one question per line; print one JSON bundle per line.")
    limit: int = option(
        "--limit",
        "-l",
        metavar="N",
        help="Return at most N memories.",
        is_harmless=True,
        type=int,
        default=DEFAULT_LIMIT,
        low=1,
        high=_MAX_LIMIT,
    )
    raw_limit: int | None = option(
        metavar="N", help="Include the full text of at most N memories.", type=int, low=0, high=_MAX_LIMIT
    )
    include_raw: bool = flag(help="Include the full text of each memory.")
    include_metadata: bool = flag(help="Include the metadata of each memory.")
    format: str | None = option(
        metavar="FORMAT", help="json, md, prompt [piped], table or text [terminal].", is_harmless=True
    )
    budget: int | None = option(
        metavar="TOKENS", help="Print at most this many tokens, best memories first.", type=int, low=1, high=10**7
    )
    kind: list[str] = KIND_FILTER
    tag: list[str] = TAG_FILTER
    under: str = UNDER
    scope: str | None = option(metavar="project|global|session", help="Only memories of this scope.")
    include: list[str] = option(
        metavar="turns|chunks|episodes", help="With --scope session: also this part of sessions. Repeatable.", many=True
    )
    exclude: list[str] = option(
        metavar="turns|chunks|episodes",
        help="With --scope session: without this part of sessions. Repeatable.",
        many=True,
    )
    since: str | None = option(metavar="TIME", help="Only memories created at or after TIME.")
    until: str | None = option(metavar="TIME", help="Only memories created before TIME.")
    rev: str | None = REVISION
    at: str | None = option(metavar="TIME", help="Only memories that were valid at TIME.")
    prefer_kind: list[str] = option(
        metavar="KIND", help="Rank this kind higher. Repeatable.", many=True, is_harmless=True
    )
    prefer_tag: list[str] = option(metavar="TAG", help="Rank this tag higher. Repeatable.", many=True, is_harmless=True)
    require_high_relevance: bool = flag(help="Only memories of high relevance.")
    min_score: float | None = option(metavar="X", help="Only memories that score at least X.", type=float)
    min_importance: float | None = option(
        metavar="0..1", help="Only memories of at least this importance.", type=float, low=0, high=1
    )
    about: str = option(
        metavar="TEXT", help="Rank higher what this text speaks of, such as the task at hand.", default=""
    )
    include_inactive: bool = flag(help="Include forgotten, superseded and expired memories.")
    backend: str | None = option(
        metavar="NAME", help="fusion [default], basic, patricia, raptor, hybrid or graph.", is_harmless=True
    )
    weights: str | None = option(
        metavar="NAME=X", help="Weights of the score, such as semantic=.6,keyword=.4.", is_harmless=True
    )
    recency_bias: float | None = option(
        metavar="0..1",
        help="Weight of the date relative to the rest of the score.",
        type=float,
        low=0,
        high=1,
        is_harmless=True,
    )
    deadline: int | None = option(
        metavar="MS", help="Search by words only if embedding takes longer than this.", type=int, low=0, high=10**7
    )
    all_spaces: bool = flag(help="Search all spaces of the store but private ones.")
    no_global: bool = flag(help="Do not search the user-wide store.")
    verbose: bool = flag("--verbose", "-v", help="On a terminal, print passages whole, not their first five lines.")
    explain: bool = flag(help="Show the components of each score.", is_harmless=True)
    include_untrusted: bool = flag(help="Include memories that contain instructions to an agent.")
    no_usage: bool = NO_USAGE
    fail_empty: bool = flag(help="Exit with 3 if nothing matches.")
    fail_weak: bool = flag(help="Exit with 3 if nothing matches, or only weak evidence.")
    from_diff: str | None = option(metavar="FILE", help="Find memories about this diff; `-` reads standard input.")
    verify: int | None = option(
        metavar="[N]",
        help="Ask a language model which of the first N memories are relevant [N: 8].",
        type=int,
        low=1,
        high=50,
        bare="8",
    )
    verify_timeout: int = option(
        metavar="MS",
        help="Keep the ranking if the model, once loaded, takes longer than this.",
        type=int,
        default=1000,
        low=1,
        high=10**6,
    )
    model: str | None = option(metavar="PROVIDER:MODEL", help="The language model of --verify.")
    changed: str | None = option(metavar="REV", help="Find memories about what was committed and staged since REV.")


@verb(
    RecallOptions,
    section=RECALL,
    often=("limit", "budget", "format", "kind", "tag", "under", "since", "verbose", "changed", "explain"),
    line="Print the memories that answer a question, ready for a prompt",
    role=READER,
    http=(
        Http(
            path="/api/recall",
            summary="Recall the memories that best answer a question",
            posted=True,
            fields=(
                "topic",
                "limit",
                "raw_limit",
                "include_raw",
                "include_metadata",
                "format",
                "budget",
                "kind",
                "tag",
                "under",
                "since",
                "until",
                "at",
                "prefer_kind",
                "prefer_tag",
                "require_high_relevance",
                "min_score",
                "min_importance",
                "about",
                "include_inactive",
                "backend",
                "recency_bias",
                "deadline",
                "explain",
                "include_untrusted",
                "no_usage",
            ),
        ),
        Http(
            path="/api/search",
            summary="Rank the memories under a heading",
            posted=True,
            fields=("topic", "under", "limit", "recency_bias"),
            renamed={"topic": "query"},
            defaults={"under": ""},
        ),
    ),
    tools=(
        ToolDeclaration(
            name="recall",
            required=("topic",),
            is_always_loaded=True,
            description=(
                "Find what the project's memory says about a question: decisions, rules, procedures, documents, commits. "
                "Use it before you plan or change code. Returns the passages that answer, best first, with ids to cite, or says that "
                "nothing is relevant. Ask in words, with the names of files, functions or errors."
            ),
            fields=("topic", "limit", "budget", "kind", "tag", "under"),
        ),
        ToolDeclaration(
            name="search",
            description=(
                "Rank the memories under a path by meaning and date, with the passages that match. Without a query: "
                "the newest first."
            ),
            fields=("topic", "under", "limit"),
            renamed={"topic": "query"},
            defaults={"under": ""},
        ),
    ),
    returns="Any",
)
def command(session: CommandContext, options: RecallOptions) -> int:
    """Print the memories that best answer a question, best first.

    Piped, the output is a fenced list for a language model; on a terminal, text to read. Without a topic, --kind lists the memories
    of that kind, and --under those below a path. What may well not answer is printed under "Weak evidence", in at most half of
    a budget; if nothing is relevant, the output says so. Negatives, constraints and procedures whose triggers match come
    first; with --from-diff or --changed, so do memories anchored in the changed files. Pinned memories come next if they match,
    in at most half of the places; pins that do not match follow under "Always", in addition to --limit.

    Without --space, the spaces `main`, `repo` and `journal` and the user-wide store are searched. --verify sends the question
    and the passages found to the language model, without secrets; passages of private spaces, such as `journal`, only if --space
    names the space, and messages of sessions only with --scope session.

    Example: memcli recall "how do we deploy?" --limit 5 | llm "write the runbook"

    Example: memcli recall "token lifetime" --under auth

    >>> memory.recall('which database?', limit=1)['sections'][0]['passage']['text']
    'We chose PostgreSQL over MySQL: we need JSONB.'
    >>> memory.recall('which database?', format='prompt').startswith('<memory-')
    True
    """
    from memcli.app.recall import recall
    from memcli.render import RENDERERS

    if options.format is not None:
        check_known("format", options.format, RENDERERS)
    # In a pipe, a language model mostly reads it.
    name = "json" if session.output.json else options.format or ("text" if is_terminal() else "prompt")
    if options.topic is not None and options.topics is not None:
        raise UsageError("a topic cannot be used with --topics", "use one of them")
    edits = _edits(options)
    topic = options.topic
    lists = bool(options.kind) or "under" in options.given
    if edits is None and options.topics is None and (topic is not None or not lists):
        topic = _topic(topic, may_be_empty=lists)
    workspace = session.open(backend=options.backend, rev=options.rev, model=options.model)
    if options.no_usage:
        workspace = workspace.copy_with(is_noted=False)
    # For people alone: a program would get it with every answer.
    if options.rev is None and name != "json" and sys.stderr.isatty():
        _note_missing(session, workspace)
    query = replace(_query(session, options, workspace.clock()), edits=edits)
    ask = partial(
        recall, workspace, spaces=workspace.store.spaces() if options.all_spaces else None,
        with_global=not options.no_global, verify=_verifier(workspace, options),
        with_talk=options.scope == "session" and options.rev is None,  # messages are in no commit
    )  # fmt: skip
    code = 0
    if options.topics is not None:
        _answer_each(session, ask, query, options.topics)
    else:
        render = RENDERERS[name]()
        if name == "text" and not options.verbose and is_terminal():
            from memcli.render.as_text import render as render_text

            render = partial(render_text, most_lines=_MOST_LINES)
        bundle = next(ask([replace(query, topic=topic or "")], render=render))
        if name == "json":
            from memcli.render.as_json import bundle_to_json

            session.output.json = True
            session.output.answer(bundle_to_json(bundle), "", on_one_line=bundle.query.budget is not None)
        else:
            session.output.page(render(bundle))
        is_failure = (options.fail_empty or options.fail_weak) and bundle.reason
        code = NotFoundError.exit_code if is_failure or (options.fail_weak and bundle.is_weak) else 0
    if options.rev is None:
        _count(session, workspace)
    return code


def _answer_each(session: CommandContext, ask: Ask, query: Query, topics: str) -> None:
    """Recalls the topic in each line of the file `topics`, and prints the bundles as lines of JSON."""
    from memcli.codec.canonical import encode_line
    from memcli.render.as_json import bundle_to_json

    text = read_text(None, topics)
    lines = (replace(query, topic=line) for line in (text.removesuffix("\n").split("\n") if text else ()))
    bundles = ask(lines, render=lambda one: encode_line(bundle_to_json(one)).decode())
    session.output.lines(map(bundle_to_json, bundles))


def _count(session: CommandContext, workspace: Workspace) -> None:
    """Counts a recall; after every 50th, starts `store maintain` in the background if it is due."""
    from memcli.store.trust import is_off

    # Not while the clock is frozen: the files that such a command leaves must not depend on when another process writes.
    if session.is_frozen or os.environ.get("MEMCLI_BACKGROUND") == "off" or is_off(workspace.root, os.environ):
        return

    def maintain() -> None:
        from memcli.cli.background import start
        from memcli.wiring import extra

        with suppress(MemcliError):  # the answer is printed: the recall must not fail now
            if extra("upkeep.maintain").is_due(workspace):
                start(["store", "maintain", "--background", f"--root={workspace.root}"])

    workspace.upkeep.count(_UPKEEP_EVERY, maintain)


def _verifier(workspace: Workspace, options: RecallOptions) -> Verify | None:
    """The check of passages by a language model, for --verify; None without it. Raises UsageError for an invalid model, and for
    --model without --verify."""
    if options.verify is None:
        # Set in the configuration, it does no harm without --verify: only the caller's own is a mistake.
        if "model" in options.given:
            raise UsageError("--model needs --verify", "add it, or leave the option out")
        return None
    from memcli.model.conversation import model_name
    from memcli.wiring import extra

    if workspace.model:
        model_name(workspace.model)
    verify: Verify = extra("advice.relevance").Verifier(workspace, options.verify, options.verify_timeout / 1000)
    return verify


def _note_missing(session: CommandContext, workspace: Workspace) -> None:
    """If this clone of a repository has no space `repo`, prints a message with the commands that build it."""
    from memcli.store.layout import find_work_tree

    over = workspace.over_repo()
    if over.is_space_named or over.has_space(over.space):
        return
    from memcli.wiring.sources import is_missing

    if find_work_tree(os.path.dirname(workspace.root), os.path.expanduser("~")) and is_missing(over):
        session.output.note(
            f"files and commits are not searched: `memcli ingest --git HEAD && memcli ingest .` builds space {over.space!r}, "
            "`memcli hook install` also keeps it up to date"
        )


def _query(session: CommandContext, options: RecallOptions, now: str) -> Query:
    """The query that the options describe, without its topic and edits. Raises UsageError."""
    given = {"since": options.since, "until": options.until, "at": options.at}
    times = {name: normalize_time(text) for name, text in given.items() if text is not None}
    return Query(
        topic="", now=now, limit=options.limit, raw_limit=options.raw_limit,
        include_raw=options.include_raw or options.raw_limit is not None, include_metadata=options.include_metadata,
        budget=options.budget, kinds=arguments.kinds(session, options.kind), tags=arguments.tags(options.tag),
        under=arguments.path(options.under, "--under"), scope=options.scope, since=times.get("since"),
        until=times.get("until"), at=times.get("at"), prefer_kinds=arguments.kinds(session, options.prefer_kind),
        prefer_tags=arguments.tags(options.prefer_tag, "--prefer-tag"),
        require_high_relevance=options.require_high_relevance, min_score=options.min_score,
        weights=_weights(options.weights), recency_bias=options.recency_bias,
        deadline=None if options.deadline is None else options.deadline / 1000, explain=options.explain,
        include_untrusted=options.include_untrusted, min_importance=options.min_importance,
        include_inactive=options.include_inactive, about=options.about, without_kinds=_left_out(options),
        lists_all="under" in options.given,
    )  # fmt: skip


def _left_out(options: RecallOptions) -> tuple[str, ...]:
    """The kinds of those parts of sessions that --include and --exclude leave out; by default only chunks. Raises UsageError."""
    wanted = {"turns", "episodes"}
    for name, given in (("--include", options.include), ("--exclude", options.exclude)):
        for part in (parts := " ".join(given).replace(",", " ").split()):
            if part not in _PARTS:
                raise UsageError(f"{name} does not know {part!r}", f"use {', '.join(_PARTS)}")
        if name[2:] in options.given and parts and options.scope != "session":
            raise UsageError(f"{name} needs --scope session", "it chooses among the parts of sessions")
        wanted = wanted | {*parts} if name == "--include" else wanted - {*parts}
    if options.scope != "session":
        return ()
    return tuple(kind for part, kind in _PARTS.items() if part not in wanted and kind not in options.kind)


def _edits(options: RecallOptions) -> tuple[FileEdit, ...] | None:
    """The edits of --from-diff or --changed, which replace the topic; None without these options. Raises UsageError, and what
    `read_edits` raises."""
    if options.from_diff is None and options.changed is None:
        return None
    topic = options.topic if options.topics is None else options.topics
    if topic is not None or (options.from_diff is not None and options.changed is not None):
        raise UsageError("a topic, --from-diff and --changed cannot be combined", "use one of them")
    from memcli.cli.arguments import read_edits

    return tuple(read_edits(diff=options.from_diff, changed=options.changed))


def _topic(topic: str | None, may_be_empty: bool) -> str:
    """The topic, from the argument or standard input. Raises UsageError if there is none, or it is empty."""
    if topic is None and not has_input():
        raise UsageError("no topic", _ASK)
    text = read_text(None, "-") if topic in (None, "-") else decode(os.fsencode(topic or ""), "the topic")
    if not text.strip() and not may_be_empty:
        raise UsageError("the topic is empty", _ASK)
    return text


def _weights(text: str | None) -> dict[str, float]:
    """Parses `semantic=.4,keyword=.3`. Raises UsageError if a weight is not a number."""
    found = {}
    for part in (text or "").split(",") if text else []:
        name, _, number = part.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise UsageError(
                f"--weights {part!r} is not name=number", "write --weights semantic=.6,keyword=.4"
            ) from None
    return found
