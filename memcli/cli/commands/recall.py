"""`memcli recall`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from memcli.app.recall import recall
from memcli.cli import filters
from memcli.cli.input import decode, read_text
from memcli.cli.options import Options, argument, flag, kinds_option, option, rev_option, tags_option, under_option
from memcli.cli.output import is_terminal
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.clock import normalize_time
from memcli.codec.canonical import encode_line
from memcli.errors import NotFoundError, UsageError
from memcli.model.edits import FileEdit
from memcli.model.recall import DEFAULT_LIMIT, Bundle, Query
from memcli.record import replace
from memcli.render import RENDERERS
from memcli.render.as_json import bundle_to_json

_ASK = 'ask a question: memcli recall "which database?", or list a kind with --kind'
_MAX_LIMIT = 10_000


class RecallOptions(Options):
    """What `memcli recall` takes."""

    topic: str | None = argument("[TOPIC]", "The question; `-` reads standard input.")
    topics: str | None = option(metavar="FILE", help="One question a line; one JSON bundle a line comes out.")
    limit: int = option(
        "--limit",
        "-l",
        metavar="N",
        help="At most N memories.",
        type=int,
        default=DEFAULT_LIMIT,
        low=1,
        high=_MAX_LIMIT,
    )
    raw_limit: int | None = option(
        metavar="N", help="The whole text of at most N of them.", type=int, low=0, high=_MAX_LIMIT
    )
    include_raw: bool = flag(help="The whole text of each.")
    include_metadata: bool = flag(help="The metadata of each.")
    format: str | None = option(metavar="FORMAT", help="json, md, prompt [piped] or table [terminal].")
    budget: int | None = option(
        metavar="TOKENS", help="Never print more; say as much of what matters as fits.", type=int, low=1, high=10**7
    )
    kind: list[str] = kinds_option()
    tag: list[str] = tags_option()
    under: str = under_option()
    scope: str | None = option(metavar="project|global|session")
    since: str | None = option(metavar="TIME", help="Only made at or after TIME.")
    until: str | None = option(metavar="TIME", help="Only made before TIME.")
    rev: str | None = rev_option()
    at: str | None = option(metavar="TIME", help="What was valid at TIME.")
    prefer_kind: list[str] = option(metavar="KIND", help="Rank this kind higher; may be repeated.", many=True)
    prefer_tag: list[str] = option(metavar="TAG", help="Rank this tag higher; may be repeated.", many=True)
    require_high_relevance: bool = flag(help="Only what is marked high.")
    min_score: float | None = option(metavar="X", help="Only what scores at least X.", type=float)
    backend: str | None = option(metavar="NAME", help="fusion [default] or basic.")
    weights: str | None = option(metavar="NAME=X", help="What counts how much: semantic, keyword, recency, importance.")
    recency_bias: float | None = option(
        metavar="0..1", help="How much the date counts beside everything else.", type=float, low=0, high=1
    )
    deadline: int | None = option(
        metavar="MS", help="Answer by words alone when meaning takes longer than this.", type=int, low=0, high=10**7
    )
    all_spaces: bool = flag(help="Ask every space of the store.")
    no_global: bool = flag(help="Leave the user-wide store out.")
    explain: bool = flag(help="Say what each score is made of.")
    include_untrusted: bool = flag(help="Also memories that carry instructions to an agent.")
    fail_empty: bool = flag(help="Exit with 3 when nothing matches.")
    from_diff: str | None = option(metavar="FILE", help="Ask with a diff; `-` reads standard input.")
    changed: str | None = option(metavar="REV", help="Ask with what was committed and staged since REV.")


@verb(RecallOptions)
def command(session: Session, options: RecallOptions) -> int:
    """Answer a question with the memories that matter, best first.

    Piped, it prints a fenced list for a language model; on a terminal, a table. Without a topic,
    --kind lists what there is of that kind. Nothing relevant is an answer too: it says so.
    Negatives, constraints and procedures whose triggers match lead; of a change also what is
    anchored in its files.

    Example: memcli recall "how do we deploy?" --limit 5 | llm "write the runbook"
    """
    name = _format(session, options.format)
    if options.topic is not None and options.topics is not None:
        raise UsageError("both a topic and --topics are given", "give one of them")
    edits = _edits(options)
    topic = options.topic
    if edits is None and options.topics is None and (topic is not None or not options.kind):
        topic = _asked(topic, may_be_empty=bool(options.kind))
    workspace = session.open(backend=options.backend, rev=options.rev)
    query = replace(_query(session, options, workspace.clock()), edits=edits)
    spaces = workspace.store.spaces() if options.all_spaces else None
    with_global = not options.no_global
    if options.topics is not None:
        lines = (replace(query, topic=line) for line in _lines(options.topics))
        bundles = recall(workspace, lines, spaces=spaces, with_global=with_global, render=_line)
        session.output.lines(bundle_to_json(bundle) for bundle in bundles)
        return 0
    render = RENDERERS[name]()
    asked = [replace(query, topic=topic or "")]
    bundle = next(iter(recall(workspace, asked, spaces=spaces, with_global=with_global, render=render)))
    session.output.write(render(bundle))
    return NotFoundError.exit_code if options.fail_empty and bundle.reason else 0


def _query(session: Session, options: RecallOptions, now: str) -> Query:
    """What is asked for, but for the topic and the change. Raises UsageError."""
    return Query(
        topic="", now=now, limit=options.limit, raw_limit=options.raw_limit,
        include_raw=options.include_raw or options.raw_limit is not None, include_metadata=options.include_metadata,
        budget=options.budget, kinds=filters.kinds(session, options.kind), tags=filters.tags(options.tag),
        under=filters.path(options.under, "--under"), scope=options.scope, since=_time(options.since),
        until=_time(options.until), at=_time(options.at), prefer_kinds=filters.kinds(session, options.prefer_kind),
        prefer_tags=filters.tags(options.prefer_tag, "--prefer-tag"),
        require_high_relevance=options.require_high_relevance, min_score=options.min_score,
        weights=_weights(options.weights), recency_bias=options.recency_bias,
        deadline=None if options.deadline is None else options.deadline / 1000, explain=options.explain,
        include_untrusted=options.include_untrusted,
    )  # fmt: skip


def _edits(options: RecallOptions) -> tuple[FileEdit, ...] | None:
    """The change that is asked about, None where none is. Raises UsageError, and what reading it raises."""
    if options.from_diff is None and options.changed is None:
        return None
    topic = options.topic if options.topics is None else options.topics
    if topic is not None or (options.from_diff is not None and options.changed is not None):
        raise UsageError("more than one of a topic, --from-diff and --changed is given", "give one of them")
    from memcli.cli.input import read_edits

    return tuple(read_edits(diff=options.from_diff, changed=options.changed))


def _asked(topic: str | None, may_be_empty: bool) -> str:
    """The topic that was given, or piped in. Raises UsageError when there is none."""
    if topic is None and sys.stdin.isatty():
        raise UsageError("no topic", _ASK)
    asked = read_text(None, "-") if topic in (None, "-") else decode(os.fsencode(topic or ""), "the topic")
    if not asked.replace("\0", " ").strip() and not may_be_empty:
        raise UsageError("the topic is empty", _ASK)
    return asked


def _line(bundle: Bundle) -> str:
    return encode_line(bundle_to_json(bundle)).decode()


def _time(text: str | None) -> str | None:
    return None if text is None else normalize_time(text)


def _weights(text: str | None) -> dict[str, float]:
    """`semantic=.4,keyword=.3` as a mapping. Raises UsageError for what is no number."""
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


def _format(session: Session, name: str | None) -> str:
    if name is not None and name not in RENDERERS:
        raise UsageError(f"no format {name!r}", f"there are {', '.join(RENDERERS)}")
    return "json" if session.output.json else name or ("table" if is_terminal() else "prompt")


def _lines(source: str) -> Iterator[str]:
    text = read_text(None, source)
    yield from text.removesuffix("\n").split("\n") if text else ()
