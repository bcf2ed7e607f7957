"""`memcli ingest`"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from memcli.cli.options import DryRun, verb
from memcli.cli.output import redacted_told
from memcli.cli.session import Session
from memcli.errors import UsageError


@verb
def command(
    session: Session,
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]", help="Files and folders.")] = None,
    git: Annotated[
        str | None, typer.Option("--git", metavar="RANGE", help="Commits: HEAD~5.., v1..v2, HEAD for all.")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="REV", help="Commits after REV.")] = None,
    propose: Annotated[bool, typer.Option("--propose", help="Into the inbox, for a person to accept.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Remember files, one memory each, or commits, one memory for each file and commit.

    What .gitignore, .secretsignore and .env* cover, and what is binary, generated or huge, is left out and
    counted. The same again changes nothing.

    Example: memcli ingest --git HEAD~20.. && memcli recall "what changed in the parser?"
    """
    from memcli.app.ingest import ingest
    from memcli.wiring.sources import commit_source, file_source

    if sum(map(bool, (files, git, since))) != 1:
        raise UsageError(
            "give files, --git RANGE or --since REV", "one of them: memcli ingest docs/, memcli ingest --git HEAD~5.."
        )
    workspace = session.open(create=not dry_run)
    source = file_source(workspace, files) if files else commit_source(git or f"{since}..HEAD")
    done = ingest(workspace, source, dry_run, propose or bool(os.environ.get("MEMCLI_PROPOSE")))
    text = _told(done.created, done.updated, done.deduplicated)
    if done.proposed:
        text = f"{done.proposed} proposed, {text}; `memcli inbox` shows what waits"
    if dry_run:
        text = "\n".join([*done.paths, f"{len(done.paths)} would be remembered"])
    left = ", ".join(f"{n} {reason}" for reason, n in sorted(done.skipped.items()) if n)
    session.output.confirm(
        {**done.to_json(), "dry_run": dry_run},
        f"{text}{f'; left out: {left}' if left else ''}{redacted_told(done.redactions)}",
    )


def _told(created: int, updated: int, same: int) -> str:
    return f"{created} created, {updated} updated, {same} unchanged"
