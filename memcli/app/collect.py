"""Collect (`gc`): purge what expired, as a plan first."""

from __future__ import annotations

from memcli.app.lookup import load
from memcli.app.workspace import Workspace
from memcli.errors import RefusedError
from memcli.model.space import Change
from memcli.policy.retention import RetentionPlan, plan_retention
from memcli.ports import Shelf


def collect(workspace: Workspace, ttl_days: float | None = None, dry_run: bool = False) -> RetentionPlan:
    """Purges the expired memories and returns the plan that was carried out, or would be.

    Raises RefusedError when there is something to purge and the policy allows no deletion.
    """
    now = workspace.clock()
    plan = RetentionPlan(None)

    if dry_run:
        return plan_retention(load(workspace, workspace.space), now, ttl_days)

    def apply(shelf: Shelf) -> Change:
        nonlocal plan
        plan = plan_retention(shelf.load(), now, ttl_days)
        if plan.expired and not shelf.header.policy.allow_delete:
            raise RefusedError(
                f"{len(plan.expired)} expired, but the policy of space {workspace.space!r} does not allow deletion",
                f"`memcli space policy {workspace.space} --set allow_delete=true`, or look with --dry-run",
            )
        return Change(drop=frozenset(m.id for m in plan.expired), now=now)

    workspace.store.update(workspace.space, apply)
    return plan
