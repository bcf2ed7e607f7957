"""Collect (`gc`): moves expired memories into the trash, by a plan, and erases runs whose grace has passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing

from memcli.app.usage import list_gaps
from memcli.app.workspace import Workspace, warn_of_missing
from memcli.codec.space import memory_digest
from memcli.errors import RefusedError
from memcli.model.links import Run, removal
from memcli.model.memory import Memory
from memcli.model.space import Change, Policy, Space, Touched
from memcli.model.usage import COMPACTION
from memcli.policy.retention import RetentionPlan, is_past_grace, plan_retention
from memcli.ports import Shelf
from memcli.record import Record


class Collected(Record):
    """The result of a collection, or of its dry run: the plan; `refusal`, the error why it may not be carried out; the name of
    its run in the trash; and the erased runs, whose grace has passed."""

    plan: RetentionPlan
    refusal: RefusedError | None = None
    run: str = ""
    emptied: tuple[Run, ...] = ()


def collect(
    workspace: Workspace, ttl_days: float | None = None, dry_run: bool = False, trust_clock: bool = False
) -> Collected:
    """Carries out the plan of retention; with `dry_run`, only returns it.

    Raises RefusedError, before anything is changed, when memories would be removed but the policy allows no deletion, and when
    the clock is implausible, unless `trust_clock`.
    """
    now = workspace.clock()
    if dry_run:
        with closing(workspace.store.open(workspace.space)) as snapshot:
            warn_of_missing(workspace, snapshot)
            header = snapshot.header()
            plan, refusal = _plan(workspace, header, snapshot.memories, now, ttl_days, trust_clock)
        return Collected(plan, refusal, emptied=tuple(_out_of_grace(workspace, workspace.in_force(header.policy), now)))
    policy, plan = Policy(), RetentionPlan()
    copies: list[tuple[Run, frozenset[str]]] = []

    def apply(shelf: Shelf) -> Change:
        nonlocal policy, plan
        policy = workspace.in_force(shelf.header.policy)
        plan, refusal = _plan(workspace, shelf.header, shelf.memories, now, ttl_days, trust_clock)
        if refusal is not None:
            raise refusal
        # Copies in the trash of memories that are still in the space: a crash came between the two writes. Under the lock of
        # the space, since without it another command may be about to remove them.
        runs = [run for run in workspace.trash.runs() if run.space.name == shelf.header.name]
        found = ((run, frozenset(m.id for m in run.space.objects if shelf.get(m.id) == m)) for run in runs)
        copies[:] = [(run, ids) for run, ids in found if ids]
        return removal(shelf, {r.memory.id for r in plan.removals}, now)

    receipt = workspace.store.update(workspace.space, apply)
    if any(r.reason == "max_objects" for r in plan.removals):
        workspace.counters.count(COMPACTION, workspace.space)
    emptied: list[Run] = []
    with workspace.behind_the_write():
        for run, ids in copies:
            workspace.trash.drop(run, ids)
        for run in _out_of_grace(workspace, policy, now):
            ids = frozenset(memory.id for memory in run.space.objects)
            workspace.check_erasable({run.name, *ids})
            # Before the run is dropped: after a crash, it is still there for the next collection.
            workspace.erase_traces(run.space.name, ids)
            workspace.trash.drop(run, ids)
            erased = [Touched(m.id, "", memory_digest(m), "", m.created_at) for m in run.space.objects]
            workspace.audit.record(run.space.name, "erase", erased)
            emptied.append(run)
        # The next collection compares the clock with it.
        workspace.trash.note_collection(workspace.space, now)
        list_gaps(workspace)  # removes gaps of spaces whose policy no longer allows them
    return Collected(plan, None, receipt.run, tuple(emptied))


def _plan(
    workspace: Workspace,
    header: Space,
    read: Callable[[], Iterable[Memory]],
    now: str,
    ttl_days: float | None,
    trust_clock: bool,
) -> tuple[RetentionPlan, RefusedError | None]:
    """The plan of retention, and the error why it may not be carried out, if any."""
    plan = plan_retention(header, read, now, ttl_days, workspace.trash.collected(header.name))
    if plan.clock and not trust_clock:
        return plan, RefusedError(
            f"{plan.clock}: with a wrong clock, memories may expire too early",
            "set the clock, or use --trust-clock if it is right",
        )
    what = f"{len(plan.removals)} expired"
    return plan, workspace.refusal(header, what, "preview with --dry-run, or ") if plan.removals else None


def _out_of_grace(workspace: Workspace, policy: Policy, now: str) -> list[Run]:
    """The runs of the space, and of deleted spaces, whose grace has passed."""
    spaces = workspace.store.spaces()
    graces = {workspace.space: policy.grace_days} if workspace.space in spaces else {}
    return [
        run for run in workspace.trash.runs()
        if (run.space.name in graces or run.space.name not in spaces)
        and is_past_grace(run.removed_at, run.grace(graces.get(run.space.name, run.space.policy.grace_days)), now)
    ]  # fmt: skip
