"""`memcli gc`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import DryRun, verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    ttl_days: Annotated[
        float | None, typer.Option(min=0, metavar="N", help="Older than N days; else as the policy says.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Delete memories that were not updated for longer than the space's `ttl_days`. Pinned ones stay."""
    from memcli.app.collect import collect

    workspace = session.open()
    plan = collect(workspace, ttl_days, dry_run)
    done = "would purge" if dry_run else "purged"
    lines = [f"{done} {m.id} {m.path} (updated {m.updated_at[:10]})" for m in plan.expired]
    if plan.ttl_days is None:
        lines.append(f"nothing expires in space {workspace.space!r}: its policy has no ttl_days")
    else:
        kept = f"; {len(plan.pinned)} expired but pinned" if plan.pinned else ""
        lines.append(f"{done} {len(plan.expired)} older than {plan.ttl_days:g} days{kept}")
    data = {
        "space": workspace.space, "dry_run": dry_run, "ttl_days": plan.ttl_days,
        "purged": [{"id": m.id, "path": m.path, "updated_at": m.updated_at} for m in plan.expired],
        "pinned": [m.id for m in plan.pinned],
    }  # fmt: skip
    session.output.confirm(data, "\n".join(lines))
