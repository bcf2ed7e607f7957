"""`memcli ingest`"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from memcli.cli.ingesting import ingest_source, source_of, to_ingest
from memcli.cli.options import DryRun, verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]", help="Files and folders.")] = None,
    git: Annotated[
        str | None, typer.Option("--git", metavar="RANGE", help="Commits: HEAD~5.., v1..v2, HEAD for all.")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="REV", help="Commits after REV.")] = None,
    staged: Annotated[bool, typer.Option("--staged", help="What is staged and not yet committed.")] = False,
    stdin0: Annotated[bool, typer.Option("--stdin0", help="Files named on standard input, each ended by NUL.")] = False,
    propose: Annotated[bool, typer.Option("--propose", help="Into the inbox, for a person to accept.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Remember files, by section and definition, or commits, by file.

    Sections are anchored to their lines: recall tells when a file has gone on without them. A file ingested again updates
    its memories, and those of sections that it no longer has are deactivated. What .gitignore, .secretsignore and .env*
    cover, and what is binary, generated or huge, is left out and counted. The same again changes nothing.

    Example: memcli ingest --git HEAD~20.. && memcli recall "what changed in the parser?"
    """
    with to_ingest(session, dry_run=dry_run) as workspace:
        source = source_of(workspace, files or [], git, since, is_staged=staged, from_stdin=stdin0)
        code = ingest_source(session, workspace, source, dry_run, propose or bool(os.environ.get("MEMCLI_PROPOSE")))
    if code:
        raise typer.Exit(code)
