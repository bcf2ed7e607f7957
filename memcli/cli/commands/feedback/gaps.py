"""`memcli feedback gaps`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.options import Options, argument, flag, option
from memcli.cli.verb import CommandContext, Http, verb
from memcli.errors import UsageError
from memcli.model.roles import READER, WRITER

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.model.metrics import Gap


class GapsOptions(Options):
    """What `memcli feedback gaps` takes."""

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


@verb(
    GapsOptions,
    role=READER,
    escalates={"check": WRITER, "close": WRITER, "clear": WRITER},
    http=(Http(path="/api/gaps", summary="List questions that nothing answers"),),
)
def command(session: CommandContext, options: GapsOptions) -> None:
    """List the questions that recall could not answer, the most frequent first, so that someone can write them down.

    They are kept, without secrets and on this machine only, if the policy asks for it:
    `memcli space policy main --set gaps=true`.

    Similar ones stand together under a name that is made of their words, or with --semantic llm by a language model. It gets
    the first 60, and is asked once for the same questions.

    Example: memcli feedback gaps --check

    >>> memory.feedback_gaps()
    {'gaps': [], 'topics': []}
    """
    from memcli.app import feedback as app
    from memcli.app.feedback import topics_of
    from memcli.record import as_dict
    from memcli.render.reports import gap_rows, topics_json

    if options.check + options.close + options.clear > 1 or bool(options.refs) != options.close:
        raise UsageError(
            "--close takes questions, --check and --clear do not", "use one of them: memcli feedback gaps --close 2"
        )
    workspace = session.open(semantic=options.semantic, model=options.model)
    asks = _asks(workspace, options)
    closed = _close(workspace, options)
    if options.close or options.clear:
        session.output.confirm({"closed": [as_dict(gap) for gap in closed]}, f"{len(closed)} closed")
        return
    gaps = app.list_gaps(workspace)
    topics = topics_of(workspace, gaps, asks=asks)
    data = {
        "gaps": [as_dict(gap) for gap in gaps],
        "topics": topics_json(gaps, topics),
        **({"filled": [as_dict(g) for g in closed]} if options.check else {}),
    }
    session.output.answer(data, gap_rows(gaps, topics))
    if options.check:
        session.output.note(f"{len(closed)} answered now")
    if not gaps and not app.is_kept(workspace, workspace.space):
        session.output.note(
            f"questions without an answer are not kept: `memcli space policy {workspace.space} --set gaps=true` keeps them from now on"
        )


def _asks(workspace: Workspace, options: GapsOptions) -> bool:
    """Whether a language model names the topics. Raises UsageError for options that name none, or that nothing uses."""
    from memcli.model.conversation import model_name
    from memcli.summarize import LLM

    if workspace.semantic != LLM:
        if options.model is not None:
            raise UsageError("--model needs --semantic llm", "add it, or leave the option out")
        return False
    if workspace.model:
        model_name(workspace.model)
    return True


def _close(workspace: Workspace, options: GapsOptions) -> Sequence[Gap]:
    """Removes the questions that the options say; returns them."""
    from memcli.app import feedback as app

    if options.close:
        return app.close(workspace, options.refs)
    if options.clear:
        closed = app.list_gaps(workspace)
        app.drop(workspace, closed)
        return closed
    return app.review(workspace).filled if options.check else []
