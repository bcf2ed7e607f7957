"""`memcli audit`"""

from __future__ import annotations

from typing import Any

from memcli.cli.options import Options, flag, option
from memcli.cli.session import Session
from memcli.cli.verb import verb

_SHOWN = 3


class AuditOptions(Options):
    """What `memcli audit` takes."""

    limit: int = option("--limit", "-l", metavar="N", help="The last N acts; 0 for all.", type=int, low=0, default=20)
    since: str | None = option(metavar="TIME", help="Only acts since TIME.")
    id: str | None = option(metavar="ID|PATH", help="Only acts on this memory.")
    verify: bool = flag(help="Check that no line was changed, moved or taken out.")


@verb(AuditOptions)
def command(session: Session, options: AuditOptions) -> None:
    """Show what was done to the space on this machine: when, by whom, with what command, to which memories.

    The log is bound line to line by digests. --verify finds what was altered, but not that the last lines are missing:
    note the head that it prints where nobody else can write, and compare.
    """
    from memcli.app.audit import acts, check

    workspace = session.open()
    if not options.verify:
        found = acts(workspace, options.limit or None, options.since, options.id)
        session.output.answer(found, "\n".join(_line(act) for act in found) or "nothing is recorded")
        return
    checked = check(workspace)
    for line in checked.torn:
        session.output.note(f"audit/{workspace.space}.jsonl:{line}: a crash tore this line; the rest stands")
    data = {"space": workspace.space, "acts": checked.entries, "head": checked.head, "torn": list(checked.torn)}
    session.output.answer(data, f"{checked.entries} acts stand as they were written; head {checked.head or 'none'}")


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
