"""`memcli gc`"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from memcli.cli.options import DryRun, verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    name: Annotated[str | None, typer.Argument(metavar="[SPACE]", help="The space [default: the current one].")] = None,
    ttl_days: Annotated[
        float | None, typer.Option(min=0, metavar="N", help="Take N for the policy's ttl_days, this once.")
    ] = None,
    dry_run: DryRun = False,
    trust_clock: Annotated[
        bool, typer.Option("--trust-clock", help="Go on although the clock lies behind or far ahead of the space.")
    ] = False,
) -> None:
    """Delete memories that were not updated for longer than the space's policy lets them live. Pinned ones stay.

    What is deleted stays in the trash for the policy's grace_days, and `memcli restore` brings it back.
    """
    from memcli.app.gc import collect
    from memcli.app.space import check_exists
    from memcli.cli.collecting import told, told_json

    workspace = session.open()
    if name is not None:
        check_exists(workspace, name)
        workspace = replace(workspace, space=name)
    done = collect(workspace, ttl_days, dry_run, trust_clock)
    session.output.confirm(told_json(done, workspace.space, dry_run), told(done, workspace.space, dry_run))
