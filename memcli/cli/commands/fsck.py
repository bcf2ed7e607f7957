"""`fsck`: look through the store for damage, and mend it."""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session
from memcli.errors import CorruptError
from memcli.wiring.files import check_files


@verb
def command(
    session: Session,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
) -> None:
    """Look through the store for damage: files cut short, memories that cannot be read, ids or paths that stand twice,
    links into nowhere, hashes that do not fit, wrong order, what crashes left behind.

    --repair loses nothing: a file that it changes for more than its order is first copied, as it was, to
    .memory/local/quarantine. Exits with 6 while there is damage.
    """
    workspace = session.open()
    found = list(check_files(workspace, repair))
    damaged = sum(finding.is_damage and not mended for finding, mended in found)
    lines = []
    for finding, mended in found:
        about = f"{finding.file}: {f'{finding.object}: ' if finding.object else ''}{finding.message}"
        after = f" [{'done' if mended else 'to mend'}: {finding.repair}]" if finding.repair else ""
        lines.append(f"{about}{after}")
    data = [{**finding.to_json(), "damage": finding.is_damage, "mended": mended} for finding, mended in found]
    session.output.answer({"findings": data, "damaged": damaged}, "\n".join(lines))
    if damaged:
        can = any(finding.repair for finding, mended in found if not mended)
        hint = "`memcli fsck --repair` mends it" if can else "take the file back with `git checkout`"
        raise CorruptError(f"{damaged} damaged", hint)
    if not found:
        session.output.note("the store is sound")
