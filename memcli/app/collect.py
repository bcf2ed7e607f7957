"""Collect (`gc`): purge what expired, as a plan first."""

from __future__ import annotations

from memcli.app.workspace import Workspace
from memcli.errors import RefusedError
from memcli.model.space import Space
from memcli.policy.retention import RetentionPlan, plan_retention


def collect(workspace: Workspace, ttl_days: float | None = None, dry_run: bool = False) -> RetentionPlan:
    """Purges the expired memories and returns the plan that was carried out, or would be.

    Raises RefusedError when there is something to purge and the policy allows no deletion.
    """
    now = workspace.clock()
    plan = RetentionPlan(None)

    def apply(space: Space) -> Space:
        nonlocal plan
        plan = plan_retention(space, now, ttl_days)
        if dry_run or not plan.expired:
            return space
        if not space.policy.allow_delete:
            raise RefusedError(
                f"{len(plan.expired)} expired, but the policy of space {space.name!r} does not allow deletion",
                f"`memcli space policy {space.name} --set allow_delete=true`, or look with --dry-run",
            )
        return space.drop((m.id for m in plan.expired), now)

    if dry_run:
        snapshot = workspace.store.open(workspace.space)
        try:
            apply(snapshot.load())
        finally:
            snapshot.close()
    else:
        workspace.store.update(workspace.space, apply)
    return plan
