"""Maintain: a plan that is carried out whole, once, beside other writers, and undone byte for byte."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.app.workspace import Workspace, load
from memcli.codec.audit import entries
from memcli.codec.space import encode_memory
from memcli.errors import CorruptError, LockedError, UsageError
from memcli.extras.restore.restoring import restore, restore_run
from memcli.extras.upkeep.maintain import check_tasks, maintain, preview
from memcli.extras.upkeep.plan import TASKS, Maintained
from memcli.extras.upkeep.step import Ledger, ledger_to_json
from memcli.model.memory import Memory
from memcli.model.space import Change, Policy, Receipt, Space
from memcli.model.usage import HELPFUL, UNHELPFUL, Use
from memcli.ports import Shelf, Store
from memcli.record import replace
from memcli.store.layout import Layout
from memcli.store.notes import LocalUsage
from memcli.store.state import State
from tests.conftest import examples, open_at, rewrite
from tests.conftest import memory as made

OLD = "2025-01-01T00:00:00Z"
ALL = frozenset(TASKS)
EPISODES = [made(name, kind="episode", raw="The login was slow today, and the gateway too.") for name in ("e1", "e2")]


def old(name: str, **fields: object) -> Memory:
    return made(name, **{"created_at": OLD, "updated_at": OLD, "kind": "inferred", **fields})


def store(workspace: Workspace, *memories: Memory, policy: Policy | None = None, space: str = "main") -> None:
    def change(before: Space) -> Space:
        after = before.put(memories, workspace.clock())
        return after if policy is None else replace(after, policy=policy)

    rewrite(workspace.store, change, space)


def watched(workspace: Workspace) -> None:
    """Uses have been known for long."""
    workspace.upkeep.save(ledger_to_json(Ledger(since={"main": OLD, "other": OLD, "repo": OLD})))


def judge(workspace: Workspace, act: str, *ids: str, space: str = "main") -> None:
    workspace.usage.judge([Use(workspace.clock(), act, space, (name,)) for name in ids])


def run(workspace: Workspace, *tasks: str, spaces: Sequence[str] | None = None) -> list[Maintained]:
    return list(maintain(workspace, check_tasks(tasks), spaces))


def objects(workspace: Workspace, space: str = "main") -> dict[str, Memory]:
    return {memory.id: memory for memory in load(workspace, space).objects}


def stored(workspace: Workspace, space: str = "main") -> list[bytes]:
    return [encode_memory(memory) for memory in load(workspace, space).objects]


def test_what_is_done_is_what_was_told_with_whole_memories(workspace: Workspace) -> None:
    watched(workspace)
    store(workspace, old("a"), made("b"))
    judge(workspace, HELPFUL, "mem_b")
    told = preview(workspace, ALL)
    assert {memory.id for memory in told[0].plan.after.values()} == {"mem_a", "mem_b"}
    assert objects(workspace)["mem_a"].active
    (done,) = run(workspace)
    assert (done.plan, done.skipped) == (told[0].plan, ())
    assert objects(workspace) == {**done.plan.after}
    watched(workspace)
    parts = {"summary_short": "Short.", "content": {"a": 1}, "metadata": {"group": "g"}, "extra": {"x_future": [1]}}
    store(workspace, before := old("a", **parts))
    (told,) = preview(workspace, ALL)
    assert told.plan.before == {"mem_a": before}
    (after,) = told.plan.after.values()
    assert {name: getattr(after, name) for name in parts} == parts
    assert told.plan.steps[0].memories == (after,)


def test_a_second_run_changes_nothing(workspace: Workspace) -> None:
    path = Path(workspace.root) / "spaces" / "main.json"
    watched(workspace)
    store(workspace, old("a"), made("b", confidence=0.5))
    judge(workspace, HELPFUL, "mem_b")
    run(workspace)
    before = path.read_bytes()
    (again,) = run(workspace)
    assert not again.plan.steps
    assert path.read_bytes() == before
    assert objects(workspace)["mem_b"].confidence == 0.55


def test_a_run_is_undone_byte_for_byte_and_stays_undone(workspace: Workspace) -> None:
    watched(workspace)
    store(workspace, old("a", extra={"x_future": [1]}), made("b", confidence=0.5), *EPISODES)
    judge(workspace, HELPFUL, "mem_b")
    before = stored(workspace)
    (done,) = run(workspace)
    assert len(done.plan.after) == 4
    restore_run(workspace, done.run)
    assert stored(workspace) == before
    (again,) = run(workspace)
    assert (again.plan.after, again.plan.undone) == ({}, 3)  # the feedback went with the run
    assert stored(workspace) == before
    judge(workspace, UNHELPFUL, "mem_b")
    run(workspace)
    assert objects(workspace)["mem_b"].confidence == 0.4


def test_a_run_is_undone_until_something_changes(workspace: Workspace) -> None:
    store(workspace, old("a"))
    (done,) = run(workspace)
    restore_run(workspace, done.run)
    store(workspace, old("a", raw="Another text."))
    assert run(workspace)[0].plan.after.keys() == {"mem_a"}


@examples(0.4)
@given(st.data())
def test_any_run_can_be_undone(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    workspace = open_at(tmp_path_factory.mktemp("store") / ".memory")
    names = data.draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1))
    memories = [
        data.draw(st.sampled_from((old, made)))(
            name,
            kind=data.draw(st.sampled_from(["episode", "inferred", "decision"])),
            raw=data.draw(st.sampled_from(["The login was slow.", "Login slow, was.", "Use tabs."])),
            confidence=data.draw(st.sampled_from([1.0, 0.5])),
        )
        for name in names
    ]
    store(workspace, *memories)
    for name in data.draw(st.lists(st.sampled_from(names), max_size=4)):
        judge(workspace, data.draw(st.sampled_from([HELPFUL, UNHELPFUL])), f"mem_{name}")
    watched(workspace)
    before = stored(workspace)
    (done,) = run(workspace)
    if done.run:
        restore_run(workspace, done.run)
    assert stored(workspace) == before
    assert not run(workspace)[0].plan.after


def test_the_log_names_the_tasks_and_the_run(workspace: Workspace) -> None:
    watched(workspace)
    store(workspace, old("a"), made("b"))
    judge(workspace, HELPFUL, "mem_b")
    (done,) = run(workspace)
    last = list(entries(workspace.audit.read("main")))[-1]
    assert (last["tasks"], last["run"]) == ({"archive": ["mem_a"], "usage": ["mem_b"]}, done.run)


def test_one_task_alone_leaves_the_feedback_for_later(workspace: Workspace) -> None:
    watched(workspace)
    store(workspace, old("a"), made("b"))
    judge(workspace, HELPFUL, "mem_b")
    assert run(workspace, "archive")[0].plan.after.keys() == {"mem_a"}
    assert run(workspace, "usage")[0].plan.after.keys() == {"mem_b"}
    assert not workspace.usage.read()


class Interrupting:
    """A store before whose next write somebody else writes."""

    def __init__(self, store: Store, before: Callable[[], None]) -> None:
        self._store, self._before = store, before

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        self._before()
        return self._store.update(space, change)


def test_a_writer_who_comes_between_wins(workspace: Workspace) -> None:
    watched(workspace)
    store(workspace, old("a"), old("b"), old("c"), made("d"), made("e"))
    judge(workspace, HELPFUL, "mem_d")
    judge(workspace, HELPFUL, "mem_e")
    reason = made("r", links=({"to": "mem_b", "relation": "derived_from"},))

    def write() -> None:
        store(workspace, replace(old("a"), raw="Edited meanwhile."), reason, made("d", raw="Edited."))
        rewrite(workspace.store, lambda space: space.drop(["mem_c"], workspace.clock()))

    (done,) = run(workspace.copy_with(store=Interrupting(workspace.store, write)))
    assert done.plan.after.keys() == {"mem_b", "mem_e"}  # the reason is of less relevance, and stays
    assert [(step.task, step.id) for step in done.skipped] == [
        ("usage", "mem_d"), ("archive", "mem_a"), ("archive", "mem_b"), ("archive", "mem_c"),
    ]  # fmt: skip
    now = objects(workspace)
    assert (now["mem_a"].raw, now["mem_a"].active, now["mem_b"].active) == ("Edited meanwhile.", True, True)
    assert "mem_c" not in now
    assert [use.ids for use in workspace.usage.read()] == [("mem_d",)]  # its feedback waits
    run(workspace)
    assert objects(workspace)["mem_d"].strength == 2


def test_what_was_judged_with_one_that_has_changed_waits_with_it(workspace: Workspace) -> None:
    store(workspace, made("d"), made("e"))
    judge(workspace, HELPFUL, "mem_d", "mem_e")
    busy = Interrupting(workspace.store, lambda: store(workspace, made("d", raw="Edited.")))
    assert not run(workspace.copy_with(store=busy))[0].plan.after
    run(workspace)
    assert [memory.strength for memory in objects(workspace).values()] == [2, 2]


def test_one_at_a_time_does_tasks_that_there_are(workspace: Workspace) -> None:
    with workspace.upkeep.turn(workspace.clock()), pytest.raises(LockedError, match="the upkeep of this store is held"):
        run(workspace)
    with pytest.raises(UsageError, match="no task 'sweep'"):
        check_tasks(["usage", "sweep"])


class _KilledError(BaseException):
    pass


class Dying:
    """A usage log, or a store, that the process dies in: before its call does anything, or after."""

    def __init__(self, inner: object, name: str, *, after: bool) -> None:
        self._inner, self._name, self._after = inner, name, after

    def __getattr__(self, name: str) -> object:
        call = getattr(self._inner, name)
        if name != self._name:
            return call

        def die(*given: object) -> None:
            if self._after:
                call(*given)
            raise _KilledError

        return die


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("place", ["update", "fold", "save"])
def test_a_run_that_was_killed_is_finished_by_the_next(workspace: Workspace, place: str, after: bool) -> None:
    watched(workspace)
    store(workspace, old("a"), made("b", confidence=0.5))
    judge(workspace, HELPFUL, "mem_b")
    parts = {
        "update": {"store": Dying(workspace.store, "update", after=after)},
        "fold": {"usage": Dying(workspace.usage, "fold", after=after)},
        "save": {"upkeep": Dying(workspace.upkeep, "save", after=after)},
    }
    with pytest.raises(_KilledError):
        run(workspace.copy_with(**parts[place]))  # type: ignore[arg-type]
    assert {step.task for step in preview(workspace, ALL)[0].plan.steps} in ({"usage", "archive"}, set())
    run(workspace)
    run(workspace)
    now = objects(workspace)
    assert (now["mem_a"].active, now["mem_b"].confidence, now["mem_b"].strength) == (False, 0.55, 2)
    assert not workspace.usage.read()


def test_spaces_that_were_done_stay_done_when_a_later_one_fails(workspace: Workspace) -> None:
    store(workspace, old("a"))
    store(workspace, old("b"), space="other")
    done = maintain(workspace, ALL, ["main", "other"])
    assert next(done).plan.after.keys() == {"mem_a"}
    done.close()
    assert [(m.id, m.active) for m in objects(workspace, "other").values()] == [("mem_b", True)]
    first, second = run(workspace, spaces=["main", "other"])
    assert (first.plan.after.keys(), second.plan.after.keys()) == (set(), {"mem_b"})


def test_what_was_read_from_the_repository_is_judged_and_can_be_undone(workspace: Workspace) -> None:
    watched(workspace)
    store(workspace, old("a"), space="repo", policy=Policy(visibility="derived"))
    judge(workspace, UNHELPFUL, "mem_a", space="repo")
    before = stored(workspace, "repo")
    (done,) = run(workspace, spaces=["repo"])
    assert objects(workspace, "repo")["mem_a"] == replace(old("a"), confidence=0.9)
    restore_run(workspace, done.run)
    assert stored(workspace, "repo") == before


def test_what_another_space_rests_on_is_not_archived_and_a_private_one_maintained(workspace: Workspace) -> None:
    store(workspace, old("a"), old("b"))
    reason = made(
        "j", links=({"to": "main:mem_a", "relation": "derived_from"}, {"to": "main:mem_b", "relation": "relates_to"})
    )
    store(workspace, reason, space="journal", policy=Policy(visibility="private"))
    run(workspace, "archive", spaces=["main"])
    assert {name: memory.active for name, memory in objects(workspace).items()} == {"mem_a": True, "mem_b": False}
    store(workspace, *EPISODES, space="journal", policy=Policy(visibility="private"))
    assert [step.task for step in run(workspace, spaces=["journal"])[0].plan.steps] == ["merge"]


def test_without_grace_nothing_is_kept_and_nothing_lost(workspace: Workspace) -> None:
    watched(workspace)
    store(workspace, old("a"), policy=Policy(grace_days=0))
    (done,) = run(workspace)
    assert done.run == ""
    assert not objects(workspace)["mem_a"].active


def test_a_space_that_wants_reviews_is_maintained_by_who_asks_for_it(workspace: Workspace) -> None:
    watched(workspace)
    store(workspace, old("a"), policy=Policy(review=True))
    assert run(workspace)[0].run


def test_a_file_of_a_newer_version_is_refused(workspace: Workspace) -> None:
    store(workspace, old("a"))
    path = Path(workspace.root) / "spaces" / "main.json"
    path.write_bytes(path.read_bytes().replace(b'"version": 2\n}', b'"version": 99\n}'))
    with pytest.raises(CorruptError, match="written by a newer memcli"):
        run(workspace)


def test_what_is_shown_is_known_to_be_in_use(workspace: Workspace) -> None:
    recording = workspace.copy_with(usage=LocalUsage(State(Layout(workspace.root))))
    store(workspace, old("a"), old("b"))
    recording.usage.note([Use(workspace.clock(), "recall", "main", ("mem_a",))])
    assert not run(recording)[0].plan.after
    later = recording.copy_with(clock=lambda: "2027-01-31T09:30:00Z")
    assert run(later)[0].plan.after.keys() == {"mem_a", "mem_b"}


def test_an_empty_store_has_nothing_to_maintain(workspace: Workspace) -> None:
    assert not run(workspace)[0].plan.steps
    assert not os.listdir(os.path.join(workspace.root, "spaces"))


def test_undoing_a_run_leaves_alone_what_somebody_changed_after_it(workspace: Workspace) -> None:
    store(workspace, old("a"), old("b"))
    (done,) = run(workspace)
    store(workspace, replace(objects(workspace)["mem_a"], raw="Edited by hand."))
    undone = restore_run(workspace, done.run)
    assert [memory.id for memory in undone.changed] == ["mem_a"]
    assert [memory.id for memory in undone.memories] == ["mem_b"]
    assert objects(workspace)["mem_a"].raw == "Edited by hand."
    assert objects(workspace)["mem_b"] == old("b")
    again = restore_run(workspace, done.run)
    assert (again.memories, [memory.id for memory in again.changed]) == ((), ["mem_a"])
    restore(workspace, ["mem_a"])
    assert objects(workspace)["mem_a"] == old("a")
