"""`memcli feedback`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.arguments import asks_model
from memcli.cli.options import REQUIRED, Options, argument, flag, normalized, option
from memcli.cli.verb import RECALL, CommandContext, Group, Http, ToolDeclaration, verb
from memcli.errors import UsageError
from memcli.model.space import READER, WRITER
from memcli.model.usage import JUDGEMENTS

if TYPE_CHECKING:
    from memcli.model.usage import Gap


class FeedbackOptions(Options):
    """The options of `memcli feedback`."""

    refs: list[str] = argument(
        "ID|PATH|NUMBER...",
        "Memories, by id, path, or number in the last recall.",
        many=True,
        default=REQUIRED,
        read=normalized,
    )
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
def judge(session: CommandContext, options: FeedbackOptions) -> None:
    """Say whether memories that were recalled helped.

    Feedback is kept on this machine until `memcli store maintain` changes confidence and strength by it. Numbers refer to what
    was printed or injected last; in the session that MEMCLI_SESSION names, if it is set.

    Example: memcli feedback 2 --helpful

    Example: memcli feedback auth/tokens --unhelpful --reason "tokens are opaque now"

    >>> memory.feedback('decisions/database', helpful=True)['feedback']
    'helpful'
    """
    from memcli.extras.feedback.judging import feedback
    from memcli.render.clean import clean_line

    chosen = [act for act in JUDGEMENTS if getattr(options, act)]
    if len(chosen) != 1:
        raise UsageError("one of --helpful, --unhelpful and --rejected is needed", "memcli feedback 2 --helpful")
    judged, missing = feedback(session.open(), options.refs, chosen[0], options.reason)
    memories = [{"id": one.memory.id, "path": one.memory.path, "space": one.space} for one in judged]
    data = {"feedback": chosen[0], "memories": memories}
    lines = [clean_line(f"{chosen[0]} {one.memory.id} {one.memory.path}") for one in judged]
    session.output.confirm(data, "\n".join(lines))
    # Last, so that feedback on the memories that were found is stored and printed all the same.
    if missing is not None:
        raise missing


command = Group(
    "feedback",
    "Say whether recalled memories helped; list what nothing answers.",
    default=judge,
    section=RECALL,
    line="Say whether recalled memories helped; list what nothing answers",
)


class GapsOptions(Options):
    """The options of `memcli feedback gaps`."""

    refs: list[str] = argument(
        "[TOPIC|NUMBER...]", "With --close: questions, by text or number in the list.", many=True
    )
    check: bool = flag(help="Ask all questions again and remove those that are answered now.")
    close: bool = flag(help="Remove these questions.")
    clear: bool = flag(help="Remove all questions.")
    semantic: str | None = option(
        metavar="local|llm", help="How similar questions are put together and named; llm asks a language model."
    )
    model: str | None = option(metavar="PROVIDER:MODEL", help="The language model of --semantic llm.")


@command.verb(
    GapsOptions,
    role=READER,
    escalates={"check": WRITER, "close": WRITER, "clear": WRITER},
    http=(Http(path="/api/gaps", summary="List questions that nothing answers"),),
)
def gaps(session: CommandContext, options: GapsOptions) -> None:
    """List the questions that recall could not answer, the most frequent first, so that someone can write them down.

    They are kept, without secrets and on this machine only, if the policy asks for it:
    `memcli space policy main --set gaps=true`.

    Similar ones stand together under a name that is made of their words, or with --semantic llm by a language model. It gets
    the first 60, and is asked once for the same questions.

    Example: memcli feedback gaps --check

    >>> memory.feedback_gaps()
    {'gaps': [], 'topics': []}
    """
    from memcli.app.usage import drop_gaps, keeps_gaps, list_gaps
    from memcli.extras.feedback.gaps import close, gap_rows, review, topics_json, topics_of
    from memcli.record import as_dict

    if options.check + options.close + options.clear > 1 or bool(options.refs) != options.close:
        raise UsageError(
            "--close takes questions, --check and --clear do not", "use one of them: memcli feedback gaps --close 2"
        )
    workspace = session.open(semantic=options.semantic, model=options.model)
    asks = asks_model(workspace, options)
    closed: Sequence[Gap] = ()
    if options.close:
        closed = close(workspace, options.refs)
    elif options.clear:
        closed = list_gaps(workspace)
        drop_gaps(workspace, closed)
    elif options.check:
        closed, _ = review(workspace)
    if options.close or options.clear:
        session.output.confirm({"closed": [as_dict(gap) for gap in closed]}, f"{len(closed)} closed")
        return
    found = list_gaps(workspace)
    topics = topics_of(workspace, found, asks=asks)
    data = {
        "gaps": [as_dict(gap) for gap in found],
        "topics": topics_json(found, topics),
        **({"filled": [as_dict(g) for g in closed]} if options.check else {}),
    }
    session.output.answer(data, gap_rows(found, topics))
    if options.check:
        session.output.note(f"{len(closed)} answered now")
    if not found and not keeps_gaps(workspace, workspace.space):
        session.output.note(
            f"questions without an answer are not kept: `memcli space policy {workspace.space} --set gaps=true` keeps them from now on"
        )
