"""`fsck`: look through the store for damage, and mend it."""

from __future__ import annotations

from memcli.cli.options import Options, flag
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import CorruptError
from memcli.wiring.files import check_files


class FsckOptions(Options):
    """What `memcli fsck` takes."""

    repair: bool = flag(help="Repair the damage that can be repaired.")


@verb(FsckOptions)
def command(session: Session, options: FsckOptions) -> None:
    """Check the store for damage: truncated files, unreadable memories, duplicate ids or paths, dangling links, wrong
    hashes, wrong order, and leftovers of crashes.

    Before --repair changes more than the order of a file, it copies the original to .memory/local/quarantine.
    Exits with 6 while there is damage.
    """
    workspace = session.open()
    found = list(check_files(workspace, options.repair))
    damaged = sum(finding.is_damage and not mended for finding, mended in found)
    lines = []
    for finding, mended in found:
        about = f"{finding.file}: {f'{finding.object}: ' if finding.object else ''}{finding.message}"
        after = f" [{'done' if mended else 'to repair'}: {finding.repair}]" if finding.repair else ""
        lines.append(f"{about}{after}")
    data = [{**finding.to_json(), "damage": finding.is_damage, "mended": mended} for finding, mended in found]
    session.output.answer({"findings": data, "damaged": damaged}, "\n".join(lines))
    if damaged:
        can = any(finding.repair for finding, mended in found if not mended)
        hint = "`memcli fsck --repair` repairs it" if can else "restore the file with `git checkout`"
        raise CorruptError(f"{damaged} damaged", hint)
    if not found:
        session.output.note("no damage found")
