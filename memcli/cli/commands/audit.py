"""`memcli audit`"""

from __future__ import annotations

from typing import Any

from memcli.cli.options import Options, flag, option
from memcli.cli.verb import Session, verb

_SHOWN = 3


class AuditOptions(Options):
    """What `memcli audit` takes."""

    limit: int = option(
        "--limit", "-l", metavar="N", help="Show the last N entries; 0 shows all.", type=int, low=0, default=20
    )
    since: str | None = option(metavar="TIME", help="Only entries since TIME.")
    id: str | None = option(metavar="ID|PATH", help="Only entries about this memory.")
    verify: bool = flag(help="Check that no line was changed, moved or removed.")


@verb(AuditOptions)
def command(session: Session, options: AuditOptions) -> None:
    """Show the audit log of this machine: when, by whom and with which command memories were changed.

    Each line contains the digest of the line before it. --verify detects changed, moved and removed lines, but cannot
    detect that the last lines are missing: store the head that it prints in a safe place and compare it later.
    """
    from memcli.app.audit import acts, check

    workspace = session.open()
    if not options.verify:
        found = acts(workspace, options.limit or None, options.since, options.id)
        session.output.answer(found, "\n".join(_line(act) for act in found) or "no entries")
        return
    checked = check(workspace)
    for line in checked.torn:
        session.output.note(
            f"audit/{workspace.space}.jsonl:{line}: this line was cut short by a crash; the others are intact"
        )
    data = {"space": workspace.space, "acts": checked.entries, "head": checked.head, "torn": list(checked.torn)}
    session.output.answer(data, f"{checked.entries} entries verified; head {checked.head or 'none'}")


def _line(act: dict[str, Any]) -> str:
    changes = act.get("changes", [])
    told = [f"{change.get('id')} {change.get('path', '(erased)')}" for change in changes[:_SHOWN]]
    if len(changes) > _SHOWN:
        told.append(f"and {len(changes) - _SHOWN} more")
    if created := act.get("created"):
        told.append(f"{created.get('count')} new")
    if policy := act.get("policy"):
        told.append(f"policy: {', '.join(map(str, policy.get('fields', [])))}")
    head = f"{act.get('time')}  {act.get('user')}  {act.get('command')}: {act.get('action')}"
    return f"{head}  {'; '.join(told)}".rstrip()
