"""`memcli store audit`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.cli.options import Options, flag, option
from memcli.cli.verb import CommandContext, Http, verb
from memcli.model.roles import READER

_SHOWN = 3


class AuditOptions(Options):
    """What `memcli store audit` takes."""

    limit: int = option(
        "--limit", "-l", metavar="N", help="Show the last N entries; 0 shows all.", type=int, low=0, default=20
    )
    since: str | None = option(metavar="TIME", help="Only entries since TIME.")
    id: str | None = option(metavar="ID|PATH", help="Only entries about this memory.")
    verify: bool = flag(help="Check that no line was changed, moved or removed.")


@verb(
    AuditOptions,
    role=READER,
    http=(
        Http(path="/api/audit", summary="Show who changed what, and when", fields=("limit", "since", "id", "verify")),
    ),
    returns="Any",
)
def command(session: CommandContext, options: AuditOptions) -> None:
    """Show the audit log, of this machine or of the server: when, by whom and with which command memories were changed.

    Each line contains the digest of the line before it. --verify detects changed, moved and removed lines, but cannot
    detect that the last lines are missing: store the head that it prints in a safe place and compare it later.

    >>> memory.store_audit()[-1]['command']
    'remember'
    """
    from memcli.app import history

    workspace = session.open()
    if not options.verify:
        found = history.log(workspace, options.limit or None, options.since, options.id)
        session.output.answer(found, "\n".join(_entry(act) for act in found) or "no entries")
        return
    checked = history.check_log(workspace)
    for line in checked.torn:
        session.output.note(
            f"audit/{workspace.space}.jsonl:{line}: this line was cut short by a crash; the others are intact"
        )
    verified = checked.entries - checked.unchecked
    data = {
        "space": workspace.space, "acts": checked.entries, "head": checked.head, "torn": list(checked.torn),
        "unchecked": checked.unchecked,
    }  # fmt: skip
    if checked.gap:
        session.output.note(f"audit/{workspace.space}.jsonl: {checked.gap}")
    session.output.answer(
        data, f"{verified} {'entry' if verified == 1 else 'entries'} verified; head {checked.head or 'none'}"
    )


def _entry(act: dict[str, Any]) -> str:
    changes = act.get("changes", [])
    told = [f"{change.get('id')} {change.get('path', '(erased)')}" for change in changes[:_SHOWN]]
    if len(changes) > _SHOWN:
        told.append(f"and {len(changes) - _SHOWN} more")
    if created := act.get("created"):
        told.append(f"{created.get('count')} new")
    if policy := act.get("policy"):
        told.append(f"policy: {', '.join(map(str, policy.get('fields', [])))}")
    if isinstance(tasks := act.get("tasks"), dict):
        told.append(f"tasks: {', '.join(sorted(map(str, tasks)))}; run {act.get('run') or 'none'}")
    if isinstance(advised := act.get("advised"), list):
        told += [_advice(one) for one in advised if isinstance(one, dict)]
    head = f"{act.get('time')}  {act.get('user')}  {act.get('command')}: {act.get('action')}"
    return f"{head}  {'; '.join(told)}".rstrip()


def _advice(step: Mapping[str, Any]) -> str:
    """Why a model let a memory go."""
    into = f" into {step['into']}" if "into" in step else ""
    return f"{'merged' if into else 'deleted'} {step.get('id')}{into}: {step.get('reason')}, says {step.get('model')}"
