"""Upkeep in the background: what it may write, what it proposes, and how often."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memcli.app.inbox import waiting
from memcli.app.workspace import Workspace, load
from memcli.extras.inbox.review import accept, reject, show
from memcli.extras.restore.restoring import restore_run
from memcli.extras.upkeep.maintain import is_due, maintain_behind, preview
from memcli.extras.upkeep.plan import TASKS
from memcli.model.memory import Memory
from memcli.model.space import Policy, Space
from memcli.record import replace
from tests.conftest import memory as made
from tests.conftest import rewrite

AUTO = Policy(upkeep="auto")
OLD = "2025-01-01T00:00:00Z"
LOGIN = "The login was slow today, and the gateway too."


def old(name: str) -> Memory:
    return made(name, kind="inferred", created_at=OLD, updated_at=OLD)


def store(workspace: Workspace, *memories: Memory, policy: Policy = AUTO, space: str = "main") -> None:
    def change(before: Space) -> Space:
        return replace(before.put(memories, workspace.clock()), policy=policy)

    rewrite(workspace.store, change, space)


@pytest.fixture
def auto(workspace: Workspace) -> Workspace:
    """A workspace with old memories in `main`, episodes in `journal`, and a clock that goes on by a day at each look."""

    def days() -> Iterator[str]:
        yield from (f"2026-{month:02}-{day:02}T09:30:00Z" for month in range(2, 13) for day in range(1, 29))

    times = days()
    workspace = workspace.copy_with(clock=lambda: next(times), is_space_named=False)
    store(workspace, old("a"), old("b"))
    episodes = [made(name, kind="episode", raw=LOGIN) for name in ("e1", "e2")]
    store(workspace, *episodes, policy=Policy(visibility="private"), space="journal")
    return workspace


def main(workspace: Workspace) -> list[tuple[str, bool]]:
    return [(memory.id, memory.active) for memory in load(workspace, "main").objects]


def test_private_spaces_are_maintained_and_one_plan_for_tracked_ones_waits(auto: Workspace) -> None:
    (done,) = maintain_behind(auto)
    assert (done.space, len(done.plan.after)) == ("journal", 2)
    assert main(auto) == [("mem_a", True), ("mem_b", True)]
    (plan,) = waiting(auto)
    assert plan.summary_micro == "Upkeep would change 2 memories of space main: archive 2."
    assert "- archive notes/a: worth 0.00" in plan.raw
    restore_run(auto, done.run)
    assert [memory.superseded_by for memory in load(auto, "journal").objects] == [None, None]
    maintain_behind(auto)
    (plan,) = waiting(auto)
    maintain_behind(auto)
    assert waiting(auto) == [plan]
    store(auto, old("c"))
    maintain_behind(auto)
    (more,) = waiting(auto)
    assert "3 memories" in more.raw


def test_an_accepted_plan_is_carried_out_and_can_be_undone(auto: Workspace) -> None:
    maintain_behind(auto)
    store(auto, old("c"))
    stored = accept(auto, show(auto, ["upkeep/plan"]))
    assert [(one.status, one.id) for one in stored.outcomes] == [("updated", "mem_a"), ("updated", "mem_b")]
    assert main(auto) == [("mem_a", False), ("mem_b", False), ("mem_c", True)]  # what was not in the plan stays
    assert not waiting(auto)
    run = next(run.name for run in auto.trash.runs() if run.space.name == "main")
    restore_run(auto, run)
    assert main(auto) == [("mem_a", True), ("mem_b", True), ("mem_c", True)]


def test_what_changed_since_the_plan_is_left_alone(auto: Workspace) -> None:
    maintain_behind(auto)
    store(auto, replace(old("a"), pinned=True))
    accept(auto, waiting(auto))
    assert main(auto) == [("mem_a", True), ("mem_b", False)]


def test_a_rejected_plan_is_not_proposed_again(auto: Workspace) -> None:
    maintain_behind(auto)
    reject(auto, waiting(auto))
    assert not waiting(auto)
    maintain_behind(auto)
    assert not waiting(auto)
    assert preview(auto, TASKS, ["main"])[0].plan.undone == 2
    store(auto, old("c"))
    maintain_behind(auto)
    (plan,) = waiting(auto)
    assert "1 memory of space main" in plan.raw


@pytest.mark.parametrize("policy", [Policy(), Policy(upkeep="auto", grace_days=0)])
def test_without_the_policy_or_a_way_back_tracked_spaces_get_no_plan(workspace: Workspace, policy: Policy) -> None:
    store(workspace, old("a"), policy=policy)
    assert not maintain_behind(workspace)
    assert not waiting(workspace)


def test_a_clone_that_nobody_accepted_is_not_maintained(workspace: Workspace) -> None:
    store(workspace, old("a"))
    assert is_due(workspace)
    workspace.trust.revoke()
    assert not is_due(workspace)


def test_it_is_begun_once_an_hour(workspace: Workspace) -> None:
    store(workspace, old("a"))
    maintain_behind(workspace)
    assert len(waiting(workspace)) == 1
    for at, due in (("2026-01-31T10:29:00Z", False), ("2026-01-31T10:30:00Z", True)):
        assert is_due(workspace.copy_with(clock=lambda at=at: at)) is due  # type: ignore[misc]
