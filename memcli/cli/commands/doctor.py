"""`memcli doctor`"""

from __future__ import annotations

import os

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session


@verb
def command(session: Session) -> None:
    """Check the installation, the model and the store, with a fix for each problem."""
    from memcli.cli.checks import run_checks
    from memcli.errors import StoreError

    checks = run_checks(session.options, os.environ)
    lines = [
        f"{'ok  ' if c.ok else 'FAIL'}  {c.name:<12}  {c.found}{'' if c.ok or not c.fix else f' ({c.fix})'}"
        for c in checks
    ]
    data = [{"name": c.name, "ok": c.ok, "found": c.found, "fix": "" if c.ok else c.fix} for c in checks]
    session.output.answer(data, "\n".join(lines))
    if not all(c.ok for c in checks):
        raise typer.Exit(StoreError.exit_code)
