"""`memcli remember`"""

from __future__ import annotations

from memcli.cli.options import MEMORY, Options, argument, flag, option
from memcli.cli.verb import RECALL, CommandContext, ToolDeclaration, verb
from memcli.model.space import WRITER


class RememberOptions(Options):
    """The options of `memcli remember`."""

    text: str | None = argument("[TEXT]", "The text; without it, or with `-`, read standard input.")
    file: str | None = option("--file", "-f", metavar="FILE", help="Read the text from FILE.")
    object: str | None = option(metavar="JSON", help="A complete memory as JSON; `-` reads standard input.")
    batch: str | None = option(metavar="FILE", help="Store one JSON object per line; `-` reads standard input.")
    keep_going: bool = flag(help="With --batch: store the valid lines and report the others.")
    kind: str | None = option("--kind", "-k", metavar="KIND", help="decision, fact, procedure, negative, ...")
    kind_new: bool = flag(help="Store a kind that resembles a known one as it is given.")
    path: str | None = option("--path", "-p", metavar="PATH", help="project/module/topic, unique in its space.")
    path_hint: str | None = option(metavar="PATH", help="Suggested location.")
    project: str | None = option(metavar="NAME", help="The first segment of the path.")
    tag: list[str] = option("--tag", "-t", metavar="TAG", help="Add this tag. Repeatable.", many=True)
    pin: bool = flag(help="Include the memory in every recall.")
    relevance: str | None = option(metavar="high|medium|low", help="Relevance; high ranks first.")
    summary_micro: str | None = option(metavar="TEXT", help="A summary of one or two sentences.")
    summary_short: str | None = option(metavar="TEXT", help="A summary of one paragraph.")
    summary_long: str | None = option(metavar="TEXT", help="An abstract.")
    importance: float | None = option(metavar="0..1", help="Importance [default: by kind].", type=float)
    confidence: float | None = option(metavar="0..1", help="Confidence that the memory is true.", type=float)
    trust: float | None = option(metavar="0..1", help="Trust in the source.", type=float)
    scope: str | None = option(
        metavar="project|global|session",
        help="global uses the user-wide store; session lasts as long as the session [default: project].",
    )
    created_at: str | None = option(metavar="TIME", help="The time of creation [default: now].")
    valid_from: str | None = option(metavar="TIME", help="Not valid before this time.")
    valid_until: str | None = option(metavar="TIME", help="Not valid after this time.")
    season: str | None = option(metavar="SEASON", help="Rank higher in this season: 12-01..12-31, or a name.")
    source: str | None = option(metavar="SOURCE", help="user_stated, observed, inferred, ...")
    reason: str | None = option(metavar="TEXT", help="The reason for storing the memory.")
    commit: str | None = option(metavar="REV", help="The commit that the memory is about.")
    trigger: list[str] = option(
        metavar="TRIGGER",
        help="An RE2 pattern, symbol:NAME or path:GLOB; see `memcli guard --help`. Repeatable.",
        many=True,
    )
    enforce: bool = flag(help="Make `memcli guard` fail when a trigger matches.")
    link: list[str] = option(
        metavar="RELATION:ID", help="Link to a memory, such as relates_to:ID or depends_on:PATH. Repeatable.", many=True
    )
    anchor: list[str] = option(
        metavar="FILE",
        help="The code that the memory describes: FILE, FILE:10-42 or FILE::symbol. Repeatable.",
        many=True,
    )
    speaker: str | None = option(metavar="NAME", help="The person who said it.")
    group: str | None = option(
        metavar="NAME", help="Group memories recorded together, such as in one session or meeting."
    )
    context: int | None = option(
        metavar="[N]",
        help="Keep what was said about it: up to N tokens of the session, or of standard input [N: 1000].",
        type=int,
        low=1,
        high=100_000,
        bare="1000",
    )
    session: str | None = option(
        metavar="SESSION", help="The session of --context and of --scope session [default: the current one]."
    )
    meta: list[str] = option(metavar="NAME=VALUE", help="Set a metadata field. Repeatable.", many=True)
    set: list[str] = option(metavar="FIELD=JSON", help="Set any field. Repeatable.", many=True)
    id: str | None = option(metavar="ID", help="Use this id [default: derived from the path].")
    supersedes: str | None = option(
        metavar="ID",
        kind=MEMORY,
        help="Replace this memory and take over its path, kind, tags and pin unless the text was stored before.",
    )
    no_check: bool = flag(help="Do not look for memories that this one contradicts or repeats.")
    keep_both: bool = flag(help="Accept a contradiction; memcli does not report it again.")
    merge: bool = flag(help="Strengthen the memory that this one repeats instead of storing another.")
    semantic: str | None = option(
        metavar="local|llm|off", help="How to fill missing fields; llm asks a language model [default: local]."
    )
    model: str | None = option(metavar="PROVIDER:MODEL", help="The language model of --semantic llm.")
    temperature: float | None = option(metavar="0..2", help="Its temperature [default: 0].", type=float, low=0, high=2)
    max_tokens: int | None = option(
        metavar="TOKENS", help="The longest answer of the model [default: 1200].", type=int, low=64, high=100_000
    )
    fallback: str | None = option(
        metavar="local", help="What to use when the model fails [default: nothing is stored]."
    )
    embed: bool = flag(help="Compute vectors now instead of at the next recall.")
    propose: bool = flag(help="Put the memory into the inbox for review.")
    yes: bool = flag(help="Store the memory even if the policy requires a review.")


@verb(
    RememberOptions,
    section=RECALL,
    often=("kind", "path", "tag", "file", "pin", "trigger", "enforce", "anchor", "supersedes", "propose"),
    line="Store a decision, warning, procedure or note",
    role=WRITER,
    tools=(
        ToolDeclaration(
            name="remember",
            is_idempotent=False,  # storing the same text again strengthens the memory
            description=(
                "Store one fact that the code does not say: a decision with its reason, a rule, a procedure, a gotcha. "
                "Full sentences. A path that exists is updated; the same text twice is stored once. Secrets are redacted. "
                "It may wait for a person's review."
            ),
            fields=("text", "kind", "path", "tag", "anchor", "trigger", "supersedes", "reason", "context", "session"),
            content="Any JSON value to keep: goals, a ledger. Instead of text, or beside it.",
            reads_only=False,
        ),
    ),
)
def command(session: CommandContext, options: RememberOptions) -> int:
    """Store a memory and print its id.

    The text is an argument, a file or standard input. Missing fields (path, kind, tags, summaries) are derived from the text.
    Storing to an existing path updates that memory; storing the same text again strengthens it. Memories that it contradicts
    or repeats are named, the former linked both ways, and up to three related ones; by meaning too with --embed.
    A season is a period (12-01..12-31, last 3 days of month), or a name that policy.seasons gives one.

    Example: memcli remember "Never force-push main" --kind negative --pin

    >>> memory.remember('Tokens live for 15 minutes.', path='auth/tokens', tag='auth')['status']
    'created'
    >>> memory.remember(batch=[{'raw': 'We use uv.'}, {'raw': 'We use ruff.'}])['created']
    2
    """
    from memcli.cli.submit import prepare_one, report_one, store_batch, submit

    if options.batch is not None:
        return store_batch(session, options)
    workspace, candidate, resolution, supersedes = prepare_one(session, options)
    stored = submit(workspace, [candidate], supersedes, propose=options.propose, yes=options.yes, resolution=resolution)
    report_one(session, options, workspace, candidate, resolution, stored)
    return 0
