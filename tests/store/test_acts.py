"""Every write has its line in the audit log, whoever was killed, and whenever."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.app.remember import prepare, remember, request_of
from memcli.app.workspace import Workspace
from memcli.codec.audit import entries, verify
from memcli.model.space import Change
from memcli.store import atomic, lock
from memcli.store import pending as acts_module
from memcli.store.journal import Journal
from memcli.store.layout import Layout
from memcli.store.pending import pending
from tests.conftest import Run, open_at
from tests.store.conftest import Killed, die, killed_at

FINISH = "memcli.store.pending.Bookkeeping.finish"


def acts(workspace: Workspace, space: str = "main") -> list[dict[str, object]]:
    data = workspace.audit.read(space)
    assert verify(data).broken == 0
    return list(entries(data))


def wake(workspace: Workspace, space: str = "main") -> None:
    """What the next writer does."""
    open_at(Path(workspace.root).parent).store.update(space, lambda _: Change())


def test_whoever_takes_a_request_along_records_it_for_its_writer(workspace: Workspace) -> None:
    old = remember(workspace, [prepare(workspace, {"raw": "We chose MySQL."})]).outcomes[0]
    request = request_of(workspace, [prepare(workspace, {"raw": "We chose PostgreSQL."})], old.id)
    journal = Journal(
        os.path.join(workspace.root, "local", "journal", "main"), os.path.join(workspace.root, "local", "q")
    )
    journal.place({**request, "by": {"user": "bob", "command": "remember"}}).close()  # and killed
    remember(workspace, [prepare(workspace, {"raw": "Another thing."})])
    created, superseding, other = acts(workspace)
    assert (superseding["user"], superseding["command"], superseding["action"]) == ("bob", "remember", "update")
    assert {change["id"] for change in superseding["changes"]} >= {old.id}  # type: ignore[attr-defined]
    assert (created["user"], other["user"]) == ("ann", "ann")


@pytest.mark.parametrize(
    ("where", "counts"), [("before the write", False), ("after the write", True), ("after the line", True)]
)
def test_a_line_is_neither_lost_nor_written_twice(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, where: str, counts: bool
) -> None:
    remember(workspace, [prepare(workspace, {"raw": "The first."})])
    with monkeypatch.context() as patch:
        if where == "before the write":
            replace = os.replace

            def die_at_the_space(source: str, target: str, **folders: int) -> None:
                if target.endswith("main.json"):
                    raise Killed
                replace(source, target, **folders)

            patch.setattr(os, "replace", die_at_the_space)
        elif where == "after the write":
            patch.setattr(acts_module.Bookkeeping, "finish", die)
        else:
            patch.setattr(lock.HeldLock, "leave", die)
            patch.setattr(acts_module, "overwrite_file", _only_with_data(atomic.overwrite_file))
        with pytest.raises(Killed):
            remember(workspace, [prepare(workspace, {"raw": "The second."})])
    assert pending(Layout(workspace.root)) == (["main"], [])
    wake(workspace)
    assert len(acts(workspace)) == 1 + counts
    assert pending(Layout(workspace.root)) == ([], [])
    wake(workspace)
    assert len(acts(workspace)) == 1 + counts


def _only_with_data(write: Callable[..., None]) -> Callable[..., None]:
    def only(path: str, data: bytes, sync: bool = False) -> None:
        if data:
            write(path, data, sync)

    return only


@pytest.mark.parametrize("change", ["by hand", "whole"])
def test_a_file_that_was_changed_since_is_asked_itself(workspace: Workspace, change: str) -> None:
    killed_at(FINISH, remember, workspace, [prepare(workspace, {"raw": "The first."})])
    file = Path(workspace.root, "spaces", "main.json")
    if change == "by hand":
        file.write_text(file.read_text() + "\n")
    else:
        file.write_text('{"format": "memcli/space", "version": 1, "space": "main", "objects": []}\n')
    wake(workspace)
    assert [act["recovered"] for act in acts(workspace)] == ["sure" if change == "by hand" else "unsure"]


def test_a_space_that_was_deleted_has_its_line(workspace: Workspace) -> None:
    remember(workspace, [prepare(workspace, {"raw": "The first."})])
    killed_at(FINISH, workspace.store.delete, "main", lambda _: None)
    wake(workspace)
    assert [act["action"] for act in acts(workspace)] == ["create", "delete space"]


def test_fsck_finds_and_finishes_it(run: Run, tmp_path: Path) -> None:
    run("remember", "The first.")
    killed_at(FINISH, run, "remember", "The second.")
    assert "in the audit log" in run("check", "store").out
    assert len(json.loads(run("store", "audit", "--json").out)) == 1
    run("check", "store", "--repair")
    assert len(json.loads(run("store", "audit", "--json").out)) == 2
    assert "no damage" in run("check", "store").err
    assert not [name for name in os.listdir(tmp_path / ".memory" / "local") if ".tmp-" in name]


def test_a_log_that_cannot_be_written_gets_its_line_later(run: Run, tmp_path: Path) -> None:
    run("init")
    log = tmp_path / ".memory" / "local" / "audit" / "main.jsonl"
    log.mkdir(parents=True)
    result = run("remember", "The first.")
    assert (result.code, "not yet in the audit log" in result.err) == (0, True)
    log.rmdir()
    run("remember", "The second.")
    assert len(json.loads(run("store", "audit", "--json").out)) == 2
