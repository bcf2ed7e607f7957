"""`memcli feedback`"""

from __future__ import annotations

from memcli.cli.options import Options, flag, option, refs_argument
from memcli.cli.verb import CommandContext, Http, ToolDeclaration, verb
from memcli.errors import UsageError
from memcli.model.roles import WRITER
from memcli.model.usage import JUDGEMENTS


class FeedbackOptions(Options):
    """What `memcli feedback` takes."""

    refs: list[str] = refs_argument("ID|PATH|NUMBER...", "Memories, by id, path, or number in the last recall.")
    helpful: bool = flag(help="They helped: more confidence and strength.")
    unhelpful: bool = flag(help="They were wrong or misleading: less confidence.")
    rejected: bool = flag(help="They were shown, but do not answer: slightly less confidence.")
    reason: str = option(metavar="TEXT", help="The reason.", default="")


@verb(
    FeedbackOptions,
    role=WRITER,
    http=(
        Http(
            method="POST",
            path="/api/feedback",
            summary="Say whether recalled memories helped",
            fields=("refs", "helpful", "unhelpful", "rejected", "reason"),
        ),
    ),
    tools=(
        ToolDeclaration(
            name="feedback",
            is_idempotent=False,
            description=(
                "Say whether memories that recall showed helped: helpful, unhelpful (wrong or misleading) or rejected "
                "(shown, but no answer). refs are ids, paths, or numbers in the last answer. It makes later answers better."
            ),
            fields=("refs", "helpful", "unhelpful", "rejected", "reason"),
            reads_only=False,
        ),
    ),
)
def command(session: CommandContext, options: FeedbackOptions) -> None:
    """Say whether memories that were recalled helped.

    Feedback is kept on this machine until `memcli store maintain` changes confidence and strength by it. Numbers refer to what
    was printed or injected last; in the session that MEMCLI_SESSION names, if it is set.

    Example: memcli feedback 2 --helpful

    Example: memcli feedback auth/tokens --unhelpful --reason "tokens are opaque now"

    >>> memory.feedback('decisions/database', helpful=True)['feedback']
    'helpful'
    """
    from memcli.app.feedback import feedback
    from memcli.render.clean import clean_line

    chosen = [act for act in JUDGEMENTS if getattr(options, act)]
    if len(chosen) != 1:
        raise UsageError("one of --helpful, --unhelpful and --rejected is needed", "memcli feedback 2 --helpful")
    judged, missing = feedback(session.open(), options.refs, chosen[0], options.reason)
    told = {"feedback": chosen[0], "memories": [one.to_json() for one in judged]}
    lines = [clean_line(f"{chosen[0]} {one.memory.id} {one.memory.path}") for one in judged]
    session.output.confirm(told, "\n".join(lines))
    if missing is not None:
        raise missing
