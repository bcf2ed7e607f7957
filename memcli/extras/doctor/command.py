"""`memcli doctor`"""

from __future__ import annotations

import os

from memcli.cli.verb import START, CommandContext, verb


@verb(section=START, line="Check the installation, the model and the store", returns="Objects")
def command(session: CommandContext) -> int:
    """Check the installation, the model and the store, and suggest a fix for each problem.

    >>> [check['name'] for check in memory.doctor()][:2]
    ['python', 'sqlite']
    """
    from memcli.errors import StoreError
    from memcli.extras.doctor.diagnosis import run_checks
    from memcli.render.clean import fitted

    checks = run_checks(session.options, os.environ)
    lines = [
        f"{'ok  ' if c.ok else 'FAIL'}  {c.name:<12}  {c.found}{'' if c.ok or not c.fix else f' ({c.fix})'}"
        for c in checks
    ]
    data = [{"name": c.name, "ok": c.ok, "found": c.found, "fix": "" if c.ok else c.fix} for c in checks]
    session.output.answer(data, fitted("\n".join(lines), below=" " * 20))
    return 0 if all(c.ok for c in checks) else StoreError.exit_code
