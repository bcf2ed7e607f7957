"""`memcli diff`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session
from memcli.errors import UsageError


@verb
def command(
    session: Session,
    rev: Annotated[str, typer.Argument(metavar="[REV]", help="The commit to compare with.")] = "HEAD",
    rev2: Annotated[str | None, typer.Argument(metavar="[REV]", help="A later commit, in the place of now.")] = None,
    stat: Annotated[bool, typer.Option("--stat", help="Figures only.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when something changed.")] = False,
) -> None:
    """Show what became of memories since a commit [HEAD], or between two: in all spaces, or in that of --space.

    Words that went stand in [-brackets-], words that came in {+braces+}.

    Example: memcli diff main..HEAD --stat
    """
    from memcli.app.diff import diff, policies, shown
    from memcli.render.changes import diff_json, diff_text, stat_text

    workspace = session.open()
    if "..." in rev:
        raise UsageError("three dots are not understood", "write two: REV..REV")
    first, dots, last = rev.partition("..") if rev2 is None else (rev, "", rev2)
    after = session.open(rev=last or "HEAD").store if last or dots else workspace.store
    named = session.options["space"]
    before = session.open(rev=first or "HEAD").store
    changes = shown(
        diff(before, after, None if named is None else [named]), workspace.redactor, policies(before, after)
    )
    session.output.answer(diff_json(changes), stat_text(changes) if stat else diff_text(changes))
    if exit_code and changes:
        raise typer.Exit(1)
