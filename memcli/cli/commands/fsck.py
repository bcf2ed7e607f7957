"""`fsck`: look through the store for damage, and mend it."""

from __future__ import annotations

from memcli.cli.options import Options, flag
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import CorruptError
from memcli.wiring.files import check_files


class FsckOptions(Options):
    """What `memcli fsck` takes."""

    repair: bool = flag(help="Mend what can be mended.")


@verb(FsckOptions)
def command(session: Session, options: FsckOptions) -> None:
    """Look through the store for damage: files cut short, memories that cannot be read, ids or paths that stand twice,
    links into nowhere, hashes that do not fit, wrong order, what crashes left behind.

    --repair loses nothing: a file that it changes for more than its order is first copied, as it was, to
    .memory/local/quarantine. Exits with 6 while there is damage.
    """
    workspace = session.open()
    found = list(check_files(workspace, options.repair))
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
