"""`memcli gaps`"""

from __future__ import annotations

from memcli.cli.options import Options, argument, flag
from memcli.cli.verb import Session, verb
from memcli.errors import UsageError


class GapsOptions(Options):
    """What `memcli gaps` takes."""

    refs: list[str] = argument(
        "[TOPIC|NUMBER...]", "With --close: questions, by text or number in the list.", many=True
    )
    check: bool = flag(help="Ask all questions again and remove those that are answered now.")
    close: bool = flag(help="Remove these questions.")
    clear: bool = flag(help="Remove all questions.")


@verb(GapsOptions)
def command(session: Session, options: GapsOptions) -> None:
    """List the questions that recall could not answer, the most frequent first, so that someone can write them down.

    They are kept, without secrets and on this machine only, if the policy asks for it:
    `memcli space policy main --set gaps=true`.

    Example: memcli gaps --check
    """
    from memcli.app import gaps as app
    from memcli.record import as_dict
    from memcli.render.gaps import gap_rows

    if options.check + options.close + options.clear > 1 or bool(options.refs) != options.close:
        raise UsageError(
            "--close takes questions, --check and --clear do not", "use one of them: memcli gaps --close 2"
        )
    workspace = session.open()
    if options.close:
        closed = app.close(workspace, options.refs)
    elif options.clear:
        closed = app.list_gaps(workspace)
        workspace.gaps.drop(closed)
    elif options.check:
        closed = list(app.review(workspace).filled)
    else:
        closed = []
    if options.close or options.clear:
        session.output.confirm({"closed": [as_dict(gap) for gap in closed]}, f"{len(closed)} closed")
        return
    gaps = app.list_gaps(workspace)
    data = {
        "gaps": [as_dict(gap) for gap in gaps],
        **({"filled": [as_dict(g) for g in closed]} if options.check else {}),
    }
    session.output.answer(data, gap_rows(gaps))
    if options.check:
        session.output.note(f"{len(closed)} answered now")
    if not gaps and not app.is_kept(workspace, workspace.space):
        session.output.note(
            f"none are kept: `memcli space policy {workspace.space} --set gaps=true` keeps them from now on"
        )
